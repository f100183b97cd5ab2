"""The article list, and a test search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from console.layout import shell_context
from console.parameters import parse_choice
from console.timestamps import format_timestamp
from projects.knowledge.passages import Piece, excerpt_of
from projects.knowledge.search import Found, search_articles
from projects.models import Article, Project, User
from projects.models.key import Scope
from projects.models.permissions import enter_project
from tenancy.prepared_queries import PreparedCounts
from tenancy.scope import tenant_tx

PAGE = 50
LONGEST_SEARCH = 300
# Number of search results shown to the agent.
MOST_FOUND = 8
STATES = {"published": False, "drafts": True}


@dataclass(frozen=True)
class Row:
    """A search result with an excerpt around the match."""

    slug: str
    title: str
    is_published: bool
    pieces: list[Piece]


@login_required
@require_safe
def knowledge(request: HttpRequest, project_slug: str) -> HttpResponse:
    """List articles by title, or the agent's search results for a question."""
    entry = enter_project(cast(User, request.user), project_slug, verb=Scope.READ)
    question = request.GET.get("q", "").replace("\0", "").strip()[:LONGEST_SEARCH]
    with tenant_tx(entry.project.organization.pk):
        shown = _tried(entry.project, question) if question else _list(request, entry.project)
    context = {**shell_context(request, entry), **shown, "question": question, "agent": _agent(entry.project)}
    return render(request, "knowledge/list.html", context)


def _tried(project: Project, question: str) -> dict[str, Any]:
    """Published results, and drafts that would match if published."""
    found = search_articles(project.pk, question, most=MOST_FOUND)
    seen = {one.id for one in found}
    drafts = search_articles(project.pk, question, most=MOST_FOUND, drafts=True)
    return {
        "found": [_row(one) for one in found],
        "drafts": [_row(one) for one in drafts if one.id not in seen and not one.is_published],
    }


def _row(found: Found) -> Row:
    return Row(found.slug, found.title, found.is_published, excerpt_of(found))


def _list(request: HttpRequest, project: Project) -> dict[str, Any]:
    everything = Article.objects.filter(project=project)
    state = parse_choice(request.GET, "state", STATES)
    rows = everything.filter(published_at__isnull=STATES[state]) if state else everything
    found = list(_after(rows, request.GET.get("after", "")).order_by("title", "id").defer("body")[: PAGE + 1])
    return {
        "articles": [{"row": row, "changed": format_timestamp(row.updated_at)} for row in found[:PAGE]],
        "next": str(found[PAGE - 1].pk) if len(found) > PAGE else "",
        "is_first": "after" not in request.GET,
        "state": state,
        **_numbers(project),
    }


def _numbers(project: Project) -> dict[str, int]:
    total, published = _NUMBERS(project.pk)
    return {"total": total, "published": published, "drafts_number": total - published}


_NUMBERS = PreparedCounts(
    lambda project: [
        Article.objects.filter(project_id=project).values("pk"),
        Article.objects.filter(project_id=project, published_at__isnull=False).values("pk"),
    ],
    kinds=(UUID,),
)


def _after(rows: QuerySet[Article], last: str) -> QuerySet[Article]:
    """Rows after the given article; all rows if it doesn't exist."""
    try:
        last_article = Article.objects.filter(pk=UUID(last)).first()
    except ValueError:
        return rows
    if last_article is None:
        return rows
    return rows.filter(Q(title__gt=last_article.title) | Q(title=last_article.title, pk__gt=last_article.pk))


def _agent(project: Project) -> str:
    return project.agent_version.config.agent_name if project.agent_version else gettext("The agent")
