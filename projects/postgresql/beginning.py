"""Whose transaction the next one is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import UUID

_tenant: ContextVar[UUID | None] = ContextVar("beginning_tenant", default=None)


@contextmanager
def beginning_as(organization_id: UUID) -> Iterator[None]:
    """A transaction that begins inside is this organization's from its first statement on."""
    token = _tenant.set(organization_id)
    try:
        yield
    finally:
        _tenant.reset(token)


def begin_statement() -> str:
    """What begins a transaction, as one text: the two steps reach the server together."""
    organization_id = _tenant.get()
    return "begin" if organization_id is None else f"begin; set local app.organization_id = '{organization_id}'"
