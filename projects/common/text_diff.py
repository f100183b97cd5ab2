"""Line diffs with three lines of context."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

CONTEXT = 3


@dataclass(frozen=True)
class Line:
    """`kind` is "add", "del", "" for an unchanged line, or "gap" for omitted unchanged lines."""

    kind: str
    text: str


def line_differences(old: str, new: str) -> list[Line]:
    """The diff of two texts; empty when they are equal."""
    before, after = old.splitlines(), new.splitlines()
    groups = list(SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(CONTEXT))
    return [line for at, group in enumerate(groups) for line in _lines(group, before, after, is_first=at == 0)]


def _lines(
    group: list[tuple[str, int, int, int, int]], before: list[str], after: list[str], *, is_first: bool
) -> Iterator[Line]:
    start = group[0][1]
    if start or not is_first:
        yield Line("gap", "…")
    for tag, a, b, c, d in group:
        if tag == "equal":
            yield from (Line("", text) for text in before[a:b])
            continue
        yield from (Line("del", text) for text in before[a:b])
        yield from (Line("add", text) for text in after[c:d])
