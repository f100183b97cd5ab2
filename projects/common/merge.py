"""Three-way merge of two edits of one document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# The keys that identify an item of a list while its other fields change.
IDENTITIES = ("title", "name", "key")


@dataclass(frozen=True)
class Merged:
    """The merged value, or `mine` if the two edits conflict."""

    value: Any
    is_conflict: bool = False


def merge(base: Any, *, theirs: Any, mine: Any) -> Merged:
    """Merge two edits of `base`. If both changed the same value differently, the result is `mine`, marked as a
    conflict.
    """
    if mine in (base, theirs):
        return Merged(theirs)
    if theirs == base:
        return Merged(mine)
    sides = (base, theirs, mine)
    if all(isinstance(side, Mapping) for side in sides):
        return _merge_mappings(base, theirs, mine)
    if _is_same_list(sides):
        return _merge_lists(base, theirs, mine)
    return Merged(mine, is_conflict=True)


def _merge_mappings(base: Mapping[str, Any], theirs: Mapping[str, Any], mine: Mapping[str, Any]) -> Merged:
    # None means a missing key, because documents contain no nulls.
    keys = dict.fromkeys([*theirs, *mine])
    parts = {key: merge(base.get(key), theirs=theirs.get(key), mine=mine.get(key)) for key in keys}
    values = {key: part.value for key, part in parts.items() if part.value is not None}
    return Merged(values, is_conflict=any(part.is_conflict for part in parts.values()))


def _is_same_list(sides: tuple[Any, ...]) -> bool:
    """True if all three are lists of mappings of the same length, taken to be the same items in the same order."""
    if not all(isinstance(side, list) and all(isinstance(item, Mapping) for item in side) for side in sides):
        return False
    return len({len(side) for side in sides}) == 1


def _merge_lists(base: list[Any], theirs: list[Any], mine: list[Any]) -> Merged:
    """Merge item by item. An item that both edits changed conflicts for the whole list, unless its name is the same on
    all sides: otherwise one of the edits may have moved it.
    """
    parts = [_merge_items(*items) for items in zip(base, theirs, mine, strict=True)]
    if any(part is None for part in parts):
        return Merged(mine, is_conflict=True)
    known = [part for part in parts if part is not None]
    return Merged([part.value for part in known], is_conflict=any(part.is_conflict for part in known))


def _merge_items(base: Mapping[str, Any], theirs: Mapping[str, Any], mine: Mapping[str, Any]) -> Merged | None:
    is_known = any(name in base and base[name] == theirs.get(name) == mine.get(name) for name in IDENTITIES)
    if is_known or mine in (base, theirs) or theirs == base:
        return merge(base, theirs=theirs, mine=mine)
    return None
