"""Labels for todo statuses, sources and tools."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from django.utils.translation import gettext, ngettext

from console.effects.labels import StateLabel
from projects.common.translation import lazy
from projects.models import Role
from todos.models import TodoSource, TodoStatus
from tools.engine.tool_words import capitalized, title_of_tool

S = TodoStatus
STATUS_LABELS: Mapping[str, StateLabel] = {
    S.PENDING_REVIEW: StateLabel("warn", "hourglass", lazy("To review")),
    S.APPROVED: StateLabel("act", "circle-check", lazy("Approved")),
    S.IN_PROGRESS: StateLabel("act", "loader-2", lazy("In progress")),
    S.NEEDS_ATTENTION: StateLabel("bad", "alert-circle", lazy("Needs attention")),
    S.FAILED: StateLabel("bad", "alert-triangle", lazy("Failed")),
    S.COMPLETED: StateLabel("ok", "circle-check", lazy("Completed")),
    S.REJECTED: StateLabel("mute", "circle-x", lazy("Rejected")),
    S.EXPIRED: StateLabel("mute", "clock-off", lazy("Expired")),
    S.CANCELLED: StateLabel("mute", "circle-minus", lazy("Canceled")),
}
CHANGED = StateLabel("warn", "hourglass", lazy("Edited"))
RETURNED = StateLabel("warn", "arrow-back-up", lazy("Back in review"))
# Label of a version by the event that created it.
VERSION_LABELS: Mapping[str, StateLabel] = {
    "edited": CHANGED,
    "first_approval_void": CHANGED,
    "put_back": RETURNED,
    "reviewed_again": RETURNED,
    "handed_back": RETURNED,
}
UNCLAIMED = StateLabel("warn", "hand-grab", lazy("Unassigned"))
AWAITING_SECOND = StateLabel("warn", "users", lazy("Needs a second approval"))
SOURCES: Mapping[str, str] = {
    TodoSource.EXTRACTION: lazy("from a conversation"),
    TodoSource.TOOL: lazy("from a tool"),
    TodoSource.PROMISE: lazy("from a promise"),
    TodoSource.MAKE_GOOD: lazy("from a broken promise"),
    TodoSource.PERSON: lazy("created by a person"),
    TodoSource.API: lazy("created by the API"),
}
TOOL_ICONS = {
    "email": "mail",
    "sms": "device-mobile-message",
    "webhook": "webhook",
    "booking": "calendar-time",
    "booking_cancel": "calendar-x",
    "booking_search": "calendar-search",
    "availability": "calendar-search",
    "meeting": "calendar-time",
    "transfer": "phone",
}
# Tool kinds that send a message to a person.
LETTERS = ("email", "sms")


def undeliverable_warning(kind: str) -> str:
    """Warning for an undeliverable message of this kind."""
    return gettext("Its e-mail can’t be delivered.") if kind == "email" else gettext("Its text can’t be delivered.")


def approved_undeliverable(kind: str, number: int) -> str:
    """Warning after approving `number` todos with an undeliverable message of this kind."""
    sentence = (
        ngettext(
            "%(number)s approved todo has an undeliverable e-mail. Its other actions still run.",
            "%(number)s approved todos have undeliverable e-mails. Their other actions still run.",
            number,
        )
        if kind == "email"
        else ngettext(
            "%(number)s approved todo has an undeliverable text. Its other actions still run.",
            "%(number)s approved todos have undeliverable texts. Their other actions still run.",
            number,
        )
    )
    return sentence % {"number": number}


def sentence_start(name: str) -> str:
    """An actor's name at the beginning of a sentence: "The API key Till", but an address stays as written."""
    return capitalized(name) if name.startswith("the ") else name


def icon_of(kind: str) -> str:
    """Icon for a kind of tool."""
    return TOOL_ICONS.get(kind, "tool")


def with_tool_titles(sentence: str, names: Iterable[str]) -> str:
    """The sentence with tool names replaced by their titles."""
    # Single-word names stay: they read well, and may be ordinary words of the sentence.
    technical = [re.escape(name) for name in names if "_" in name]
    if not sentence or not technical:
        return sentence
    return re.sub(rf"\b(?:{'|'.join(technical)})\b", lambda found: title_of_tool(found[0]), sentence)


def approvers_of(role: str) -> str:
    """Members with at least this role, as a phrase."""
    match Role(role):
        case Role.OPERATOR:
            return gettext("an operator, admin or owner")
        case Role.ADMIN:
            return gettext("an admin or owner")
    return gettext("an owner")
