"""A small in-process cache, invalidated when its input changes."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class KeyedCache(Generic[V]):
    """One value per key, together with the input it was computed from. Thread-safe; cleared when full.

    Callers must not modify the values.
    """

    def __init__(self, *, max_entries: int) -> None:
        self._max_entries = max_entries
        self._values: dict[Hashable, tuple[object, V]] = {}

    def get(self, key: Hashable, inputs: object, compute: Callable[[], V]) -> V:
        """The cached value for the key; recomputed if the input differs."""
        cached = self._values.get(key)
        if cached is not None and cached[0] == inputs:
            return cached[1]
        if len(self._values) >= self._max_entries:
            self._values.clear()
        value = compute()
        self._values[key] = inputs, value
        return value
