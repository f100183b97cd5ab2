"""A todo's history for display."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.translation import gettext

from console.timestamps import Timestamp, format_timestamp
from console.todos.labels import STATUS_LABELS, with_tool_titles
from projects.common.stored_sentences import translated
from projects.common.translation import lazy
from todos.models import Todo, TodoEvent

WORDS = {
    "made": lazy("Created"),
    "edited": lazy("Edited"),
    "approved_first": lazy("First approval"),
    "approved": lazy("Approved"),
    "approval_void": lazy("Approval ended"),
    "rejected": lazy("Rejected"),
    "rejection_undone": lazy("Rejection undone"),
    "cancelled": lazy("Canceled"),
    "expired": lazy("Expired"),
    "started": lazy("Started"),
    "taken": lazy("Assigned"),
    "completed": lazy("Completed"),
    "failed": lazy("Failed"),
    "needs_attention": lazy("Needs attention"),
    "reviewed_again": lazy("Returned to review"),
    "put_back": lazy("Returned to review"),
    "handed_back": lazy("Handed back"),
    "first_approval_void": lazy("Edited before the second approval"),
}
# Edited fields, as named in the history.
EDITED = {
    "title": lazy("title"),
    "description": lazy("description"),
    "type": lazy("type"),
    "tool": lazy("tool"),
    "arguments": lazy("arguments"),
    "recipients": lazy("recipients"),
    "persona": lazy("customer"),
    "contact": lazy("contact details"),
}
BY_HAND = {"completed": lazy("Done by hand"), "failed": lazy("Marked as failed")}


@dataclass(frozen=True)
class HistoryEntry:
    """One history entry."""

    tone: str
    icon: str
    words: str
    by: str
    reason: str
    version: int
    at: Timestamp

    @property
    def sentence(self) -> str:
        """The entry as one or two sentences."""
        facts = {"what": self.words, "name": self.by, "at": self.at.ago}
        first = (gettext("%(what)s by %(name)s %(at)s.") if self.by else gettext("%(what)s %(at)s.")) % facts
        return f"{first} {self.reason}".strip()


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
        reason=with_tool_titles(translated(str(event.detail.get("reason", ""))), tools) or _changed(event),
        version=event.version,
        at=format_timestamp(event.at, zone=zone),
    )


def _changed(event: TodoEvent) -> str:
    """A sentence that lists the edited fields; empty for other events."""
    fields = [EDITED.get(name, name) for name in event.detail.get("fields", [])]
    return gettext("Changed: %(fields)s.") % {"fields": ", ".join(map(str, fields))} if fields else ""


def _words(event: TodoEvent) -> str:
    known = WORDS | (BY_HAND if event.detail.get("by_hand") else {})
    return known.get(event.what) or event.what.replace("_", " ").capitalize()
