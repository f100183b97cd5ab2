"""Bulk loading of customer contacts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from uuid import UUID

from conversations.common.contacts import FIELDS, contact_from_fields
from conversations.models import Persona, PersonaField
from tools.engine.execution.handler import Contact

UNNAMED = "Unnamed customer"


def contacts_of(personas: Collection[UUID | None]) -> Mapping[UUID, Contact]:
    """Contacts by persona id, in two queries. Deleted personas are left out."""
    wanted = {persona for persona in personas if persona is not None}
    if not wanted:
        return {}
    existing = Persona.objects.filter(pk__in=wanted).values_list("pk", flat=True)
    known: dict[UUID, dict[str, str]] = {persona: {} for persona in existing}
    for row in PersonaField.objects.filter(persona_id__in=known, key__in=FIELDS):
        known[row.persona_id][row.key] = row.value
    return {persona: contact_from_fields(persona, fields) for persona, fields in known.items()}


def name_of(contact: Contact | None) -> str:
    """Display name of a customer, or an empty string if there is none."""
    if contact is None:
        return ""
    return contact.name or contact.phone or contact.email or UNNAMED
