"""Views for the todo board, its detail panel and the list."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from console.access import enter, zone_of
from console.layout import shell_context
from console.parameters import parse_uuid
from console.todos.actions import act, approve_chosen, parse_choices, reject_chosen
from console.todos.board import board_of
from console.todos.change_token import change_token, conversation_token
from console.todos.listing import LIST, list_of, parse_query, rows_of
from console.todos.panel import panel_of
from console.todos.rule_suggestions import suggest_rule
from projects.accounts.accounts import ask_for_password, has_recent_sign_in
from projects.common.api_error import ApiError
from projects.models import Project
from projects.models.key import Scope
from projects.models.permissions import Entry
from tenancy.scope import tenant_tx
from todos.approvals.approve import MOST_UNCONFIRMED
from todos.content.snapshot import compiled_tools
from todos.models import Todo, TodoStatus
from todos.services import Choice, get_todo


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def todos(request: HttpRequest, project_slug: str) -> HttpResponse:
    """The board or the list. POST approves or rejects the todos selected in the list."""
    is_post = request.method == "POST"
    entry = enter(request, project_slug, verb=Scope.OPERATE if is_post else Scope.READ)
    if is_post:
        return _reject_chosen(request, entry) if request.POST.get("do") == "reject" else _approve_chosen(request, entry)
    is_list = request.GET.get("view") == LIST
    with tenant_tx(entry.project.organization.pk):
        shown = _list(request, entry) if is_list else _board(entry, with_done=True)
    template = "todos/list.html" if is_list else "todos/board.html"
    return render(request, template, {**shell_context(request, entry), **shown})


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def todo(request: HttpRequest, project_slug: str, todo_id: UUID) -> HttpResponse:
    """The board with one todo open. POST performs an action on it."""
    is_post = request.method == "POST"
    entry = enter(request, project_slug, verb=Scope.OPERATE if is_post else Scope.READ)
    with tenant_tx(entry.project.organization.pk):
        row = get_todo(entry.project, todo_id)
        if is_post:
            following = _following(entry.project, row)
            is_decided = act(request, entry, row)
            address = following if is_decided and following else row.pk
        else:
            shown = {
                **_board(entry, with_done=False, open_id=row.pk),
                **panel_of(row, entry, zone=zone_of(entry)),
            }
    if is_post:
        return redirect("todo", project_slug=project_slug, todo_id=address)
    return render(request, "todos/board.html", {**shell_context(request, entry), **shown})


@never_cache
@login_required
@require_safe
def news(request: HttpRequest, project_slug: str) -> HttpResponse:
    """The change token of a page, polled every few seconds."""
    entry = enter(request, project_slug, verb=Scope.READ)
    beside = parse_uuid(request.GET.get("conversation", ""))
    with tenant_tx(entry.project.organization.pk):
        stamp = conversation_token(beside) if beside else change_token(parse_uuid(request.GET.get("todo", "")))
    return HttpResponse(stamp, content_type="text/plain")


def _list(request: HttpRequest, entry: Entry) -> dict[str, Any]:
    return {"stamp": change_token(None), **list_of(entry, parse_query(request.GET), zone=zone_of(entry))}


def _board(entry: Entry, *, with_done: bool, open_id: UUID | None = None) -> dict[str, Any]:
    # Read the token first, so that a change during the query is noticed at the next poll.
    return {
        "stamp": change_token(open_id),
        "suggestion": suggest_rule(entry),
        **board_of(entry.project, zone=zone_of(entry), with_done=with_done),
    }


def _approve_chosen(request: HttpRequest, entry: Entry) -> HttpResponse:
    choices = parse_choices(request.POST)
    if "confirmed" in request.POST and len(choices) > MOST_UNCONFIRMED and not has_recent_sign_in(request):
        return ask_for_password(request)
    try:
        with tenant_tx(entry.project.organization.pk):
            approve_chosen(request, entry, choices)
    except ApiError as error:
        if error.code == "confirmation_needed":
            return _ask_to_confirm(request, entry, choices)
        messages.error(request, str(error))
    return _back_to_review(entry)


def _reject_chosen(request: HttpRequest, entry: Entry) -> HttpResponse:
    choices = parse_choices(request.POST)
    try:
        with tenant_tx(entry.project.organization.pk):
            reject_chosen(request, entry, choices)
    except ApiError as error:
        messages.error(request, str(error))
    return _back_to_review(entry)


def _back_to_review(entry: Entry) -> HttpResponse:
    return redirect(reverse("todos", args=[entry.project.slug]) + f"?view={LIST}&state={TodoStatus.PENDING_REVIEW}")


def _ask_to_confirm(request: HttpRequest, entry: Entry, choices: list[Choice]) -> HttpResponse:
    """Ask to confirm a large bulk approval. The page lists each todo with its recipient."""
    with tenant_tx(entry.project.organization.pk):
        rows = list(_of(entry.project, choices))
        shown = rows_of(rows, entry, tools=compiled_tools(entry.project), zone=zone_of(entry))
    context = {**shell_context(request, entry), "rows": shown, "choices": request.POST.getlist("choice")}
    return render(request, "todos/confirm.html", context, status=409)


def _of(project: Project, choices: list[Choice]) -> Any:
    wanted = [choice.todo_id for choice in choices]
    return (
        Todo.objects.filter(project=project, pk__in=wanted)
        .select_related("type", "project", "effect", "promise")
        .order_by("-created_at", "-id")
    )


def _following(project: Project, row: Todo) -> UUID | None:
    """The next pending todo in board order, wrapping around at the end. None if this one isn't pending."""
    if row.status != TodoStatus.PENDING_REVIEW:
        return None
    pending = Todo.objects.filter(project=project, status=row.status).exclude(pk=row.pk).order_by("-status_at", "-id")
    below = pending.filter(Q(status_at__lt=row.status_at) | Q(status_at=row.status_at, pk__lt=row.pk))
    return below.values_list("pk", flat=True).first() or pending.values_list("pk", flat=True).first()
