"""Actions on the opened conversation, posted by its forms; the keys press their buttons."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import cast
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.http import Http404, HttpRequest, QueryDict
from django.utils.translation import gettext

from console.access import zone_of
from console.undo import announce_undoable
from conversations.handover import operators
from conversations.handover.assignment import Anybody, assign
from conversations.inbox import closing, notes, tags
from conversations.models import Conversation, Tag, TagColor
from conversations.turns.flags import clear_caller_flag, clear_flag
from projects.common.api_error import ApiError
from projects.models import User
from projects.models.key import Scope
from projects.models.permissions import Entry
from tools.services.support.escalations import open_request
from tools.services.support.tickets import find_assignee


def act(request: HttpRequest, entry: Entry, row: Conversation) -> None:
    """Perform the posted action. A refusal becomes a message on the page. Raises Http404 for an unknown action."""
    action = ACTIONS.get(request.POST.get("do", ""))
    if action is None:
        raise Http404
    try:
        done = action(entry, row, cast(User, request.user), request.POST)
    except ApiError as error:
        messages.error(request, error.message)
        return
    if done is not None:
        announce_undoable(request, entry, done.words, kind=done.kind, **done.details)


@dataclass(frozen=True)
class Undoable:
    """A finished action that its notice offers to undo."""

    words: str
    kind: str
    details: Mapping[str, str]


Action = Callable[[Entry, Conversation, User, QueryDict], Undoable | None]


def _take_over(entry: Entry, row: Conversation, user: User, form: QueryDict) -> None:
    operators.take_over(row.pk, by=user)


def _hand_back(entry: Entry, row: Conversation, user: User, form: QueryDict) -> None:
    operators.hand_back(row.pk, by=user, is_forced=entry.may(Scope.CONFIGURE))


def _claim(entry: Entry, row: Conversation, user: User, form: QueryDict) -> None:
    operators.claim_request(row.pk, by=user)


def _resolve(entry: Entry, row: Conversation, user: User, form: QueryDict) -> Undoable | None:
    # Read first: a resolved request is no longer the open one.
    asked = open_request(row.pk)
    operators.resolve_request(row.pk, by=user)
    return Undoable(gettext("Request resolved."), "request", {"escalation": str(asked.pk)}) if asked else None


def _unflag(entry: Entry, row: Conversation, user: User, form: QueryDict) -> Undoable:
    reason = clear_flag(row.pk, by=user)
    return Undoable(gettext("Flag cleared."), "flag", {"conversation": str(row.pk), "reason": reason})


def _unflag_caller(entry: Entry, row: Conversation, user: User, form: QueryDict) -> None:
    clear_caller_flag(row.pk, by=user)


def _assign(entry: Entry, row: Conversation, user: User, form: QueryDict) -> None:
    seen = form.get("instead_of", "")
    expected = (int(seen) if seen.isdecimal() else None) if "instead_of" in form else Anybody.ANYBODY
    assign(row.pk, find_assignee(form.get("assignee", "").replace("\x00", "")), by=user, instead_of=expected)


def _close(entry: Entry, row: Conversation, user: User, form: QueryDict) -> Undoable | None:
    is_new = closing.close(row.pk, by=user, seen=_seen(form))
    return Undoable(gettext("Conversation closed."), "closing", {"conversation": str(row.pk)}) if is_new else None


def _reopen(entry: Entry, row: Conversation, user: User, form: QueryDict) -> None:
    closing.reopen(row.pk, by=user)


def _snooze(entry: Entry, row: Conversation, user: User, form: QueryDict) -> None:
    closing.snooze(row.pk, _until(form.get("until") or form.get("at", ""), entry), by=user, seen=_seen(form))


def _unsnooze(entry: Entry, row: Conversation, user: User, form: QueryDict) -> None:
    closing.end_snooze(row.pk, by=user)


def _tag(entry: Entry, row: Conversation, user: User, form: QueryDict) -> None:
    """Change the tags by what the form showed and what was chosen, so that another's change in between stays."""
    shown, chosen = set(form.getlist("shown")), set(form.getlist("tag"))
    known = {str(tag.pk): tag for tag in Tag.objects.filter(project=entry.project)}
    added = [known[key] for key in sorted(chosen - shown) if key in known]
    if name := " ".join(form.get("new", "").replace("\x00", "").split())[:40]:
        added.append(_named(entry, name, list(known.values()), color=form.get("color", "")))
    removed = [known[key] for key in sorted(shown - chosen) if key in known]
    tags.change_tags(row.pk, add=added, remove=removed, by=user)


def _named(entry: Entry, name: str, known: list[Tag], *, color: str) -> Tag:
    """The tag of this name; a new one if there is none."""
    found = next((tag for tag in known if tag.name.casefold() == name.casefold()), None)
    chosen = TagColor(color) if color in TagColor else TagColor.GRAY
    return found or tags.make_tag(entry.project, name, color=chosen)


def _read_mentions(entry: Entry, row: Conversation, user: User, form: QueryDict) -> None:
    notes.read_mentions(row.pk, by=user)


def _seen(form: QueryDict) -> int | None:
    text = form.get("seen", "")
    return int(text) if text.isdecimal() and len(text) < 10 else None


def _until(text: str, entry: Entry) -> datetime:
    """A time, in the business's zone if it names none. Raises ApiError."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise ApiError("invalid_until", gettext("Choose a day and a time."), field="until") from error
    return found if found.tzinfo else found.replace(tzinfo=ZoneInfo(zone_of(entry)))


ACTIONS: Mapping[str, Action] = {
    "take-over": _take_over,
    "hand-back": _hand_back,
    "claim": _claim,
    "resolve": _resolve,
    "unflag": _unflag,
    "unflag-caller": _unflag_caller,
    "assign": _assign,
    "close": _close,
    "reopen": _reopen,
    "snooze": _snooze,
    "unsnooze": _unsnooze,
    "tag": _tag,
    "read-mentions": _read_mentions,
}
