"""Undo for a short time: a notice carries a signed token of what was done, and posting the token reverses it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, cast
from uuid import UUID, uuid4

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core import signing
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_POST

from console.access import enter
from console.parameters import return_url
from console.restorations import RESTORATIONS, Reversal, Undone
from console.tools.ability_list import BY_KEY
from console.tools.ability_switches import AbilityTrigger, change_ability
from conversations.handover.operators import reopen_request
from conversations.inbox.canned_replies import restore_reply
from conversations.inbox.closing import reopen
from conversations.models import CannedReply, Conversation
from conversations.turns.flags import restore_flag
from jobs.errors import WrongState
from projects.common.api_error import ApiError
from projects.common.translation import lazy
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
# The session key of what an undo needs and a token is too small for.
KEPT = "undo_kept"
TOO_LATE = lazy("It’s too late to undo this.")


def announce_undoable(
    request: HttpRequest, entry: Entry, words: str, *, kind: str, kept: str | None = None, **details: Any
) -> None:
    """Confirm an action in a notice with an Undo button, for the acting user and for UNDO_PERIOD.

    `kept`, such as the snapshot of a deleted row, stays in the session: that of the newest action only.
    """
    if kept is not None:
        details["kept_as"] = uuid4().hex
        request.session[KEPT] = {"as": details["kept_as"], "kept": kept}
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
        return redirect(_back(request, entry))
    except signing.BadSignature:
        raise Http404 from None
    if (token["project"], token["user"]) != (str(entry.project.pk), entry.member.user_id):
        raise Http404
    return redirect(_reverse_action(request, entry, token))


def _reverse_action(request: HttpRequest, entry: Entry, token: Mapping[str, Any]) -> str:
    reversal = REVERSALS[token["kind"]]
    try:
        with tenant_tx(entry.project.organization.pk):
            undone = reversal(entry, cast(User, request.user), {**token, **_take_kept(request, token)})
    except (ApiError, PermissionDenied) as error:
        messages.error(request, str(error))
        return _back(request, entry)
    messages.success(request, undone.words)
    return undone.url


def _back(request: HttpRequest, entry: Entry) -> str:
    """The page whose notice offered the undo."""
    return return_url(request) or reverse("dashboard", args=[entry.project.slug])


def _take_kept(request: HttpRequest, token: Mapping[str, Any]) -> Mapping[str, Any]:
    """Take from the session what it keeps for the token. Raises WrongState if a later action has replaced it."""
    wanted = token.get("kept_as")
    if wanted is None:
        return {}
    kept = request.session.pop(KEPT, None)
    if kept is None or kept["as"] != wanted:
        raise WrongState(TOO_LATE)
    return {"kept": kept["kept"]}


def _todo(entry: Entry, user: User, details: Mapping[str, Any]) -> Undone:
    todo = get_todo(entry.project, UUID(details["todo"]))
    undo_rejection(todo.pk, actor=Actor(user.name, id=entry.member.pk))
    return Undone(gettext("Back in review."), reverse("todo", args=[entry.project.slug, todo.pk]))


def _todos(entry: Entry, user: User, details: Mapping[str, Any]) -> Undone:
    """Return each todo to review that still is as the rejection left it."""
    undone, actor = 0, Actor(user.name, id=entry.member.pk)
    for todo_id in sorted(details["todos"]):
        todo = get_todo(entry.project, UUID(todo_id))
        with suppress(WrongState), transaction.atomic():
            undo_rejection(todo.pk, actor=actor)
            undone += 1
    if not undone:
        raise WrongState(TOO_LATE)
    words = ngettext("%(number)s todo is back in review.", "%(number)s todos are back in review.", undone)
    return Undone(
        words % {"number": undone}, reverse("todos", args=[entry.project.slug]) + "?view=list&state=pending_review"
    )


def _request(entry: Entry, user: User, details: Mapping[str, Any]) -> Undone:
    found = Escalation.objects.filter(project=entry.project, pk=details["escalation"]).first()
    if found is None:
        raise Http404
    reopen_request(found.conversation_id, found.pk, by=user)
    return Undone(
        gettext("The request is open again."), reverse("conversation", args=[entry.project.slug, found.conversation_id])
    )


def _closing(entry: Entry, user: User, details: Mapping[str, Any]) -> Undone:
    found = Conversation.objects.filter(project=entry.project, pk=details["conversation"]).first()
    if found is None:
        raise Http404
    if not reopen(found.pk, by=user):
        raise WrongState(gettext("The conversation was reopened."))
    return Undone(gettext("Conversation reopened."), reverse("conversation", args=[entry.project.slug, found.pk]))


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
    return Undone(
        gettext("Ticket #%(number)s restored.") % {"number": found.number},
        reverse("ticket", args=[entry.project.slug, found.pk]),
    )


def ticket_fields(ticket: Ticket) -> dict[str, str]:
    """The fields of a ticket that its page changes."""
    assignee = ticket.assignee.email if ticket.assignee else ""
    return {"state": ticket.state, "priority": ticket.priority, "assignee": assignee}


def _flag(entry: Entry, user: User, details: Mapping[str, Any]) -> Undone:
    found = Conversation.objects.filter(project=entry.project, pk=details["conversation"]).first()
    if found is None:
        raise Http404
    restore_flag(found.pk, details["reason"], by=user)
    return Undone(gettext("Flagged again."), reverse("conversation", args=[entry.project.slug, found.pk]))


def _ability(entry: Entry, user: User, details: Mapping[str, Any]) -> Undone:
    if not entry.may(Scope.CONFIGURE):
        raise Http404
    trigger = AbilityTrigger(details["trigger"])
    change_ability(entry.project, BY_KEY[details["ability"]], trigger, is_on=details["was"], by=user)
    return Undone(gettext("Switch restored."), reverse("ability", args=[entry.project.slug, details["ability"]]))


def _canned_reply(entry: Entry, user: User, details: Mapping[str, Any]) -> Undone:
    try:
        restore_reply(entry.project, UUID(details["reply"]))
    except CannedReply.DoesNotExist as error:
        raise Http404 from error
    return Undone(gettext("Canned reply restored."), reverse("canned_replies", args=[entry.project.slug]))


REVERSALS: Mapping[str, Reversal] = {
    "todo": _todo,
    "todos": _todos,
    "request": _request,
    "closing": _closing,
    "ticket": _ticket,
    "flag": _flag,
    "ability": _ability,
    "canned_reply": _canned_reply,
    **RESTORATIONS,
}
