"""Customer lookups registered as hooks for the lower rooms: a conversation's customer and their contact details."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args
from uuid import UUID

from django.utils.translation import gettext

from conversations.common.consents import OPT_IN, WITHDRAWN
from conversations.common.merged import find_persona, lock_customer
from conversations.models import Conversation, Persona
from conversations.models.persona import Strength
from projects.common.api_error import Unprocessable
from projects.models import Project
from tenancy.prepared_queries import PreparedValues
from tools.engine.execution.handler import Consent, Contact

FIELDS = ("name", "phone", "email", "language")

# One row per known field; a persona without fields yields a single row of nulls.
KNOWN = PreparedValues(
    lambda persona: Persona.objects.filter(pk=persona).values_list(
        "fields__key", "fields__value", "fields__strength", "merged_into_id"
    ),
    kinds=(UUID,),
)


def read_contact(persona_id: UUID | None) -> Contact | None:
    """The contact of a persona, or of the one it was merged into; None if there is no persona or it was deleted.

    Runs in the tenant's transaction.
    """
    if persona_id is None or not (rows := KNOWN(persona_id)):
        return None
    if (merged_into := rows[0][3]) is not None:
        return read_contact(merged_into)
    given = {key: value for key, value, strength, _ in rows if strength == Strength.GIVEN}
    return contact_from_fields(persona_id, {key: value for key, value, *_ in rows if key is not None}, given=given)


def contact_from_fields(
    persona_id: UUID, fields: Mapping[str, str], *, given: Mapping[str, str] | None = None
) -> Contact:
    """Build a contact from a persona's fields. `given` are those that staff or the API set."""
    refused = frozenset(consent for consent in get_args(Consent) if fields.get(f"{consent}{OPT_IN}") == WITHDRAWN)
    on_file = {f"{name}_on_file": (given or {}).get(name, "") for name in ("phone", "email")}
    return Contact(persona_id=persona_id, refused=refused, **{name: fields.get(name, "") for name in FIELDS}, **on_file)


def flag_customer(persona_id: UUID, reason: str) -> None:
    """Flag a customer for staff. Runs in the tenant's transaction."""
    Persona.objects.filter(pk=lock_customer(persona_id)).update(flagged=True, flag_reason=reason)


def read_shopper(project: Project, persona_id: UUID) -> Mapping[str, Any]:
    """The identity claims from the customer's latest visit as a signed-in shopper; empty if there was none.

    Raises ApiError if the project has no such customer.
    """
    persona = _persona(project, persona_id)
    visits = Conversation.objects.filter(persona=persona, shopper__isnull=False).order_by("-created_at")
    return visits.values_list("shopper", flat=True).first() or {}


def find_customer(project: Project, *, conversation_id: UUID | None, persona_id: UUID | None) -> UUID | None:
    """The customer of the conversation, or else the given one. A merged customer counts as the one they were merged into.

    Raises ApiError if the project has no such conversation or customer.
    """
    if persona_id is not None:
        persona_id = _persona(project, persona_id).pk
    if conversation_id is None:
        return persona_id
    owner = (
        Conversation.objects.filter(project=project, pk=conversation_id).values_list("persona_id", flat=True).first()
    )
    if owner is None:
        raise Unprocessable(
            "invalid_conversation", gettext("conversation: the project has no such conversation."), field="conversation"
        )
    if persona_id not in (None, owner):
        raise Unprocessable(
            "invalid_persona", gettext("persona: the conversation belongs to another customer."), field="persona"
        )
    return owner


def _persona(project: Project, persona_id: UUID) -> Persona:
    """The customer, or the one they were merged into. Raises ApiError if the project has no such customer."""
    persona = find_persona(project.pk, persona_id)
    if persona is None:
        raise Unprocessable("invalid_persona", gettext("persona: the project has no such customer."), field="persona")
    return persona
