"""Differences between two versions of an agent's settings, by field and by word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from projects.common.translation import lazy, plazy
from projects.common.verticals import VERTICALS

LABELS = {
    "agent_name": lazy("Agent’s name"),
    "business_name": lazy("Business name"),
    "business_context": lazy("Business context"),
    "timezone": lazy("Time zone"),
    "model_base_url": lazy("Model address"),
    "transcription_model": lazy("Transcription of voice messages"),
    "observer_fields": lazy("Observed field"),
    "scenarios": lazy("Scenario"),
    "procedures": lazy("Procedure"),
    "intents": lazy("Intent"),
    "steps": plazy("scenario", "step"),
    "collects": lazy("fields"),
    "working_hours": lazy("during hours"),
    "non_working_hours": lazy("outside hours"),
    "follow_up_minutes": lazy("Follow-up after (minutes)"),
    "score_quality_on": lazy("Quality is scored on"),
    "ask_for_ratings": lazy("Ask customers for a rating"),
    "take_files": lazy("Customers can send files"),
    "action": lazy("then"),
    "vertical": lazy("Kind of business"),
    "enabled_tools": lazy("Tools it can use"),
    "escalation_rules": lazy("Escalation"),
    "caller_verification": lazy("Caller verification"),
}
# Display names of values.
ACTIONS = {"transfer": lazy("the call is transferred"), "message": lazy("they get a text")}
LEVELS = {"none": lazy("never asked"), "basic": lazy("by contact details on file"), "code": lazy("by a one-time code")}
EVERY_TOOL, NO_TOOL = lazy("all available tools"), plazy("tools", "none")
DAYS = {
    "mon": lazy("Monday"),
    "tue": lazy("Tuesday"),
    "wed": lazy("Wednesday"),
    "thu": lazy("Thursday"),
    "fri": lazy("Friday"),
    "sat": lazy("Saturday"),
    "sun": lazy("Sunday"),
}
# The keys that identify an item of a list.
IDENTITIES = ("title", "name", "key", "when")
TOKEN = re.compile(r"\s+|\w+|[^\w\s]")
# Longer texts are shown whole, because comparing them word by word would take too long.
LONGEST_COMPARED = 4000
LONGEST_SUMMARY = 180
LONGEST_SAME = 300


@dataclass(frozen=True)
class Piece:
    """A run of words in a change: in both texts (`same`), only in the old one (`del`) or only in the new one (`ins`)."""

    kind: str
    text: str


@dataclass(frozen=True)
class Change:
    """A changed field. An added or removed one is empty on the other side."""

    label: str
    before: str
    after: str

    @property
    def pieces(self) -> list[Piece]:
        """Both texts merged, with deletions and insertions. Long passages that stay are cut to what is beside a change."""
        found = list(_pieces(self.before, self.after))
        return [_near_changes(piece, at, last=len(found) - 1) for at, piece in enumerate(found)]


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """All differences between two documents, in the order of the newer one."""
    names = dict.fromkeys([*new, *old])
    return [
        change
        for name in names
        for change in _compare(label_of(name), _display_value(name, old.get(name)), _display_value(name, new.get(name)))
    ]


def summary_of(changes: Sequence[Change]) -> str:
    """A short summary of the changes, for the version history."""
    labels = list(dict.fromkeys(change.label for change in changes))
    first, more = "".join(labels[:1])[:LONGEST_SUMMARY], len(labels) - 1
    return f"{first} and {more} more" if more > 0 else first


def label_of(name: str) -> str:
    """A field's display name."""
    return str(LABELS.get(name) or DAYS.get(name) or name.replace("_", " ").capitalize())


def _display_value(name: str, value: Any) -> Any:
    """A field's value for display. A missing list of tools allows every tool, an empty one allows none."""
    if name == "vertical":
        return str(VERTICALS[value].title) if value in VERTICALS else value
    if name == "enabled_tools":
        return str(EVERY_TOOL) if value is None else value or str(NO_TOOL)
    if name == "escalation_rules":
        return [{**rule, "action": [str(ACTIONS.get(rule["action"], rule["action"]))]} for rule in value or []]
    return str(LEVELS[value]) if name == "caller_verification" and value in LEVELS else value


def _compare(label: str, old: Any, new: Any) -> Iterator[Change]:
    if old == new:
        return
    if _is_mapping(old) and _is_mapping(new):
        yield from _compare_mappings(label, old or {}, new or {})
    elif _is_items(old) and _is_items(new) and (old or new):
        yield from _compare_items(label, old or [], new or [])
    elif (before := _plain(old)) != (after := _plain(new)):
        yield Change(label, before, after)


def _compare_mappings(label: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for name in dict.fromkeys([*new, *old]):
        yield from _compare(
            f"{label}, {label_of(name).lower() if name not in DAYS else DAYS[name]}", old.get(name), new.get(name)
        )


def _compare_items(label: str, old: Sequence[Any], new: Sequence[Any]) -> Iterator[Change]:
    """Compare named items by name, and others by position."""
    if _names(old) is None or _names(new) is None:
        yield from _compare_in_place(label, old, new)
        return
    before, after = _by_name(old), _by_name(new)
    for name in dict.fromkeys([*after, *before]):
        yield from _compare_item(f"{label} “{name[0]}”", before.get(name), after.get(name))
    if list(before) != list(after) and set(before) == set(after):
        yield Change(f"{label}, order", _join_names(before), _join_names(after))


def _compare_item(label: str, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> Iterator[Change]:
    if old is None or new is None:
        yield Change(label, _plain(old), _plain(new))
        return
    for name in dict.fromkeys([*new, *old]):
        yield from _compare(f"{label}, {label_of(name).lower()}", old.get(name), new.get(name))


def _compare_in_place(label: str, old: Sequence[Any], new: Sequence[Any]) -> Iterator[Change]:
    """Compare steps as a sequence, so that an inserted one doesn't make all later ones differ."""
    lines = [_plain(item) for item in old], [_plain(item) for item in new]
    for tag, a, b, c, d in SequenceMatcher(None, *lines, autojunk=False).get_opcodes():
        if tag != "equal":
            yield from _pair_lines(label, lines[0][a:b], lines[1][c:d], first=(c if tag != "delete" else a) + 1)


def _pair_lines(label: str, old: list[str], new: list[str], *, first: int) -> Iterator[Change]:
    for at in range(max(len(old), len(new))):
        before, after = (side[at] if at < len(side) else "" for side in (old, new))
        yield Change(f"{label} {first + at}", before, after)


def _is_mapping(value: Any) -> bool:
    return value is None or isinstance(value, Mapping)


def _is_items(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(isinstance(item, Mapping) for item in value))


def _names(items: Sequence[Mapping[str, Any]]) -> list[str] | None:
    """The items' identities, or None if some have none."""
    names = [next((item[key] for key in IDENTITIES if key in item), None) for item in items]
    return None if None in names else [str(name) for name in names]


def _by_name(items: Sequence[Mapping[str, Any]]) -> dict[tuple[str, int], Mapping[str, Any]]:
    """Items by name, and by their position among items of the same name."""
    names = _names(items) or []
    return {(name, names[:at].count(name)): items[at] for at, name in enumerate(names)}


def _join_names(names: Mapping[tuple[str, int], Any]) -> str:
    return ", ".join(name for name, _ in names)


def _plain(value: Any) -> str:
    """A value as text for display."""
    if value is None or value == "":
        return ""
    if isinstance(value, Mapping):
        return _plain_item(value)
    if isinstance(value, list):
        is_span = len(value) == 2 and all(isinstance(part, str) and ":" in part for part in value)
        return " to ".join(value) if is_span else ", ".join(_plain(item) for item in value)
    return str(value)


def _plain_item(item: Mapping[str, Any]) -> str:
    """An item as text: its own text first, then its other fields."""
    parts: list[str] = []
    for name, value in item.items():
        if isinstance(value, list) and _is_items(value):
            parts.extend(f"{at}. {_plain(part)}" for at, part in enumerate(value, 1))
        elif text := _plain(value):
            parts.append(text if isinstance(value, str) else f"({label_of(name).lower()}: {text})")
    return "\n".join(parts) if any("\n" in part or part[:2] == "1." for part in parts) else " ".join(parts)


def _near_changes(piece: Piece, at: int, *, last: int) -> Piece:
    if piece.kind != "same" or len(piece.text) <= LONGEST_SAME:
        return piece
    before, after = piece.text[: LONGEST_SAME // 2] if at else "", piece.text[-LONGEST_SAME // 2 :] if at < last else ""
    return Piece("same", f"{before} … {after}".strip(" ") if at in (0, last) else f"{before} … {after}")


def _pieces(before: str, after: str) -> Iterator[Piece]:
    old, new = TOKEN.findall(before), TOKEN.findall(after)
    if len(old) + len(new) > LONGEST_COMPARED or not old or not new:
        yield from (Piece(kind, text) for kind, text in (("del", before), ("ins", after)) if text)
        return
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield Piece("same", "".join(old[a:b]))
            continue
        yield from (
            Piece(kind, text) for kind, text in (("del", "".join(old[a:b])), ("ins", "".join(new[c:d]))) if text
        )
