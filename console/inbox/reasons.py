"""Reasons why a conversation waits for staff, as the inbox words them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from conversations.inbox.waiting import Reason
from projects.common.translation import lazy


@dataclass(frozen=True)
class ReasonLabel:
    """A reason's words, tone and icon."""

    words: str
    tone: str
    icon: str


LABELS: Mapping[Reason, ReasonLabel] = {
    Reason.ASKED: ReasonLabel(lazy("Asked for a person"), "bad", "message-user"),
    Reason.UNANSWERED: ReasonLabel(lazy("Waiting for a reply"), "bad", "message-circle"),
    Reason.UNKNOWN: ReasonLabel(lazy("Did it happen?"), "warn", "help-circle"),
    Reason.TO_REVIEW: ReasonLabel(lazy("Todo to review"), "warn", "hourglass"),
    Reason.TODO_ATTENTION: ReasonLabel(lazy("Todo needs attention"), "warn", "alert-circle"),
    Reason.TODO_APPROVED: ReasonLabel(lazy("Todo for your team"), "warn", "hand-stop"),
    Reason.TODO_FAILED: ReasonLabel(lazy("Todo failed"), "bad", "alert-triangle"),
    Reason.BROKEN: ReasonLabel(lazy("Promise broken"), "bad", "circle-x"),
    Reason.RETURNED: ReasonLabel(lazy("Snooze ended"), "act", "clock"),
    Reason.FLAGGED: ReasonLabel(lazy("Flagged"), "warn", "hand-stop"),
}

# Shown to the mentioned member only.
MENTIONED = ReasonLabel(lazy("Mentions you"), "warn", "note")
