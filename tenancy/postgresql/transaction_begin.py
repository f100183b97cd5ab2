"""The statement that begins a transaction and sets its tenant."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from uuid import UUID

# PostgreSQL may plan a prepared statement anew for each of its first runs, to compare plans for different values. If
# every statement finds its rows by keys, the values don't matter, and planning would take longer than running.
GENERIC_PLANS = "; set local plan_cache_mode = force_generic_plan"


@dataclass(frozen=True)
class _NextTransaction:
    """The tenant of the next transaction, and whether to use generic plans."""

    organization_id: UUID
    plans_once: bool


_next: ContextVar[_NextTransaction | None] = ContextVar("beginning", default=None)


@contextmanager
def begin_as(organization_id: UUID, *, plans_once: bool) -> Iterator[None]:
    """Transactions that begin inside belong to this organization from their first statement."""
    token = _next.set(_NextTransaction(organization_id, plans_once))
    try:
        yield
    finally:
        _next.reset(token)


def begin_statement() -> str:
    """The text that begins a transaction. Its steps reach the server in one message."""
    beginning = _next.get()
    if beginning is None:
        return "begin"
    tenant = f"begin; set local app.organization_id = '{beginning.organization_id}'"
    return tenant + GENERIC_PLANS if beginning.plans_once else tenant
