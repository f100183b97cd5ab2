"""Reasons why a conversation waits for staff, as the inbox words them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from conversations.inbox.waiting import Reason


@dataclass(frozen=True)
class ReasonLabel:
    """A reason's words, tone and icon."""

    words: str
    tone: str
    icon: str


LABELS: Mapping[Reason, ReasonLabel] = {
    Reason.ASKED: ReasonLabel("Asked for a person", "bad", "message-user"),
    Reason.UNANSWERED: ReasonLabel("Waits for an answer", "bad", "message-circle"),
    Reason.UNKNOWN: ReasonLabel("Did it happen?", "warn", "help-circle"),
    Reason.TO_REVIEW: ReasonLabel("Todo to review", "warn", "hourglass"),
    Reason.TODO_FAILED: ReasonLabel("Todo failed", "bad", "alert-triangle"),
    Reason.BROKEN: ReasonLabel("Promise broken", "bad", "circle-x"),
    Reason.RETURNED: ReasonLabel("Back from a snooze", "act", "clock"),
    Reason.FLAGGED: ReasonLabel("Flagged", "warn", "hand-stop"),
}
