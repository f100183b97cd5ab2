"""Hooks and signals: declared and called by a lower layer, implemented by the layers above it when the apps are ready.

A `Hook` calls one provider and returns its result; a `Signal` calls every receiver. Their declared signatures let type
checkers verify providers and callers:

    read_contact: Hook[Callable[[UUID], Contact | None]] = Hook("read_contact")
    todo_changed: Signal[[Todo, str]] = Signal()
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")


class NotConnected(RuntimeError):
    """A hook was called before a provider was connected."""


class Hook(Generic[F]):
    """A function provided by a higher layer. The provider connected last is the one that is called."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._function: F | None = None

    def connect(self, function: F) -> None:
        """Set the provider."""
        self._function = function

    @property
    def __call__(self) -> F:
        """The provider. Raises NotConnected."""
        if self._function is None:
            raise NotConnected(
                f"No provider is connected to the hook {self._name}. Connect one in a higher layer's `register()`."
            )
        return self._function


class Signal(Generic[P]):
    """Calls all receivers in the order of their connection, in the sender's transaction."""

    def __init__(self) -> None:
        self._receivers: list[Callable[P, None]] = []

    def connect(self, receiver: Callable[P, None]) -> None:
        """Add a receiver. It is called once per signal, however often it is connected."""
        if receiver not in self._receivers:
            self._receivers.append(receiver)

    def disconnect(self, receiver: Callable[P, None]) -> None:
        """Remove a receiver."""
        self._receivers.remove(receiver)

    def send(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Call every receiver. The first exception is propagated, and later receivers are not called."""
        for receiver in self._receivers:
            receiver(*args, **kwargs)
