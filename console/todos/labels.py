"""Labels for todo statuses, sources and tools."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from console.effects.labels import StateLabel
from projects.models import Role
from todos.models import TodoSource, TodoStatus

S = TodoStatus
STATUS_LABELS: Mapping[str, StateLabel] = {
    S.PENDING_REVIEW: StateLabel("warn", "hourglass", "To review"),
    S.APPROVED: StateLabel("act", "circle-check", "Approved"),
    S.IN_PROGRESS: StateLabel("act", "loader-2", "In progress"),
    S.NEEDS_ATTENTION: StateLabel("bad", "alert-circle", "Needs attention"),
    S.FAILED: StateLabel("bad", "alert-triangle", "Failed"),
    S.COMPLETED: StateLabel("ok", "circle-check", "Completed"),
    S.REJECTED: StateLabel("mute", "circle-x", "Rejected"),
    S.EXPIRED: StateLabel("mute", "clock-off", "Expired"),
    S.CANCELLED: StateLabel("mute", "circle-minus", "Canceled"),
}
CHANGED = StateLabel("warn", "hourglass", "Edited")
RETURNED = StateLabel("warn", "arrow-back-up", "Back in review")
# Label of a version by the event that created it.
VERSION_LABELS: Mapping[str, StateLabel] = {
    "edited": CHANGED,
    "first_approval_void": CHANGED,
    "put_back": RETURNED,
    "reviewed_again": RETURNED,
    "handed_back": RETURNED,
}
UNCLAIMED = StateLabel("warn", "hand-grab", "Unassigned")
AWAITING_SECOND = StateLabel("warn", "users", "Needs a second approval")
SOURCES: Mapping[str, str] = {
    TodoSource.EXTRACTION: "from a conversation",
    TodoSource.TOOL: "from a tool",
    TodoSource.PROMISE: "from a promise",
    TodoSource.MAKE_GOOD: "from a broken promise",
    TodoSource.PERSON: "created by a person",
    TodoSource.API: "created by the API",
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
SPELLED = {"sms": "SMS", "url": "link", "email": "e-mail", "zip": "postal"}
# Tool kinds that send a message to a person.
LETTERS = ("email", "sms")
LETTER_WORDS = {"email": "e-mail", "sms": "text"}


def undeliverable_warning(kind: str) -> str:
    """Warning for an undeliverable message of this kind."""
    return f"Its {LETTER_WORDS[kind]} can’t be delivered."


def approved_undeliverable(kind: str, number: int) -> str:
    """Warning after approving `number` todos with an undeliverable message of this kind."""
    letter = LETTER_WORDS[kind]
    if number == 1:
        return f"1 approved todo has an undeliverable {letter}. Its other actions run."
    return f"{number} approved todos have undeliverable {letter}s. Their other actions run."


def capitalized(words: str) -> str:
    """The text with its first letter in upper case and the rest unchanged."""
    return words[:1].upper() + words[1:]


def sentence_start(name: str) -> str:
    """An actor's name at the beginning of a sentence: "The API key Till", but an address stays as written."""
    return capitalized(name) if name.startswith("the ") else name


def icon_of(kind: str) -> str:
    """Icon for a kind of tool."""
    return TOOL_ICONS.get(kind, "tool")


def title_of_tool(name: str) -> str:
    """A tool's name as a title, such as "Send e-mail to caller"."""
    words = name.removesuffix("_tool").split("_")
    title = " ".join(SPELLED.get(word, word) for word in words)
    return capitalized(title)


def with_tool_titles(sentence: str, names: Iterable[str]) -> str:
    """The sentence with tool names replaced by their titles."""
    # Single-word names stay: they read well, and may be ordinary words of the sentence.
    technical = [re.escape(name) for name in names if "_" in name]
    if not sentence or not technical:
        return sentence
    return re.sub(rf"\b(?:{'|'.join(technical)})\b", lambda found: title_of_tool(found[0]), sentence)


def approvers_of(role: str) -> str:
    """Members with at least this role, as a phrase."""
    return {Role.OPERATOR: "an operator, admin or owner", Role.ADMIN: "an admin or owner"}.get(Role(role), "an owner")
