"""Customer facts for display, each with its source message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.conf.locale import LANG_INFO

from console.timestamps import Timestamp, format_timestamp
from conversations.common.consents import consent_history
from conversations.common.queries import read_fields
from conversations.models import ConsentSource, Conversation, Message, PersonaField
from conversations.models.persona import Strength

LABELS = {
    "name": "Name",
    "phone": "Phone",
    "email": "E-mail",
    "language": "Language",
    "sms_opt_in": "Texts",
    "email_opt_in": "E-mails",
    "call_opt_in": "Calls",
    "recording_opt_in": "Recordings",
}
FIRST = tuple(LABELS)
SOURCES: Mapping[ConsentSource, str] = {
    ConsentSource.CUSTOMER: "said by the customer",
    ConsentSource.STAFF: "set by staff",
    ConsentSource.API: "set through the API",
    ConsentSource.CHANNEL: "set on the channel",
}
ANSWERS = {"true": "Opted in", "false": "Opted out"}


@dataclass(frozen=True)
class Fact:
    """A customer fact. `message` is the number of its source message if that is in this conversation."""

    label: str
    value: str
    quote: str
    source: str
    message: int | None
    message_id: UUID | None


def facts_of(conversation: Conversation) -> list[Fact]:
    """All facts that hold in the conversation, common fields first."""
    version = conversation.project.agent_version
    fields = read_fields(conversation, version.config) if version else []
    fields.sort(key=lambda field: (FIRST.index(field.key) if field.key in FIRST else len(FIRST), field.key))
    sources = [field.message_id for field in fields if field.message_id]
    messages = Message.objects.filter(pk__in=sources, conversation=conversation)
    numbers = dict(messages.values_list("pk", "seq"))
    return [_fact(field, numbers) for field in fields]


@dataclass(frozen=True)
class ConsentLine:
    """A consent that was given or withdrawn, for display."""

    label: str
    words: str
    quote: str
    source: str
    at: Timestamp


def consents_of(conversation: Conversation, *, zone: str) -> list[ConsentLine]:
    """The history of the customer's consents, newest first."""
    return [
        ConsentLine(
            label=change.get_kind_display(),
            words="Agreed" if change.is_given else "Refused",
            quote=change.quote,
            source="" if change.quote else SOURCES[ConsentSource(change.source)],
            at=format_timestamp(change.created_at, zone=zone),
        )
        for change in consent_history(conversation.persona_id)
    ]


def _fact(field: PersonaField, numbers: Mapping[UUID, int]) -> Fact:
    number = numbers.get(field.message_id) if field.message_id else None
    return Fact(
        label=LABELS.get(field.key) or field.key.replace("_", " ").capitalize(),
        value=_value(field),
        quote=field.quote,
        source=_source(field, is_here=number is not None),
        message=number,
        message_id=field.message_id if number is not None else None,
    )


def _value(field: PersonaField) -> str:
    if field.key.endswith("_opt_in"):
        return ANSWERS.get(field.value, field.value)
    if field.key == "language":
        return str(LANG_INFO.get(field.value, {}).get("name", field.value))
    return field.value


def _source(field: PersonaField, *, is_here: bool) -> str:
    if field.strength == Strength.GIVEN:
        return "set by staff or the API"
    if is_here:
        return ""
    return "from an earlier conversation" if field.message_id else ""
