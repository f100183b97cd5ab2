"""Bulk loading of customer contacts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from uuid import UUID

from conversations.common.consents import OPT_INS, withdrawn_at
from conversations.common.contacts import FIELDS, contact_from_fields
from conversations.models import Persona, PersonaField
from conversations.models.persona import Strength
from projects.common.translation import lazy
from tools.engine.execution.consent import BOUND_TO
from tools.engine.execution.handler import Contact

UNNAMED = lazy("Unnamed customer")


def contacts_of(personas: Collection[UUID | None]) -> Mapping[UUID, Contact]:
    """Contacts by persona id, with the refusals at their addresses, in three queries. Deleted personas are left out."""
    wanted = {persona for persona in personas if persona is not None}
    if not wanted:
        return {}
    projects = dict(Persona.objects.filter(pk__in=wanted).values_list("pk", "project_id"))
    known: dict[UUID, dict[str, str]] = {persona: {} for persona in projects}
    given: dict[UUID, dict[str, str]] = {persona: {} for persona in projects}
    for row in PersonaField.objects.filter(persona_id__in=known, key__in=(*FIELDS, *OPT_INS)):
        known[row.persona_id][row.key] = row.value
        if row.strength == Strength.GIVEN:
            given[row.persona_id][row.key] = row.value
    contacts = {
        persona: contact_from_fields(persona, fields, given=given[persona]) for persona, fields in known.items()
    }
    addresses = {one.address(by) for one in contacts.values() for by in set(BOUND_TO.values())} - {""}
    withdrawn = withdrawn_at(set(projects.values()), addresses) if addresses else set()
    return {persona: _with_refusals(contact, withdrawn) for persona, contact in contacts.items()}


def _with_refusals(contact: Contact, withdrawn: Collection[tuple[str, str]]) -> Contact:
    found = {consent for consent, by in BOUND_TO.items() if (consent, contact.address(by)) in withdrawn}
    return replace(contact, refused=contact.refused | found)


def name_of(contact: Contact | None) -> str:
    """Display name of a customer, or an empty string if there is none."""
    if contact is None:
        return ""
    return contact.name or contact.phone or contact.email or UNNAMED
