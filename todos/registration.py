"""What the todos add to the floors below, once all models are there."""

from __future__ import annotations


def register() -> None:
    """Nothing yet."""
