"""Who a customer is, for tools that reach them: a higher floor's rows, read through what it registers when the apps are ready."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from tools.engine.execution.handler import Contact

# Inside a tenant's transaction; None for a persona that is gone.
ContactReader = Callable[[UUID], Contact | None]

_readers: list[ContactReader] = []


def read_contacts_by(reader: ContactReader) -> None:
    """Make the one reader known. Called once, when the apps are ready."""
    _readers[:] = [reader]


def contact_of(persona_id: UUID | None) -> Contact | None:
    """The customer as they are known now, inside the running transaction; None without a persona."""
    return _readers[0](persona_id) if persona_id is not None else None
