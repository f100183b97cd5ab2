"""The customers of several todos at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from uuid import UUID

from conversations.common.contacts import FIELDS, contact_from_fields
from conversations.models import Persona, PersonaField
from tools.engine.execution.handler import Contact

UNNAMED = "Unnamed customer"


def contacts_of(personas: Collection[UUID | None]) -> Mapping[UUID, Contact]:
    """What is known of each customer that there is, by the persona. Two queries."""
    wanted = {persona for persona in personas if persona is not None}
    if not wanted:
        return {}
    standing = Persona.objects.filter(pk__in=wanted).values_list("pk", flat=True)
    known: dict[UUID, dict[str, str]] = {persona: {} for persona in standing}
    for row in PersonaField.objects.filter(persona_id__in=known, key__in=FIELDS):
        known[row.persona_id][row.key] = row.value
    return {persona: contact_from_fields(persona, fields) for persona, fields in known.items()}


def name_of(contact: Contact | None) -> str:
    """What to call a customer; empty where there is none."""
    if contact is None:
        return ""
    return contact.name or contact.phone or contact.email or UNNAMED
