"""Hooks: functions that a lower room declares and calls, and that rooms above it provide when the apps are ready.

A `Hook` asks one provider for an answer; a `Signal` tells every receiver. Both are declared once, with the signature that
type checkers hold providers and callers to::

    read_contact: Hook[Callable[[UUID], Contact | None]] = Hook("read_contact")
    todo_changed: Signal[[Todo, str]] = Signal()
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")


class NotConnected(RuntimeError):
    """A hook was called before a higher room provided its function."""


class Hook(Generic[F]):
    """A function of a higher room, called like any other. The last one connected is the one that answers."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._function: F | None = None

    def connect(self, function: F) -> None:
        """Provide the function."""
        self._function = function

    @property
    def __call__(self) -> F:
        """The connected function. Raises NotConnected."""
        if self._function is None:
            raise NotConnected(
                f"Nothing is connected to the hook {self._name}: a room above it does so in `register()`."
            )
        return self._function


class Signal(Generic[P]):
    """Calls every receiver, in the order in which they were connected, and in the sender's transaction if there is one."""

    def __init__(self) -> None:
        self._receivers: list[Callable[P, None]] = []

    def connect(self, receiver: Callable[P, None]) -> None:
        """Call the receiver from now on, once per signal however often it is connected."""
        if receiver not in self._receivers:
            self._receivers.append(receiver)

    def disconnect(self, receiver: Callable[P, None]) -> None:
        """Call the receiver no more."""
        self._receivers.remove(receiver)

    def send(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Call every receiver. An error of one is raised here, and the receivers after it are not called."""
        for receiver in self._receivers:
            receiver(*args, **kwargs)
