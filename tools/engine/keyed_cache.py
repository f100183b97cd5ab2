"""A small in-process cache, invalidated when its input changes."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class KeyedCache(Generic[V]):
    """One value per key, together with the input it was computed from. Thread-safe; cleared when full.

    Callers must not modify the values.
    """

    def __init__(self, *, most: int) -> None:
        self._most = most
        self._values: dict[Hashable, tuple[object, V]] = {}

    def of(self, place: Hashable, ground: object, make: Callable[[], V]) -> V:
        """The cached value for the key; recomputed if the input differs."""
        kept = self._values.get(place)
        if kept is not None and kept[0] == ground:
            return kept[1]
        if len(self._values) >= self._most:
            self._values.clear()
        value = make()
        self._values[place] = ground, value
        return value
