"""Whose transaction the next one is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from uuid import UUID

# A statement that is prepared may be planned for each of its first runs anew, to see whether its values matter. Where all of
# them find their rows by keys they don't, and those plans would take longer than the statements.
PLANS_ONCE = "; set local plan_cache_mode = force_generic_plan"


@dataclass(frozen=True)
class _Beginning:
    """The tenant of the next transaction, and whether its statements are planned once."""

    organization_id: UUID
    plans_once: bool


_next: ContextVar[_Beginning | None] = ContextVar("beginning", default=None)


@contextmanager
def beginning_as(organization_id: UUID, *, plans_once: bool = False) -> Iterator[None]:
    """A transaction that begins inside is this organization's from its first statement on."""
    token = _next.set(_Beginning(organization_id, plans_once))
    try:
        yield
    finally:
        _next.reset(token)


def begin_statement() -> str:
    """What begins a transaction, as one text: its steps reach the server together."""
    beginning = _next.get()
    if beginning is None:
        return "begin"
    tenant = f"begin; set local app.organization_id = '{beginning.organization_id}'"
    return tenant + PLANS_ONCE if beginning.plans_once else tenant
