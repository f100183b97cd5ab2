"""The latest changes to a conversation by staff, and its rating, from its log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import gettext

from console.timestamps import Timestamp, format_timestamp
from conversations.handover.assignment import ASSIGNED
from conversations.handover.ticket_answers import ANSWERED
from conversations.inbox.closing import CLOSED, SNOOZED
from conversations.inbox.notes import NOTED
from conversations.inbox.ratings import RATED
from conversations.inbox.tags import TAGGED
from conversations.live.event_log import INBOX_REOPENED, SNOOZE_ENDED
from conversations.models import Conversation, Event
from projects.common.translation import lazy
from tenancy.prepared_queries import PreparedQuery
from tools.models import TicketChannel

SHOWN = 8


@dataclass(frozen=True)
class Entry:
    """One line of the activity."""

    words: str
    at: Timestamp


def activity_of(row: Conversation, *, zone: str) -> list[Entry]:
    """The latest changes, newest first."""
    events = _EVENTS(row.pk)
    return [Entry(WORDS[event.idn](event.payload), format_timestamp(event.created_at, zone=zone)) for event in events]


_EVENTS = PreparedQuery(
    lambda row: Event.objects.filter(conversation_id=row, idn__in=list(WORDS)).order_by("-seq")[:SHOWN],
    kinds=(UUID,),
)


def _assigned(payload: Mapping[str, Any]) -> str:
    names = {"name": payload.get("name") or "", "to": payload.get("to") or ""}
    if not names["name"]:
        return gettext("Unassigned because the member left")
    if payload.get("assignee") == payload.get("operator"):
        return gettext("%(name)s took it") % names
    return (gettext("%(name)s assigned %(to)s") if names["to"] else gettext("%(name)s unassigned it")) % names


def _tagged(payload: Mapping[str, Any]) -> str:
    names = {
        "name": payload.get("name", ""),
        "added": ", ".join(payload.get("added", [])),
        "removed": ", ".join(payload.get("removed", [])),
    }
    if not names["removed"]:
        return gettext("%(name)s added %(added)s") % names
    if not names["added"]:
        return gettext("%(name)s removed %(removed)s") % names
    return gettext("%(name)s added %(added)s and removed %(removed)s") % names


def _came_back(payload: Mapping[str, Any]) -> str:
    match payload.get("reason"):
        case "message":
            return gettext("Snooze ended: the customer wrote")
        case "time":
            return gettext("Snooze ended")
    return gettext("%(name)s ended the snooze") % {"name": payload.get("name", "")}


def _answered(payload: Mapping[str, Any]) -> str:
    names = {"name": payload.get("name", ""), "number": payload.get("ticket", "")}
    if payload.get("channel") == TicketChannel.EMAIL:
        return gettext("%(name)s replied to ticket #%(number)s by e-mail") % names
    return gettext("%(name)s replied to ticket #%(number)s") % names


def _reopened(payload: Mapping[str, Any]) -> str:
    if payload.get("reason") == "message":
        return gettext("Reopened: the customer wrote")
    return gettext("%(name)s reopened it") % {"name": payload.get("name")}


def _by(sentence: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda payload: (sentence % {"name": payload.get("name") or payload.get("by") or ""}).strip()


WORDS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    ASSIGNED: _assigned,
    TAGGED: _tagged,
    SNOOZED: _by(lazy("%(name)s snoozed it")),
    SNOOZE_ENDED: _came_back,
    CLOSED: _by(lazy("%(name)s closed it")),
    INBOX_REOPENED: _reopened,
    ANSWERED: _answered,
    NOTED: _by(lazy("%(name)s wrote a note")),
    RATED: lambda payload: gettext("The customer rated it %(score)s of 5") % {"score": payload.get("score")},
    "operator_took_over": _by(lazy("%(name)s took over")),
    "operator_handed_back": _by(lazy("%(name)s handed back to the agent")),
    "escalation_resolved": _by(lazy("%(name)s resolved the request")),
    "escalation_reopened": _by(lazy("%(name)s reopened the request")),
    "flag_cleared": _by(lazy("%(name)s cleared the flag")),
    "flag_restored": _by(lazy("%(name)s flagged it again")),
}
