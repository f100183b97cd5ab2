"""The article editor: save, preview, publish, delete."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from console.agent.form_fields import FormFields
from console.layout import shell_context
from console.restorations import snapshot_of
from console.timestamps import format_timestamp
from console.undo import announce_undoable
from projects.common.api_error import Conflict
from projects.common.differences import differences
from projects.knowledge.links import article_path
from projects.knowledge.markup import read_markup
from projects.knowledge.services import (
    ChangedMeanwhile,
    NoSuchArticle,
    Writer,
    change_article,
    delete_article,
    find_article,
    publish_article,
    text_of,
    unpublish_article,
    write_article,
)
from projects.knowledge.text import LONGEST_EXCERPT, LONGEST_TITLE, ArticleRefused, ArticleText
from projects.models import Article, User
from projects.models.key import Scope
from projects.models.permissions import Entry, enter_project
from tenancy.scope import tenant_tx


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_article(request: HttpRequest, project_slug: str) -> HttpResponse:
    """Show an empty form; POST creates the article or previews it."""
    entry = enter_project(cast(User, request.user), project_slug, verb=Scope.CONFIGURE)
    if request.method != "POST":
        asked = ArticleText(request.GET.get("title", "").replace("\0", "")[:LONGEST_TITLE], "", "")
        return _show(request, entry, None, asked)
    text = _typed(request)
    if request.POST.get("do") == "preview":
        return _show(request, entry, None, text, is_preview=True)
    is_published = "is_published" in request.POST
    try:
        with tenant_tx(entry.project.organization.pk):
            made = write_article(entry.project, text, by=_writer(request), is_published=is_published)
    except ArticleRefused as refusal:
        return _show(request, entry, None, text, errors=refusal.errors)
    except Conflict as refusal:
        return _show(request, entry, None, text, errors={"": refusal.message})
    messages.success(request, gettext("Article published.") if is_published else gettext("Draft saved."))
    return redirect("article", project_slug=project_slug, article_slug=made.slug)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def article(request: HttpRequest, project_slug: str, article_slug: str) -> HttpResponse:
    """Show an article; POST saves, previews or deletes it."""
    is_post = request.method == "POST"
    entry = enter_project(cast(User, request.user), project_slug, verb=Scope.CONFIGURE if is_post else Scope.READ)
    with tenant_tx(entry.project.organization.pk):
        row = _find(entry, article_slug)
    if not is_post:
        return _show(request, entry, row, text_of(row), is_preview=not entry.may(Scope.CONFIGURE))
    match request.POST.get("do", ""):
        case "preview":
            return _show(request, entry, row, _typed(request), started_from=_started(request), is_preview=True)
        case "delete":
            return _delete(request, entry, row)
        case _:
            return _save(request, entry, row)


def _save(request: HttpRequest, entry: Entry, row: Article) -> HttpResponse:
    """Save the text and the published flag."""
    text, started_from = _typed(request), _started(request)
    try:
        with tenant_tx(entry.project.organization.pk):
            is_changed = change_article(row, text, by=_writer(request), started_from=started_from)
            is_switched = _switch(request, row)
    except ArticleRefused as refusal:
        return _show(request, entry, row, text, errors=refusal.errors, started_from=started_from)
    except ChangedMeanwhile as conflict:
        return _show(request, entry, conflict.article, text, conflict=conflict.article)
    except Conflict as refusal:
        return _show(request, entry, row, text, errors={"": refusal.message}, started_from=started_from)
    except NoSuchArticle:
        raise Http404 from None
    messages.success(request, _save_message(row, is_changed=is_changed, is_switched=is_switched))
    return redirect("article", project_slug=entry.project.slug, article_slug=row.slug)


def _switch(request: HttpRequest, row: Article) -> bool:
    """Publish or unpublish as the form says. Return True if that changed anything."""
    change = publish_article if "is_published" in request.POST else unpublish_article
    return change(row, by=_writer(request))


def _save_message(row: Article, *, is_changed: bool, is_switched: bool) -> str:
    if is_switched:
        return gettext("Article published.") if row.is_published else gettext("Article unpublished.")
    return (
        gettext("Saved as version %(version)s.") % {"version": row.version}
        if is_changed
        else gettext("No changes to save.")
    )


def _delete(request: HttpRequest, entry: Entry, row: Article) -> HttpResponse:
    kept = snapshot_of(row)
    with tenant_tx(entry.project.organization.pk):
        delete_article(row, by=_writer(request))
    announce_undoable(request, entry, gettext("“%(title)s” deleted.") % {"title": row.title}, kind="article", kept=kept)
    return redirect("knowledge", project_slug=entry.project.slug)


def _show(
    request: HttpRequest,
    entry: Entry,
    row: Article | None,
    text: ArticleText,
    *,
    errors: Mapping[str, str] | None = None,
    conflict: Article | None = None,
    started_from: int | None = None,
    is_preview: bool = False,
) -> HttpResponse:
    """Render the form: the saved text, or the submitted one with its errors or a conflicting save."""
    fields = FormFields(errors or {})
    context = {
        **shell_context(request, entry),
        "article": row,
        "path": article_path(entry.project.slug, row.slug) if row else "",
        "changed": format_timestamp(row.updated_at) if row else None,
        "saved_by": _author(row) if row else "",
        "fields": {name: fields.field(name, value) for name, value in asdict(text).items()},
        "started_from": started_from or (row.version if row else 0),
        "is_published": "is_published" in request.POST if request.method == "POST" else bool(row and row.is_published),
        "conflict": _conflict(conflict, text) if conflict else None,
        "blocks": read_markup(text.body) if is_preview else None,
        "text": text,
        "business": _business(entry),
        "unplaced": fields.unplaced(),
        "longest_title": LONGEST_TITLE,
        "longest_excerpt": LONGEST_EXCERPT,
    }
    status = 422 if errors else 409 if conflict else 200
    return render(request, "knowledge/article.html", context, status=status)


def _conflict(saved: Article, text: ArticleText) -> dict[str, Any]:
    return {
        "author": _author(saved),
        "version": saved.version,
        "changes": differences(asdict(text_of(saved)), asdict(text)),
    }


def _find(entry: Entry, slug: str) -> Article:
    try:
        return find_article(entry.project, slug)
    except NoSuchArticle:
        raise Http404 from None


def _typed(request: HttpRequest) -> ArticleText:
    return ArticleText(*(request.POST.get(name, "") for name in ("title", "excerpt", "body")))


def _started(request: HttpRequest) -> int:
    text = request.POST.get("started_from", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _writer(request: HttpRequest) -> Writer:
    return Writer(cast(User, request.user))


def _author(row: Article) -> str:
    return row.author.name if row.author else "Makegood"


def _business(entry: Entry) -> str:
    version = entry.project.agent_version
    return version.config.business_name if version else entry.project.name
