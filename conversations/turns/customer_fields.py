"""Turning what the observer read into fields of the customer: checked, normalised, never weaker over stronger (T11)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from conversations.context.transcript import TranscriptMessage
from conversations.models import Message, MessageRole, PersonaField, Turn, TurnStatus
from conversations.models.persona import Strength
from conversations.prompts.observer import Confidence, ObservedFact
from projects.common.phones import InvalidPhone, read_phone
from projects.models.agent_config import AgentConfig
from tenancy.prepared_queries import PreparedQuery
from tenancy.write_batch import WriteBatch

OPT_INS = ("sms_opt_in", "email_opt_in", "call_opt_in")
MAX_VALUE = 500
CHANGED = ("value", "strength", "quote", "turn_id", "message_id", "updated_at")
# Who said outright which language they want may write in another by chance; so many turns of theirs in a row are none.
TURNS_TO_CHANGE = 3
SAID_OUTRIGHT = (
    "The customer said {value} outright, which a word in another language doesn't change; three messages in a row do."
)
MAX_SHOWN = 80
MAX_REASON = 300
# They show a text in another order than it is written in.
REORDERING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class RefusedValue(ValueError):
    """The observed value can't be right for its field."""


@dataclass(frozen=True)
class StoredFacts:
    """What became of one reading: the fields written, and those refused with the reason."""

    written: list[PersonaField]
    refused: list[tuple[ObservedFact, str]]


STANDING = PreparedQuery(
    lambda persona: PersonaField.objects.select_for_update().filter(persona_id=persona), kinds=(UUID,)
)


def keep_facts(
    persona_id: UUID,
    facts: Sequence[ObservedFact],
    *,
    config: AgentConfig,
    turn: Turn,
    said: Sequence[TranscriptMessage],
    writes: WriteBatch,
) -> StoredFacts:
    """Let the facts that hold be written; a weaker reading never replaces a stronger one. Locks the customer's fields.

    `said` is where they were read: the turn's exchange and what came before it.
    """
    standing = {field.key: field for field in STANDING(persona_id)} if facts else {}
    written: dict[str, PersonaField] = {}
    refused = []
    for fact in facts:
        try:
            value = normalise(fact, config=config)
        except RefusedValue as error:
            refused.append((fact, str(error)))
            continue
        known = standing.get(fact.field)
        if known is not None and _is_written_otherwise(known, fact, value):
            if not _is_written_lately(value, turn):
                refused.append((fact, SAID_OUTRIGHT.format(value=known.value)))
                continue
            known.strength = Strength.INFERRED
        if field := _changed(known, persona_id, fact, value, turn=turn):
            field.message_id = _source(fact.quote, turn, said)
            standing[fact.field] = written[fact.field] = field
    new = [field for field in written.values() if field._state.adding]
    for field in written.values():
        if not field._state.adding:
            writes.update(field, CHANGED)
    writes.insert(new)
    return StoredFacts(written=list(written.values()), refused=refused)


def refusal_of(fact: ObservedFact, reason: str) -> dict[str, str]:
    """A refused reading as it is shown: short, and without the characters that it may be refused for."""
    return {"field": _shown(fact.field), "value": _shown(fact.value), "reason": _shown(reason, longest=MAX_REASON)}


def _shown(text: str, *, longest: int = MAX_SHOWN) -> str:
    return "".join(one if one.isprintable() else "�" for one in text[:longest])


def normalise(fact: ObservedFact, *, config: AgentConfig) -> str:
    """The value as it is kept. Raises RefusedValue with what is wrong."""
    value = fact.value.strip()
    if not value or len(value) > MAX_VALUE:
        raise RefusedValue(f"{fact.field} has {len(value)} characters; 1 to {MAX_VALUE} are kept.")
    if holds_controls(value):
        raise RefusedValue(f"{fact.field} contains control characters.")
    own = {field.key for field in config.observer_fields}
    normaliser = NORMALISERS.get(fact.field) or (_text if fact.field in own else None)
    if normaliser is None:
        raise RefusedValue(f"{fact.field} is not a field of this project.")
    return normaliser(value, config)


def holds_controls(text: str) -> bool:
    """Whether a prompt or a page could be bent by it: by a new line, a control character, one that turns the order around."""
    return any(unicodedata.category(one) in {"Cc", "Cs", "Co"} or one in REORDERING for one in text)


def _changed(
    field: PersonaField | None, persona_id: UUID, fact: ObservedFact, value: str, *, turn: Turn
) -> PersonaField | None:
    """The field with the reading in it, or None when it stays as it is."""
    strength = Strength.STATED if fact.confidence is Confidence.STATED else Strength.INFERRED
    if field is not None and (field.strength > strength or (field.strength == strength and field.value == value)):
        return None
    field = field or PersonaField(persona_id=persona_id, key=fact.field)
    field.value, field.strength, field.quote = value, strength, fact.quote[:MAX_VALUE]
    field.turn_id = turn.pk
    return field


def _is_written_otherwise(known: PersonaField, fact: ObservedFact, value: str) -> bool:
    """Whether the customer, who said outright which language they want, now writes in another."""
    is_weaker = known.strength == Strength.STATED and fact.confidence is Confidence.INFERRED
    return fact.field == "language" and is_weaker and known.value != value


def _is_written_lately(language: str, turn: Turn) -> bool:
    """Whether their turns before this one were written in it too: each was refused with its turn."""
    answered = Turn.objects.filter(conversation_id=turn.conversation_id, seq__lt=turn.seq, status=TurnStatus.DONE)
    lately = answered.exclude(message=None).order_by("-seq").values_list("refused", flat=True)[: TURNS_TO_CHANGE - 1]
    found = [any(_is_reading_of(language, one) for one in refused) for refused in lately]
    return len(found) == TURNS_TO_CHANGE - 1 and all(found)


def _is_reading_of(language: str, refused: Mapping[str, str]) -> bool:
    return refused["field"] == "language" and refused["value"].strip().lower() == language


def _source(quote: str, turn: Turn, said: Sequence[TranscriptMessage]) -> UUID | None:
    """The message that holds the words: of a turn that took others over, it may be one of theirs. Else the turn's own."""
    if not quote or (turn.message is not None and quote in turn.message.content):
        return turn.message_id
    found = next((one.seq for one in reversed(said) if one.role == MessageRole.USER and quote in one.content), None)
    if found is None:
        return turn.message_id
    return Message.objects.get(conversation_id=turn.conversation_id, seq=found).pk


def _name(value: str, config: AgentConfig) -> str:
    if len(value) > 80 or not any(character.isalpha() for character in value):
        raise RefusedValue("A name has letters, and at most 80 characters.")
    return value


def _phone(value: str, config: AgentConfig) -> str:
    try:
        return read_phone(value, region=config.region)
    except InvalidPhone as error:
        raise RefusedValue(str(error)) from error


def _email(value: str, config: AgentConfig) -> str:
    try:
        validate_email(value)
    except ValidationError as error:
        raise RefusedValue(f"{value} is not an e-mail address.") from error
    return value.lower()


def _language(value: str, config: AgentConfig) -> str:
    if not re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]+)*", value):
        raise RefusedValue(f"{value} is not a language code like en.")
    return value.lower()


def _opt_in(value: str, config: AgentConfig) -> str:
    if value.lower() not in {"true", "false"}:
        raise RefusedValue(f"An opt-in is true or false, not {value}.")
    return value.lower()


def _text(value: str, config: AgentConfig) -> str:
    return value


NORMALISERS: Mapping[str, Callable[[str, AgentConfig], str]] = {
    "name": _name,
    "phone": _phone,
    "email": _email,
    "language": _language,
    **dict.fromkeys(OPT_INS, _opt_in),
}
