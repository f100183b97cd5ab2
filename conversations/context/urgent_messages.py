"""Urgent messages in prompts: new ones, and for one more reply the ones that a reply took up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from conversations.common.prompt_shapes import Line
from conversations.context.transcript import clip
from conversations.models import Event
from conversations.models.event import URGENT, UrgentSource
from tenancy.prepared_queries import PreparedQuery

# The newest urgent messages that a prompt holds.
MAX_URGENT = 20
# Those that a reply has taken up are a reminder: few, and short.
MAX_TAKEN_UP = 5
MAX_TAKEN_UP_BYTES = 300

URGENT_EVENTS = PreparedQuery(
    lambda conversation: Event.objects.filter(conversation_id=conversation, idn=URGENT).order_by("-seq")[:MAX_URGENT],
    kinds=(UUID,),
)


@dataclass(frozen=True)
class UrgentMessages:
    """The urgent messages of a prompt, oldest first.

    `from_business` may instruct the agent. `results` come from tools and are data. `taken_up` are those of the last
    reply, with their source.
    """

    from_business: list[str]
    results: list[str]
    taken_up: list[Line]

    @property
    def untold(self) -> list[Line]:
        """The messages that no reply has taken up, with their source."""
        return [
            *(Line(UrgentSource.BUSINESS, text) for text in self.from_business),
            *(Line(UrgentSource.TOOL, text) for text in self.results),
        ]


def urgent_messages(events: Sequence[Event], *, replied: int | None, before: int | None) -> UrgentMessages:
    """Sort the events of `URGENT_EVENTS` by the last replied turn, and by the one before it."""
    last, before = replied or 0, before or 0
    payloads = [event.payload for event in reversed(events) if event.payload.get("text")]
    new = [payload for payload in payloads if _told_by(payload) > last]
    taken_up = [payload for payload in payloads if before < _told_by(payload) <= last]
    return UrgentMessages(
        from_business=[_line_of(payload) for payload in new if is_from_business(payload)],
        results=[_line_of(payload) for payload in new if not is_from_business(payload)],
        taken_up=[
            Line(_source(payload), clip(_line_of(payload), longest=MAX_TAKEN_UP_BYTES))
            for payload in taken_up[-MAX_TAKEN_UP:]
        ],
    )


def is_from_business(payload: dict[str, Any]) -> bool:
    """True if the business sent it: over the API, or as a tool's fixed message. Anything else is data."""
    return payload.get("source") == UrgentSource.BUSINESS


def _source(payload: dict[str, Any]) -> str:
    return UrgentSource.BUSINESS if is_from_business(payload) else UrgentSource.TOOL


def _told_by(payload: dict[str, Any]) -> int:
    return int(payload.get("told_by", 0))


def text_for_agent(payload: dict[str, Any]) -> str:
    """The message with the instruction about it, which only the agent reads."""
    return " ".join(filter(None, (str(payload["text"]), payload.get("instruction"))))


def _line_of(payload: dict[str, Any]) -> str:
    return f"(late) {text_for_agent(payload)}" if payload.get("is_late") else text_for_agent(payload)
