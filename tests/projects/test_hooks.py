"""Hooks and signals."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from projects.common.hooks import Hook, NotConnected, Signal


def test_a_hook_calls_the_function_connected_last() -> None:
    double: Hook[Callable[[int], int]] = Hook("double")
    double.connect(lambda number: number)
    double.connect(lambda number: 2 * number)
    assert double(4) == 8


def test_an_unconnected_hook_raises_with_its_name() -> None:
    double: Hook[Callable[[int], int]] = Hook("double")
    with pytest.raises(NotConnected, match="double"):
        double(4)


def test_a_signal_calls_each_receiver_once_in_order() -> None:
    heard: list[str] = []
    changed: Signal[[str]] = Signal()

    def second(word: str) -> None:
        heard.append(f"{word} again")

    for receiver in (heard.append, second, second):
        changed.connect(receiver)
    changed.send("yes")
    assert heard == ["yes", "yes again"]


def test_a_failing_receiver_stops_the_signal() -> None:
    heard: list[str] = []
    changed: Signal[[str]] = Signal()

    def fail(word: str) -> None:
        raise ValueError(word)

    changed.connect(fail)
    changed.connect(heard.append)
    with pytest.raises(ValueError, match="planted"):
        changed.send("planted")
    assert heard == []
