"""Customer facts for display, each with its source message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.utils.translation import gettext

from console.timestamps import Timestamp, format_timestamp
from conversations.common.consents import consent_history
from conversations.common.field_labels import LABELS, field_label, field_value
from conversations.common.queries import read_fields
from conversations.models import ConsentSource, Conversation, Message, PersonaField
from conversations.models.persona import Strength
from projects.common.translation import lazy
from tenancy.prepared_queries import PreparedQuery, PreparedValues

FIRST = tuple(LABELS)
SOURCES: Mapping[ConsentSource, str] = {
    ConsentSource.CUSTOMER: lazy("said by the customer"),
    ConsentSource.STAFF: lazy("set by your team"),
    ConsentSource.API: lazy("set through the API"),
    ConsentSource.CHANNEL: lazy("set on the channel"),
}


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
    fields.sort(key=_order)
    sources = tuple(field.message_id for field in fields if field.message_id)
    numbers = dict(_NUMBERS(conversation.pk, sources)) if sources else {}
    return [_fact(field, numbers) for field in fields]


_NUMBERS = PreparedValues(
    lambda conversation, ids: Message.objects.filter(pk__any=ids, conversation_id=conversation).values_list(
        "pk", "seq"
    ),
    kinds=(UUID, tuple),
)


@dataclass(frozen=True)
class KnownFact:
    """A fact about a customer. `conversation_id` is the conversation of its source message."""

    label: str
    value: str
    quote: str
    source: str
    conversation_id: UUID | None


def facts_about(persona_id: UUID) -> list[KnownFact]:
    """All facts about a customer that aren't of one conversation, common fields first."""
    fields = _FIELDS(persona_id)
    fields.sort(key=_order)
    sources = tuple(field.message_id for field in fields if field.message_id)
    spoken = dict(_CONVERSATIONS(sources)) if sources else {}
    return [
        KnownFact(
            label=field_label(field.key),
            value=field_value(field.key, field.value),
            quote=field.quote,
            source=gettext("set by your team or the API") if field.strength == Strength.GIVEN else "",
            conversation_id=spoken.get(field.message_id) if field.message_id else None,
        )
        for field in fields
    ]


_FIELDS = PreparedQuery(
    lambda persona: PersonaField.objects.filter(persona_id=persona, conversation=None), kinds=(UUID,)
)
_CONVERSATIONS = PreparedValues(
    lambda ids: Message.objects.filter(pk__any=ids).values_list("pk", "conversation_id"), kinds=(tuple,)
)


@dataclass(frozen=True)
class ConsentLine:
    """A consent that was given or withdrawn, for display."""

    label: str
    words: str
    quote: str
    source: str
    at: Timestamp


def consents_of(persona_id: UUID, *, zone: str) -> list[ConsentLine]:
    """The history of a customer's consents, newest first."""
    return [
        ConsentLine(
            label=change.get_kind_display(),
            words=gettext("Agreed") if change.is_given else gettext("Refused"),
            quote=change.quote,
            source="" if change.quote else SOURCES[ConsentSource(change.source)],
            at=format_timestamp(change.created_at, zone=zone),
        )
        for change in consent_history(persona_id)
    ]


def _order(field: PersonaField) -> tuple[int, str]:
    return (FIRST.index(field.key) if field.key in FIRST else len(FIRST), field.key)


def _fact(field: PersonaField, numbers: Mapping[UUID, int]) -> Fact:
    number = numbers.get(field.message_id) if field.message_id else None
    return Fact(
        label=field_label(field.key),
        value=field_value(field.key, field.value),
        quote=field.quote,
        source=_source(field, is_here=number is not None),
        message=number,
        message_id=field.message_id if number is not None else None,
    )


def _source(field: PersonaField, *, is_here: bool) -> str:
    if field.strength == Strength.GIVEN:
        return gettext("set by your team or the API")
    if is_here:
        return ""
    return gettext("from an earlier conversation") if field.message_id else ""
