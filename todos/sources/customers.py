"""Whose conversation a todo is about: a higher floor's rows, asked through what it registers when the apps are ready."""

from __future__ import annotations

from typing import Protocol
from uuid import UUID

from projects.models import Project


class CustomerFinder(Protocol):
    """Finds the customer that a conversation, a persona, or both are about; inside the tenant's transaction."""

    def __call__(self, project: Project, *, conversation_id: UUID | None, persona_id: UUID | None) -> UUID | None:
        """The persona's id, None when nothing is asked about. Raises ApiError for what the project doesn't have."""


_finders: list[CustomerFinder] = []


def find_customers_by(finder: CustomerFinder) -> None:
    """Make the one finder known. Called once, when the apps are ready."""
    _finders[:] = [finder]


def customer_of(project: Project, *, conversation_id: UUID | None, persona_id: UUID | None) -> UUID | None:
    """The customer that a todo is about. Raises ApiError for a conversation or persona that the project doesn't have."""
    return _finders[0](project, conversation_id=conversation_id, persona_id=persona_id)
