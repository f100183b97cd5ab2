"""Customer fields from the observer's readings: validated, normalized, ranked by strength."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from uuid import UUID

from django.db.models import Q

from conversations.common.consents import GIVEN, OPT_INS, WITHDRAWN
from conversations.common.queries import fields_in_scope
from conversations.context.transcript import TranscriptMessage
from conversations.models import ConsentSource, Message, MessageRole, PersonaField, Turn, TurnStatus
from conversations.models.persona import Strength
from conversations.prompts.observer import Confidence, ObservedFact
from conversations.turns.consents import (
    CONTACT_FIELDS,
    Consented,
    NotConsented,
    observed_consents,
    read_consent,
    withdraw_unwanted_promises,
)
from conversations.turns.contact_changes import ASK_BACK, ask_back, confirmed_contacts, is_contact_change
from conversations.turns.fact_evidence import own_words, why_unfounded
from conversations.turns.field_values import MAX_VALUE, RefusedValue, normalize
from projects.models.agent_config import AgentConfig
from tenancy.prepared_queries import PreparedQuery
from tenancy.write_batch import WriteBatch
from tools.engine.quotes import contains_words

CHANGED = ("value", "strength", "quote", "turn_id", "message_id", "updated_at")
# A customer who asked for a language may use another by chance. This many turns in a row change it.
TURNS_TO_CHANGE = 3
LANGUAGE_REQUESTED = "The customer asked for {value}. Three messages in a row in another language change it."
MAX_REFUSED = 80
# Strength of a field before its first reading.
UNREAD = 0
MAX_REASON = 300


@dataclass(frozen=True)
class FieldChange:
    """A field whose known value the customer replaced."""

    key: str
    before: str
    after: str


@dataclass(frozen=True)
class StoredFacts:
    """The result of storing one observation: the fields written, those that had another value before, and the facts
    refused with the reason.
    """

    written: list[PersonaField]
    changes: list[FieldChange]
    refused: list[tuple[ObservedFact, str]]


LOCKED_FIELDS = PreparedQuery(
    lambda persona, conversation: PersonaField.objects.select_for_update().filter(
        Q(conversation=None) | Q(conversation_id=conversation), persona_id=persona
    ),
    kinds=(UUID, UUID),
)


def store_facts(
    persona_id: UUID,
    facts: Sequence[ObservedFact],
    *,
    config: AgentConfig,
    turn: Turn,
    transcript: Sequence[TranscriptMessage],
    writes: WriteBatch,
    has_unconfirmed: bool = False,
) -> StoredFacts:
    """Add valid facts to the write batch. A weaker reading never replaces a stronger one. Locks the customer's fields.

    The customer's own words change a consent regardless of what was known. The change is recorded in its history.
    A field of the scope `conversation` is stored with the turn's conversation, and compared with its values alone. A
    fact needs the customer's own words (`fact_evidence`), and a new number or address their confirmation
    (`contact_changes`). `transcript` is the text the facts were read from: the turn's exchange and the messages before
    it. With `has_unconfirmed`, the exchange may confirm a value that no fact repeats.
    """
    rows = LOCKED_FIELDS(persona_id, turn.conversation_id) if facts or has_unconfirmed else []
    before = {field.key: field.value for field in fields_in_scope(rows, config)}
    own = config.conversation_fields
    current = {field.key: field for field in rows if (field.conversation_id is not None) == (field.key in own)}
    confirmed = confirmed_contacts(current, transcript)
    repeated = {fact.field for fact in confirmed}
    storing = _Storing(persona_id, config, turn, transcript, current=current, confirmed=confirmed)
    for fact in [*confirmed, *(fact for fact in facts if fact.field not in repeated)]:
        storing.add(fact)
    storing.send(writes)
    return StoredFacts(list(storing.written.values()), _changes(before, storing.written), storing.refused)


@dataclass
class _Storing:
    """The facts of one observation on their way into the customer's current fields. `confirmed` were read by code."""

    persona_id: UUID
    config: AgentConfig
    turn: Turn
    transcript: Sequence[TranscriptMessage]
    current: dict[str, PersonaField] = field(kw_only=True)
    confirmed: Sequence[ObservedFact] = field(kw_only=True)
    written: dict[str, PersonaField] = field(default_factory=dict)
    refused: list[tuple[ObservedFact, str]] = field(default_factory=list)
    consented: list[Consented] = field(default_factory=list)

    @cached_property
    def said(self) -> list[str]:
        return own_words(self.turn, self.transcript)

    def add(self, fact: ObservedFact) -> None:
        """Write the fact into its field, or refuse it with the reason."""
        known = self.current.get(fact.field)
        try:
            value, message = self._checked(fact, known)
        except (RefusedValue, NotConsented) as error:
            self.refused.append((fact, str(error)))
            return
        if known is not None and fact not in self.confirmed and is_contact_change(known, fact.field, value):
            self._keep(ask_back(self.current, self.persona_id, fact, value, turn=self.turn))
            self.refused.append((fact, ASK_BACK.format(value=known.value)))
        else:
            self._write(fact, known, value, message=message)

    def send(self, writes: WriteBatch) -> None:
        """Add the written fields and the history of consents to the batch."""
        for row in self.written.values():
            if not row._state.adding:
                writes.update(row, CHANGED)
        writes.insert([row for row in self.written.values() if row._state.adding])
        moved = not CONTACT_FIELDS.isdisjoint(self.written)
        if self.consented or moved:
            consents = observed_consents(self.persona_id, self.current, self.consented, turn=self.turn, moved=moved)
            writes.insert(consents)
            withdraw_unwanted_promises(consents)

    def _checked(self, fact: ObservedFact, known: PersonaField | None) -> tuple[str, Message | None]:
        """The value to store, and the message that gives a consent. Raises RefusedValue or NotConsented."""
        value = normalize(fact, config=self.config)
        said = None if fact in self.confirmed else self.said
        _check_words(fact, known, value, turn=self.turn, said=said)
        if fact.field not in OPT_INS:
            return value, None
        return value, read_consent(fact, known, turn=self.turn, transcript=self.transcript)

    def _write(self, fact: ObservedFact, known: PersonaField | None, value: str, *, message: Message | None) -> None:
        current = known or _new_field(self.persona_id, fact, self.turn, self.config)
        row = _changed(current, fact, value, turn=self.turn, is_certain=message is not None)
        if row is not None:
            row.message_id = message.pk if message else _source(fact.quote, self.turn, self.transcript)
            self._keep(row)
        is_withdrawn = row is not None and fact.field in OPT_INS and value == WITHDRAWN
        if message is not None or is_withdrawn:
            self.consented.append(_consented(fact, value, self.turn, message))

    def _keep(self, row: PersonaField) -> None:
        self.current[row.key] = self.written[row.key] = row


def _check_words(
    fact: ObservedFact, known: PersonaField | None, value: str, *, turn: Turn, said: Sequence[str] | None
) -> None:
    """Raise RefusedValue for a fact that isn't in the words `said`, None if code read it there, or a chance language."""
    if said is not None and (reason := why_unfounded(fact, value, said)):
        raise RefusedValue(reason)
    if known is not None and _is_other_language(known, fact, value):
        if not _was_written_recently(value, turn):
            raise RefusedValue(LANGUAGE_REQUESTED.format(value=known.value))
        known.strength = Strength.INFERRED


def _changes(before: Mapping[str, str], written: Mapping[str, PersonaField]) -> list[FieldChange]:
    """The fields that had another value, apart from its capitals."""
    return [
        FieldChange(key, before[key], field.value)
        for key, field in written.items()
        if key in before and before[key].casefold() != field.value.casefold()
    ]


def refused_fact(fact: ObservedFact, reason: str) -> dict[str, str]:
    """A refused fact as stored on its turn: shortened, and without unprintable characters."""
    return {"field": _shown(fact.field), "value": _shown(fact.value), "reason": _shown(reason, longest=MAX_REASON)}


def _shown(text: str, *, longest: int = MAX_REFUSED) -> str:
    return "".join(one if one.isprintable() else "�" for one in text[:longest])


def _new_field(persona_id: UUID, fact: ObservedFact, turn: Turn, config: AgentConfig) -> PersonaField:
    conversation_id = turn.conversation_id if fact.field in config.conversation_fields else None
    return PersonaField(persona_id=persona_id, conversation_id=conversation_id, key=fact.field, strength=UNREAD)


def _changed(
    field: PersonaField, fact: ObservedFact, value: str, *, turn: Turn, is_certain: bool
) -> PersonaField | None:
    """The field updated with the fact, or None if it stays the same. With `is_certain`, the fact replaces any other
    value.
    """
    strength = Strength.STATED if fact.confidence is Confidence.STATED else Strength.INFERRED
    if _stands(field, value, strength, is_certain=is_certain):
        return None
    field.value, field.strength, field.quote = value, strength, fact.quote[:MAX_VALUE]
    field.turn_id = turn.pk
    return field


def _stands(field: PersonaField, value: str, strength: Strength, *, is_certain: bool) -> bool:
    """True if a reading leaves the field as it is."""
    if field.value == value:
        return field.strength >= strength
    return field.strength > strength and not is_certain


def _consented(fact: ObservedFact, value: str, turn: Turn, message: Message | None) -> Consented:
    return Consented(
        fact.field,
        value == GIVEN,
        ConsentSource.CUSTOMER,
        quote=fact.quote[:MAX_VALUE],
        conversation_id=turn.conversation_id,
        message_id=message.pk if message else turn.message_id,
    )


def _is_other_language(known: PersonaField, fact: ObservedFact, value: str) -> bool:
    """Return True if the customer asked for one language but now writes in another."""
    is_weaker = known.strength == Strength.STATED and fact.confidence is Confidence.INFERRED
    return fact.field == "language" and is_weaker and known.value != value


def _was_written_recently(language: str, turn: Turn) -> bool:
    """Return True if the customer's previous turns were in this language too; each of them was refused with its turn."""
    answered = Turn.objects.filter(conversation_id=turn.conversation_id, seq__lt=turn.seq, status=TurnStatus.DONE)
    recent = answered.exclude(message=None).order_by("-seq").values_list("refused", flat=True)[: TURNS_TO_CHANGE - 1]
    matches = [any(_is_reading_of(language, one) for one in refused) for refused in recent]
    return len(matches) == TURNS_TO_CHANGE - 1 and all(matches)


def _is_reading_of(language: str, refused: Mapping[str, str]) -> bool:
    return refused["field"] == "language" and refused["value"].strip().lower() == language


def _source(quote: str, turn: Turn, transcript: Sequence[TranscriptMessage]) -> UUID | None:
    """The message that contains the quote, which may belong to a superseded turn. Defaults to the turn's own message."""
    if not quote or (turn.message is not None and contains_words(quote, turn.message.content)):
        return turn.message_id
    found = next(
        (
            message.seq
            for message in reversed(transcript)
            if message.role == MessageRole.USER and contains_words(quote, message.content)
        ),
        None,
    )
    if found is None:
        return turn.message_id
    return Message.objects.get(conversation_id=turn.conversation_id, seq=found).pk
