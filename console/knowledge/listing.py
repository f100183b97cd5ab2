"""The list of articles, and what a question would find among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.layout import shell_context
from console.timestamps import moment_of
from projects.knowledge.passages import Piece, excerpt_of
from projects.knowledge.search import Found, search_articles
from projects.models import Article, Project, User
from projects.models.key import Scope
from projects.models.permissions import enter_project
from tenancy.scope import tenant_tx

PAGE = 50
LONGEST_SEARCH = 300
# What the agent reads of a question's answers; the first of what the page shows.
MOST_FOUND = 8
STATES = {"published": False, "drafts": True}


@dataclass(frozen=True)
class Row:
    """An article that a question found, with the words around the hit."""

    slug: str
    title: str
    is_published: bool
    pieces: list[Piece]


@login_required
@require_safe
def knowledge(request: HttpRequest, project_slug: str) -> HttpResponse:
    """All articles by title, or what the agent would find for a question."""
    entry = enter_project(cast(User, request.user), project_slug, verb=Scope.READ)
    question = request.GET.get("q", "").replace("\0", "").strip()[:LONGEST_SEARCH]
    with tenant_tx(entry.project.organization.pk):
        shown = _tried(entry.project, question) if question else _list(request, entry.project)
    context = {**shell_context(request, entry), **shown, "question": question, "agent": _agent(entry.project)}
    return render(request, "knowledge/list.html", context)


def _tried(project: Project, question: str) -> dict[str, Any]:
    """What the agent finds, and the drafts that it would find if they were published."""
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
    state = request.GET.get("state", "")
    rows = everything.filter(published_at__isnull=STATES[state]) if state in STATES else everything
    found = list(_after(rows, request.GET.get("after", "")).order_by("title", "id").defer("body")[: PAGE + 1])
    return {
        "articles": [{"row": row, "changed": moment_of(row.updated_at)} for row in found[:PAGE]],
        "next": str(found[PAGE - 1].pk) if len(found) > PAGE else "",
        "is_first": "after" not in request.GET,
        "state": state if state in STATES else "",
        **_numbers(everything),
    }


def _numbers(everything: QuerySet[Article]) -> dict[str, int]:
    total = everything.count()
    published = everything.filter(published_at__isnull=False).count()
    return {"total": total, "published": published, "drafts_number": total - published}


def _after(rows: QuerySet[Article], last: str) -> QuerySet[Article]:
    """The rows behind an article; one that isn't there begins at the top."""
    try:
        standing = Article.objects.filter(pk=UUID(last)).first()
    except ValueError:
        return rows
    if standing is None:
        return rows
    return rows.filter(Q(title__gt=standing.title) | Q(title=standing.title, pk__gt=standing.pk))


def _agent(project: Project) -> str:
    return project.agent_version.config.agent_name if project.agent_version else "The agent"
