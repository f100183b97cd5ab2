"""The tenant that the running code works for.

What tenants share (threads of look-ups, the health of a model endpoint) is counted for each of them by this name.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import UUID

# The platform's own work
NOBODY = UUID(int=0)

_tenant: ContextVar[UUID] = ContextVar("tenant", default=NOBODY)


def current_tenant() -> UUID:
    """The tenant that this task or thread works for, or NOBODY."""
    return _tenant.get()


@contextmanager
def on_behalf_of(tenant: UUID) -> Iterator[None]:
    """Count what happens inside as this tenant's. Tasks and threads that are started inside inherit it."""
    token = _tenant.set(tenant)
    try:
        yield
    finally:
        _tenant.reset(token)
