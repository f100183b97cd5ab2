"""Merged customers: their ids lead to the customer they were merged into."""

from __future__ import annotations

from uuid import UUID

from django.db import connection
from django.db.models import Q, QuerySet

from conversations.models import Persona
from tenancy.prepared_queries import PreparedQuery
from tenancy.scope import current_organization_id

# A key-share lock: a merge waits until the commit, and nothing else does.
LOCK = "select merged_into_id from conversations_persona where organization_id = %s and id = %s for key share"


def lock_customer(persona_id: UUID) -> UUID:
    """The id of the customer that an id leads to after merges. Until the commit they aren't merged into another.

    Call it before writing what belongs to a customer, unless one of their conversations is locked: a merge locks those
    first.
    """
    while (target := _merged_into(persona_id)) is not None:
        persona_id = target
    return persona_id


def lock_persona(persona: Persona) -> Persona:
    """The customer that a row leads to after merges, locked as by `lock_customer`."""
    current = lock_customer(persona.pk)
    return persona if current == persona.pk else Persona.objects.get(pk=current)


def find_persona(project_id: UUID, persona_id: UUID) -> Persona | None:
    """The customer with this id, or the one they were merged into; None if the project has none, or if they are being
    erased.
    """
    found = next(iter(_FOUND(project_id, persona_id)), None)
    return (found.merged_into or found) if found else None


_FOUND = PreparedQuery(
    lambda project, persona: Persona.objects.filter(project_id=project, pk=persona, erased_at=None).select_related(
        "merged_into"
    ),
    kinds=(UUID, UUID),
)


def listed_customers(project_id: UUID) -> QuerySet[Persona]:
    """The project's customers, without those who were merged into another or are being erased."""
    return Persona.objects.filter(project_id=project_id, merged_into=None, erased_at=None)


def with_absorbed(persona_id: UUID) -> Q:
    """The condition for rows of a customer and of those merged into them, for rows that a merge doesn't move."""
    return Q(persona_id=persona_id) | Q(persona__merged_into_id=persona_id)


def _merged_into(persona_id: UUID) -> UUID | None:
    with connection.cursor() as cursor:
        cursor.execute(LOCK, [current_organization_id(), persona_id])
        row = cursor.fetchone()
    return row[0] if row else None
