"""Contact fields in the todo form: the customer's address or number that the todo's tools write to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast
from uuid import UUID

from console.agent.form_fields import FormField, FormFields
from console.todos.contacts import name_of
from conversations.common.contacts import read_contact
from conversations.handover.requests import parse_lead
from conversations.models import ConsentSource, Persona
from conversations.turns.services import give_fields
from projects.common.api_error import ApiError
from projects.common.translation import lazy
from projects.models import AgentVersion, Project
from projects.models.agent_config import AgentConfig
from todos.content.deliverability import needs_contact
from tools.engine.catalogue import CompiledTool

CONTACT = "contact."
# Message kind: the customer field it is sent to, and the field's label.
CONTACT_FIELDS = {"email": ("email", lazy("E-mail address")), "sms": ("phone", lazy("Phone number"))}
HINT = lazy("Saved with the customer’s details.")


@dataclass(frozen=True)
class ContactField:
    """A form field for one of the customer's contact details."""

    box: FormField
    label: str
    hint: str


def contact_fields(
    persona_id: UUID | None, tools: Iterable[CompiledTool], typed: Mapping[str, str], boxes: FormFields
) -> list[ContactField]:
    """A field for each contact detail the tools need, with the submitted value or else the stored one."""
    contact = read_contact(persona_id) if persona_id else None
    if contact is None:
        return []
    wanted = {CONTACT_FIELDS[tool.kind] for tool in tools if needs_contact(tool)}
    return [
        ContactField(
            boxes.field(f"{CONTACT}{field}", typed.get(field, getattr(contact, field))),
            f"{label} of {name_of(contact)}",
            HINT,
        )
        for field, label in sorted(wanted)
    ]


def save_contact(project: Project, persona_id: UUID | None, typed: Mapping[str, str]) -> bool:
    """Store submitted contact details that differ from the known ones, as given by staff.

    Return True if anything changed. Raises ApiError that names the form field.
    """
    persona = Persona.objects.filter(project=project, pk=persona_id).first() if typed and persona_id else None
    known = read_contact(persona.pk) if persona else None
    wanted = {
        field: typed[field]
        for field, _ in CONTACT_FIELDS.values()
        if typed.get(field) and known and typed[field] != getattr(known, field)
    }
    if persona is None or not wanted:
        return False
    try:
        given = parse_lead(wanted, config=_config_of(project))
    except ApiError as error:
        raise ApiError(error.code, error.message, field=(error.field or "").replace("lead.", CONTACT)) from error
    give_fields(persona, given, source=ConsentSource.STAFF)
    return True


def _config_of(project: Project) -> AgentConfig:
    return cast(AgentVersion, project.agent_version).config
