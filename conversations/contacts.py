"""Customers as the floors below ask for them: whose a conversation is, and the contact that tools reach them by (threat 8)."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from conversations.models import Conversation, Persona, PersonaField
from projects.api.problem import ApiError
from projects.compiled import Compiled, together
from projects.models import Project
from tools.execution.handler import Contact

FIELDS = ("name", "phone", "email", "language")

PERSONAS = Compiled(lambda persona: Persona.objects.filter(pk=persona), kinds=(UUID,))
FIELD_ROWS = Compiled(lambda persona: PersonaField.objects.filter(persona_id=persona), kinds=(UUID,))


def read_contact(persona_id: UUID) -> Contact | None:
    """The contact of a persona inside the tenant's transaction; None for a persona that is gone."""
    with together():
        found, fields = PERSONAS.ask(persona_id), FIELD_ROWS.ask(persona_id)
    if not found():
        return None
    return contact_with(persona_id, {row.key: row.value for row in fields()})


def contact_with(persona_id: UUID, fields: Mapping[str, str]) -> Contact:
    """The contact that a persona's fields make."""
    return Contact(persona_id=persona_id, **{name: fields.get(name, "") for name in FIELDS})


def find_customer(project: Project, *, conversation_id: UUID | None, persona_id: UUID | None) -> UUID | None:
    """The customer of a conversation, or the one that is named. Raises ApiError for what the project doesn't have."""
    if persona_id is not None and not Persona.objects.filter(project=project, pk=persona_id).exists():
        raise ApiError("invalid_persona", "persona: the project has no such customer.", field="persona")
    if conversation_id is None:
        return persona_id
    owner = (
        Conversation.objects.filter(project=project, pk=conversation_id).values_list("persona_id", flat=True).first()
    )
    if owner is None:
        raise ApiError(
            "invalid_conversation", "conversation: the project has no such conversation.", field="conversation"
        )
    if persona_id not in (None, owner):
        raise ApiError("invalid_persona", "persona: the conversation is another customer's.", field="persona")
    return owner
