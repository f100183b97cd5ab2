"""How a todo's customer is reached: the address or number that its tools write to, filled in or put right with the todo (L10)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast
from uuid import UUID

from console.agent.form_fields import FormField, FormFields
from console.todos.contacts import name_of
from conversations.common.contacts import read_contact
from conversations.handover.requests import parse_lead
from conversations.models import Persona
from conversations.turns.services import give_fields
from projects.common.api_error import ApiError
from projects.models import AgentVersion, Project
from projects.models.agent_config import AgentConfig
from todos.content.deliverability import needs_contact
from tools.engine.catalogue import CompiledTool

CONTACT = "contact."
# By the kind of letter: the customer's field that it goes to, and what that is called.
REACHED_AT = {"email": ("email", "E-mail address"), "sms": ("phone", "Phone number")}
HINT = "It is kept with the customer, for whatever comes after this."


@dataclass(frozen=True)
class Reach:
    """One way to the customer, by which the todo's tools write to them."""

    box: FormField
    label: str
    hint: str


def reaches_of(
    persona_id: UUID | None, tools: Iterable[CompiledTool], typed: Mapping[str, str], boxes: FormFields
) -> list[Reach]:
    """A field for each address or number of the customer that the tools write to, as it was typed, else as it is known."""
    contact = read_contact(persona_id) if persona_id else None
    if contact is None:
        return []
    wanted = {REACHED_AT[tool.kind] for tool in tools if needs_contact(tool)}
    return [
        Reach(
            boxes.field(f"{CONTACT}{field}", typed.get(field, getattr(contact, field))),
            f"{label} of {name_of(contact)}",
            HINT,
        )
        for field, label in sorted(wanted)
    ]


def give_contact(project: Project, persona_id: UUID | None, typed: Mapping[str, str]) -> bool:
    """Keep what is another than was known, by staff's word. Whether anything is. Raises ApiError that names the field."""
    persona = Persona.objects.filter(project=project, pk=persona_id).first() if typed and persona_id else None
    known = read_contact(persona.pk) if persona else None
    wanted = {
        field: typed[field]
        for field, _ in REACHED_AT.values()
        if typed.get(field) and known and typed[field] != getattr(known, field)
    }
    if persona is None or not wanted:
        return False
    try:
        given = parse_lead(wanted, config=_config_of(project))
    except ApiError as error:
        raise ApiError(error.code, error.message, field=(error.field or "").replace("lead.", CONTACT)) from error
    give_fields(persona, given)
    return True


def _config_of(project: Project) -> AgentConfig:
    return cast(AgentVersion, project.agent_version).config
