"""Staff's latest changes to a conversation, from its log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from console.timestamps import Timestamp, format_timestamp
from conversations.handover.assignment import ASSIGNED
from conversations.handover.ticket_answers import ANSWERED
from conversations.inbox.closing import CLOSED, SNOOZED
from conversations.inbox.tags import TAGGED
from conversations.live.event_log import INBOX_REOPENED, SNOOZE_ENDED
from conversations.models import Conversation, Event
from tools.models import TicketChannel

SHOWN = 8


@dataclass(frozen=True)
class Entry:
    """One line of the activity."""

    words: str
    at: Timestamp


def activity_of(row: Conversation, *, zone: str) -> list[Entry]:
    """The latest changes by staff, newest first."""
    events = Event.objects.filter(conversation=row, idn__in=list(WORDS)).order_by("-seq")[:SHOWN]
    return [Entry(WORDS[event.idn](event.payload), format_timestamp(event.created_at, zone=zone)) for event in events]


def _assigned(payload: Mapping[str, Any]) -> str:
    who, to = payload.get("name") or "", payload.get("to") or ""
    if not who:
        return "Unassigned, because the member left"
    if payload.get("assignee") == payload.get("operator"):
        return f"{who} took it"
    return f"{who} assigned {to}" if to else f"{who} unassigned it"


def _tagged(payload: Mapping[str, Any]) -> str:
    added, removed = payload.get("added", []), payload.get("removed", [])
    parts = [f"added {', '.join(added)}" if added else "", f"removed {', '.join(removed)}" if removed else ""]
    return f"{payload.get('name', '')} {' and '.join(part for part in parts if part)}"


def _came_back(payload: Mapping[str, Any]) -> str:
    match payload.get("reason"):
        case "message":
            return "Back from the snooze: the customer wrote"
        case "time":
            return "Back from the snooze: its time came"
    return f"{payload.get('name', '')} ended the snooze"


def _answered(payload: Mapping[str, Any]) -> str:
    way = " by e-mail" if payload.get("channel") == TicketChannel.EMAIL else ""
    return f"{payload.get('name', '')} answered ticket #{payload.get('ticket', '')}{way}"


def _reopened(payload: Mapping[str, Any]) -> str:
    return (
        "Reopened: the customer wrote" if payload.get("reason") == "message" else f"{payload.get('name')} reopened it"
    )


def _by(verb: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda payload: f"{payload.get('name', '')} {verb}".strip()


WORDS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    ASSIGNED: _assigned,
    TAGGED: _tagged,
    SNOOZED: _by("snoozed it"),
    SNOOZE_ENDED: _came_back,
    CLOSED: _by("closed it"),
    INBOX_REOPENED: _reopened,
    ANSWERED: _answered,
    "operator_took_over": _by("took over"),
    "operator_handed_back": _by("handed back to the agent"),
    "escalation_resolved": _by("resolved the request"),
    "escalation_reopened": _by("reopened the request"),
    "flag_cleared": lambda payload: f"{payload.get('by', '')} cleared the flag",
    "flag_restored": lambda payload: f"{payload.get('by', '')} flagged it again",
}
