"""What follows from a state that seldom changes, kept until it does."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class KeyedCache(Generic[V]):
    """Values, each with what it was made of, for a place that has one at a time. At most `most` of them, in any thread.

    Whoever gets one only reads it.
    """

    def __init__(self, *, most: int) -> None:
        self._most = most
        self._values: dict[Hashable, tuple[object, V]] = {}

    def of(self, place: Hashable, ground: object, make: Callable[[], V]) -> V:
        """The place's value, made anew unless it was made of an equal ground."""
        kept = self._values.get(place)
        if kept is not None and kept[0] == ground:
            return kept[1]
        if len(self._values) >= self._most:
            self._values.clear()
        value = make()
        self._values[place] = ground, value
        return value
