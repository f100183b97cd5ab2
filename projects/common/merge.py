"""Two people's changes of one document, put together where they don't meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# What a list's item is known by, whatever else of it changes.
IDENTITIES = ("title", "name", "key")


@dataclass(frozen=True)
class Merged:
    """A value that holds both changes, or mine where both changed the same."""

    value: Any
    is_conflict: bool = False


def merge(base: Any, *, theirs: Any, mine: Any) -> Merged:
    """Both changes of `base`: all of what only one side changed. Where both did, differently, mine stands as a conflict."""
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
    # None stands for a key that is not there: a document has no nulls.
    keys = dict.fromkeys([*theirs, *mine])
    parts = {key: merge(base.get(key), theirs=theirs.get(key), mine=mine.get(key)) for key in keys}
    values = {key: part.value for key, part in parts.items() if part.value is not None}
    return Merged(values, is_conflict=any(part.is_conflict for part in parts.values()))


def _is_same_list(sides: tuple[Any, ...]) -> bool:
    """Whether all three are lists of the same things in the same order, as far as can be told."""
    if not all(isinstance(side, list) and all(isinstance(item, Mapping) for item in side) for side in sides):
        return False
    return len({len(side) for side in sides}) == 1


def _merge_lists(base: list[Any], theirs: list[Any], mine: list[Any]) -> Merged:
    """Item by item. One that both changed is a conflict of the whole list unless it is known by its name on both sides:
    one of them may have moved it.
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
