"""A todo's history for display."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from console.timestamps import Moment, moment_of
from console.todos.labels import STATUS_LABELS, with_tool_titles
from todos.models import Todo, TodoEvent

WORDS = {
    "made": "Made",
    "edited": "Edited",
    "approved_first": "Approved by the first of two",
    "approved": "Approved",
    "approval_void": "Approval ended",
    "rejected": "Rejected",
    "cancelled": "Cancelled",
    "expired": "Expired",
    "started": "Begun",
    "taken": "Taken on",
    "completed": "Completed",
    "failed": "Failed",
    "needs_attention": "Needs attention",
    "reviewed_again": "Brought back to review",
    "put_back": "Brought back to review",
    "handed_back": "Handed back",
    "first_approval_void": "Changed between the two approvals",
}
# Edited fields, as named in the history.
EDITED = {
    "description": "what is to be done",
    "type": "the type",
    "tool": "the tool",
    "arguments": "what the tool is given",
    "recipients": "the addresses",
    "persona": "the customer",
    "contact": "how the customer is reached",
}
BY_HAND = {"completed": "Done by hand", "failed": "Not done, by hand"}


@dataclass(frozen=True)
class HistoryEntry:
    """One history entry."""

    tone: str
    icon: str
    words: str
    by: str
    reason: str
    version: int
    at: Moment

    @property
    def sentence(self) -> str:
        """The entry as one or two sentences."""
        by = f" by {self.by}" if self.by else ""
        return f"{self.words}{by} on {self.at.date}.{f' {self.reason}' if self.reason else ''}"


def history_of(todo: Todo, *, tools: Iterable[str], zone: str) -> list[HistoryEntry]:
    """All events of the todo, oldest first. Names of `tools` are replaced by their titles."""
    return [
        history_entry(event, tools=tools, zone=zone)
        for event in TodoEvent.objects.filter(todo=todo).order_by("at", "id")
    ]


def history_entry(event: TodoEvent, *, tools: Iterable[str], zone: str) -> HistoryEntry:
    state = STATUS_LABELS.get(event.to_status)
    return HistoryEntry(
        tone=state.tone if state else "mute",
        icon=state.icon if state else "pencil",
        words=_words(event),
        by=event.actor,
        reason=with_tool_titles(str(event.detail.get("reason", "")), tools) or _changed(event),
        version=event.version,
        at=moment_of(event.at, zone=zone),
    )


def _changed(event: TodoEvent) -> str:
    """A sentence that lists the edited fields; empty for other events."""
    fields = [EDITED.get(name, name) for name in event.detail.get("fields", [])]
    return f"Changed: {', '.join(fields)}." if fields else ""


def _words(event: TodoEvent) -> str:
    known = WORDS | (BY_HAND if event.detail.get("by_hand") else {})
    return known.get(event.what) or event.what.replace("_", " ").capitalize()
