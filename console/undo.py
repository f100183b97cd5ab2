"""Undo for a short time: a notice carries a signed token of what was done, and posting the token reverses it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from console.access import enter
from conversations.handover.operators import reopen_request
from conversations.models import Conversation
from conversations.turns.flags import restore_flag
from projects.common.api_error import ApiError
from projects.models import User
from projects.models.key import Scope
from projects.models.permissions import Entry
from tenancy.scope import tenant_tx
from todos.approvals.undo_rejection import UNDO_PERIOD, undo_rejection
from todos.content.lifecycle import Actor
from todos.services import get_todo
from tools.models import Escalation, Ticket
from tools.services.support.tickets import change_ticket, find_assignee

SALT = "console.undo"
TOO_LATE = "It’s too late to undo this."


@dataclass(frozen=True)
class Undone:
    """The confirmation of a reversal, and the page that shows it."""

    words: str
    url: str


# Reverses an action by its details. Raises ApiError and Http404.
Reversal = Callable[[Entry, User, Mapping[str, Any]], Undone]


def announce_undoable(request: HttpRequest, entry: Entry, words: str, *, kind: str, **details: Any) -> None:
    """Confirm an action in a notice with an Undo button, for the acting user and for UNDO_PERIOD."""
    token = {"kind": kind, "project": str(entry.project.pk), "user": entry.member.user_id, **details}
    messages.success(request, words, extra_tags=f"undo:{signing.dumps(token, salt=SALT, compress=True)}")


@login_required
@require_POST
def undo(request: HttpRequest, project_slug: str) -> HttpResponse:
    """Reverse the action of the posted token. Raises Http404 for a token of another project or user."""
    entry = enter(request, project_slug, verb=Scope.OPERATE)
    try:
        token = signing.loads(request.POST.get("token", ""), salt=SALT, max_age=UNDO_PERIOD)
    except signing.SignatureExpired:
        messages.error(request, TOO_LATE)
        return redirect("inbox", project_slug=project_slug)
    except signing.BadSignature:
        raise Http404 from None
    if (token["project"], token["user"]) != (str(entry.project.pk), entry.member.user_id):
        raise Http404
    return redirect(_reverse_action(request, entry, token))


def _reverse_action(request: HttpRequest, entry: Entry, token: Mapping[str, Any]) -> str:
    reversal = REVERSALS[token["kind"]]
    try:
        with tenant_tx(entry.project.organization.pk):
            undone = reversal(entry, cast(User, request.user), token)
    except ApiError as error:
        messages.error(request, error.message)
        return reverse("dashboard", args=[entry.project.slug])
    messages.success(request, undone.words)
    return undone.url


def _todo(entry: Entry, user: User, details: Mapping[str, Any]) -> Undone:
    todo = get_todo(entry.project, UUID(details["todo"]))
    undo_rejection(todo.pk, actor=Actor(user.name, id=entry.member.pk))
    return Undone("Back in review.", reverse("todo", args=[entry.project.slug, todo.pk]))


def _request(entry: Entry, user: User, details: Mapping[str, Any]) -> Undone:
    found = Escalation.objects.filter(project=entry.project, pk=details["escalation"]).first()
    if found is None:
        raise Http404
    reopen_request(found.conversation_id, found.pk, by=user)
    return Undone(
        "The request is open again.", reverse("conversation", args=[entry.project.slug, found.conversation_id])
    )


def _ticket(entry: Entry, user: User, details: Mapping[str, Any]) -> Undone:
    """Restore the fields that still are as the action left them; a later change is kept."""
    found = Ticket.objects.select_related("assignee").filter(project=entry.project, pk=details["ticket"]).first()
    if found is None:
        raise Http404
    now = ticket_fields(found)
    before = {name: value for name, (value, after) in details["fields"].items() if now[name] == after}
    if "assignee" in before:
        before["assignee"] = find_assignee(before["assignee"])
    change_ticket(found.pk, before, by=user, actor=user.name)
    return Undone(f"Ticket #{found.number} is as it was.", reverse("ticket", args=[entry.project.slug, found.pk]))


def ticket_fields(ticket: Ticket) -> dict[str, str]:
    """The fields of a ticket that its page changes."""
    assignee = ticket.assignee.email if ticket.assignee else ""
    return {"state": ticket.state, "priority": ticket.priority, "assignee": assignee}


def _flag(entry: Entry, user: User, details: Mapping[str, Any]) -> Undone:
    found = Conversation.objects.filter(project=entry.project, pk=details["conversation"]).first()
    if found is None:
        raise Http404
    restore_flag(found.pk, details["reason"], by=user)
    return Undone("Flagged again.", reverse("conversation", args=[entry.project.slug, found.pk]))


REVERSALS: Mapping[str, Reversal] = {"todo": _todo, "request": _request, "ticket": _ticket, "flag": _flag}
