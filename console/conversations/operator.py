"""The operator bar of a conversation's page: takeover, handback and requests for a person."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from django.contrib import messages
from django.http import Http404, HttpRequest

from console.access import zone_of
from console.timestamps import format_timestamp
from console.undo import announce_undoable
from conversations.common.channels import traits_of
from conversations.handover import operators
from conversations.models import Conversation, ConversationStatus, Event
from conversations.models.event import URGENT
from conversations.turns.flags import clear_caller_flag
from jobs.errors import WrongState
from projects.models import User
from projects.models.key import Scope
from projects.models.permissions import Entry
from tools.models import EscalationState
from tools.services.support.escalations import open_request

MOST_RESULTS = 10
RESOLVED = "Request resolved."


def operator_context(entry: Entry, row: Conversation) -> dict[str, Any]:
    """Context for the operator bar."""
    zone, request = zone_of(entry), open_request(row.pk)
    is_asked = request is not None and request.state in (EscalationState.WAITING, EscalationState.CLAIMED)
    return {
        "operator": {
            "name": row.operator.name if row.operator else "",
            "is_me": row.operator_id == entry.member.user_id,
            "since": format_timestamp(row.operator_since, zone=zone) if row.operator_since else None,
            "may_free": entry.may(Scope.CONFIGURE),
            "is_call": traits_of(row.channel).is_voice,
            "is_over": row.status != ConversationStatus.OPEN,
        },
        "request_for_person": {
            "reason": request.reason,
            "lead": request.lead,
            "is_waiting": request.state == EscalationState.WAITING,
            "is_mine": request.claimed_by_id == entry.member.user_id,
            "claimed_by": request.claimed_by.name if request.claimed_by else "",
            "at": format_timestamp(request.requested_at, zone=zone) if request.requested_at else None,
        }
        if request is not None and is_asked
        else None,
        "results": _results(row),
    }


def act(request: HttpRequest, entry: Entry, row: Conversation) -> None:
    """Perform the posted action. A conflict becomes a message on the page. Raises Http404 for an unknown action."""
    action = ACTIONS.get(request.POST.get("do", ""))
    if action is None:
        raise Http404
    # Read first: a resolved request is no longer the open one.
    asked = open_request(row.pk) if request.POST["do"] == "resolve" else None
    try:
        action(entry, row, cast(User, request.user))
        if asked is not None:
            announce_undoable(request, entry, RESOLVED, kind="request", escalation=str(asked.pk))
    except WrongState as error:
        messages.error(request, error.message)


def _results(row: Conversation) -> list[str]:
    """Tool results that arrived since the takeover, which the agent would have passed on."""
    if row.operator_since is None:
        return []
    events = Event.objects.filter(conversation=row, idn=URGENT, created_at__gte=row.operator_since)
    return [str(event.payload.get("text", "")) for event in events.order_by("-seq")[:MOST_RESULTS]][::-1]


def _take_over(entry: Entry, row: Conversation, user: User) -> None:
    operators.take_over(row.pk, by=user)


def _hand_back(entry: Entry, row: Conversation, user: User) -> None:
    operators.hand_back(row.pk, by=user, is_forced=entry.may(Scope.CONFIGURE))


def _claim(entry: Entry, row: Conversation, user: User) -> None:
    operators.claim_request(row.pk, by=user)


def _resolve(entry: Entry, row: Conversation, user: User) -> None:
    operators.resolve_request(row.pk, by=user)


def _unflag(entry: Entry, row: Conversation, user: User) -> None:
    clear_caller_flag(row.pk, by=user)


ACTIONS: Mapping[str, Callable[[Entry, Conversation, User], None]] = {
    "take-over": _take_over,
    "hand-back": _hand_back,
    "claim": _claim,
    "resolve": _resolve,
    "unflag": _unflag,
}
