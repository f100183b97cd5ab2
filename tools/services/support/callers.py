"""What an agent puts down of a caller for staff (F19): a higher floor's row, written through what it registers."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

# Inside a tenant's transaction: a persona's id and the reason.
Flagger = Callable[[UUID, str], None]

_flaggers: list[Flagger] = []


def flag_callers_by(flagger: Flagger) -> None:
    """Make the one writer known. Called once, when the apps are ready."""
    _flaggers[:] = [flagger]


def flag_caller(persona_id: UUID, reason: str) -> None:
    """Flag a customer for staff, in the running transaction."""
    _flaggers[0](persona_id, reason)
