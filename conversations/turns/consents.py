"""Changes of consents: a withdrawal always wins, and giving again takes the customer's own words, staff or the API.

A withdrawal also ends the promises of messages that were never sent, because nobody wants them any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast
from uuid import UUID

from django.db.models import Q

from conversations.common.consents import GIVEN, OPT_INS, WITHDRAWN, consent_of
from conversations.common.contacts import contact_from_fields
from conversations.context.transcript import TranscriptMessage
from conversations.models import (
    ConsentChange,
    ConsentSource,
    Conversation,
    Message,
    MessageRole,
    Persona,
    PersonaField,
    Turn,
)
from conversations.prompts.observer import Confidence, ObservedFact
from tenancy.prepared_queries import PreparedValues
from tenancy.write_batch import insert_rows
from tools.engine.execution.consent import BOUND_TO, is_refused, refusal_reason
from tools.engine.execution.handler import Consent, Contact
from tools.engine.policy import policy_of
from tools.engine.promises import close_promise
from tools.engine.quotes import contains_words, is_quote_of
from tools.models import EffectState, Evidence, Promise, PromiseState

CONTACT_FIELDS = frozenset(BOUND_TO.values())
NOT_OWN_WORDS = "The customer withdrew it. Only their own words since then, staff or the API give it again."
SAID_BEFORE = "The customer said it before, and has agreed again since."


@dataclass(frozen=True)
class Consented:
    """A consent that was given or withdrawn, and where."""

    opt_in: str
    is_given: bool
    source: ConsentSource
    quote: str = ""
    conversation_id: UUID | None = None
    message_id: UUID | None = None


class NotConsented(ValueError):
    """The reading changes no consent."""


def read_consent(
    fact: ObservedFact, known: PersonaField | None, *, turn: Turn, transcript: Sequence[TranscriptMessage]
) -> Message | None:
    """The customer's newest message that says it outright, or None. Raises NotConsented.

    A message withdraws a consent once. It gives one again only if it is newer than the withdrawal.
    """
    is_given, present = fact.value.strip().lower() == GIVEN, known.value if known else ""
    is_stated = fact.confidence is Confidence.STATED
    message = _quoted_message(fact.quote, turn, transcript, is_strict=is_given) if is_stated else None
    if known is None or is_given == (present == GIVEN):
        return message
    if is_given and (message is None or not _is_newer(message, known)):
        raise NotConsented(NOT_OWN_WORDS)
    if not is_given and message is not None and _has_withdrawn(message, known):
        raise NotConsented(SAID_BEFORE)
    return message


def observed_consents(
    persona_id: UUID, fields: Mapping[str, PersonaField], observed: Iterable[Consented], *, turn: Turn, moved: bool
) -> list[ConsentChange]:
    """The unstored changes of one observation. `fields` are those after it; `moved` is True if the customer's number or
    address is new, to which their refusals then apply.
    """
    values = {key: field.value for key, field in fields.items()}
    project_id = turn.conversation.project_id
    rows = _changes(persona_id, project_id, values, observed)
    if moved:
        told = {consent_of(one.opt_in) for one in observed}
        rows += [row for row in _bound(persona_id, project_id, values) if row.kind not in told]
    return rows


def record_given(persona: Persona, fields: Mapping[str, str], *, source: ConsentSource) -> None:
    """Record the consents among the fields that staff or the API has set. Runs in their transaction."""
    opt_ins = [key for key in OPT_INS if fields.get(key) in (GIVEN, WITHDRAWN)]
    given = [Consented(key, fields[key] == GIVEN, source) for key in opt_ins]
    if given:
        _record(_changes(persona.pk, persona.project_id, _known(persona), given))
    if not CONTACT_FIELDS.isdisjoint(fields):
        bind_refusals(persona)


def bind_refusals(persona: Persona) -> None:
    """Apply the customer's refusals to the number and address that they have by now."""
    _record(_bound(persona.pk, persona.project_id, _known(persona)))


def withdraw_refused_promises(persona: Persona) -> None:
    """Withdraw what the customer's conversations promise and the customer, or their number or address, has refused.

    For conversations that come to a customer later than the refusal.
    """
    values = _known(persona)
    contact = contact_from_fields(persona.pk, values)
    refused = [Consented(key, False, ConsentSource.CUSTOMER) for key in OPT_INS if _is_refused(key, persona, contact)]
    withdraw_unwanted_promises(_row(persona.pk, persona.project_id, values, one) for one in refused)


def _is_refused(opt_in: str, persona: Persona, contact: Contact) -> bool:
    return is_refused(cast(Consent, consent_of(opt_in)), project_id=persona.project_id, contact=contact)


def withdraw_unwanted_promises(changes: Iterable[ConsentChange]) -> None:
    """Withdraw the promises of messages in the outbox, to the customer or the recipient of a withdrawn consent."""
    for change in changes:
        if change.is_given:
            continue
        conversations = Conversation.objects.filter(persona_id=change.persona_id)
        is_theirs = Q(conversation_id__in=conversations.values("pk"))
        if change.recipient:
            is_theirs |= Q(effect__recipient=change.recipient)
        unsent = Promise.objects.filter(
            is_theirs,
            project_id=change.project_id,
            state=PromiseState.OPEN,
            evidence=Evidence.OUTBOX,
            effect__state=EffectState.DONE,
        )
        consent = cast(Consent, change.kind)
        for promise_id, kind in unsent.values_list("pk", "effect__kind"):
            if policy_of(kind).consent == consent:
                close_promise(promise_id, state=PromiseState.WITHDRAWN, reason=refusal_reason(consent))


def _record(changes: Sequence[ConsentChange]) -> None:
    insert_rows(changes)
    withdraw_unwanted_promises(changes)


# Every call that rings reads these.
_KNOWN = PreparedValues(
    lambda persona: PersonaField.objects.filter(
        persona_id=persona, conversation=None, key__in=(*OPT_INS, *CONTACT_FIELDS)
    ).values_list("key", "value"),
    kinds=(UUID,),
)


def _known(persona: Persona) -> dict[str, str]:
    return dict(_KNOWN(persona.pk))


def _changes(
    persona_id: UUID, project_id: UUID, values: Mapping[str, str], consented: Iterable[Consented]
) -> list[ConsentChange]:
    """A change for each consent that the history doesn't say already, of this customer at this recipient."""
    rows = (_row(persona_id, project_id, values, one) for one in consented)
    return [row for row in rows if not _says(_newest(row), row)]


def _bound(persona_id: UUID, project_id: UUID, values: Mapping[str, str]) -> list[ConsentChange]:
    """The customer's refusals, repeated for a number or address that no refusal names yet."""
    rows = list[ConsentChange]()
    for opt_in in OPT_INS:
        if values.get(opt_in) != WITHDRAWN:
            continue
        earlier = ConsentChange.objects.filter(persona_id=persona_id, kind=consent_of(opt_in), is_given=False).first()
        said = (
            Consented(
                opt_in, False, ConsentSource(earlier.source), earlier.quote, earlier.conversation_id, earlier.message_id
            )
            if earlier
            else Consented(opt_in, False, ConsentSource.CUSTOMER)
        )
        row = _row(persona_id, project_id, values, said)
        if row.recipient and not (earlier and earlier.recipient == row.recipient):
            rows.append(row)
    return rows


def _row(persona_id: UUID, project_id: UUID, values: Mapping[str, str], one: Consented) -> ConsentChange:
    consent = cast(Consent, consent_of(one.opt_in))
    return ConsentChange(
        persona_id=persona_id,
        project_id=project_id,
        kind=consent,
        is_given=one.is_given,
        quote=one.quote,
        source=one.source,
        conversation_id=one.conversation_id,
        message_id=one.message_id,
        recipient=contact_from_fields(persona_id, values).address(BOUND_TO[consent]),
    )


def _newest(row: ConsentChange) -> ConsentChange | None:
    """The newest change of the same consent, of this customer or at this recipient."""
    is_same = Q(persona_id=row.persona_id) | (Q(recipient=row.recipient) & ~Q(recipient=""))
    return ConsentChange.objects.filter(is_same, project_id=row.project_id, kind=row.kind).first()


def _says(newest: ConsentChange | None, row: ConsentChange) -> bool:
    said = newest and (newest.persona_id, newest.is_given, newest.recipient)
    return said == (row.persona_id, row.is_given, row.recipient)


def _has_withdrawn(message: Message, known: PersonaField) -> bool:
    """True if the message withdrew the consent already."""
    changes = ConsentChange.objects.filter(persona_id=known.persona_id, kind=consent_of(known.key), is_given=False)
    return changes.filter(message_id=message.pk).exists()


def _is_newer(message: Message, known: PersonaField) -> bool:
    """True if the message was written after the words, or else the moment, of a field's present value."""
    said = Message.objects.filter(pk=known.message_id).first() if known.message_id else None
    since: datetime | None = said.created_at if said else known.updated_at
    return since is not None and message.created_at > since


def _quoted_message(
    quote: str, turn: Turn, transcript: Sequence[TranscriptMessage], *, is_strict: bool
) -> Message | None:
    """The customer's newest message that contains the quote; with `is_strict`, a mere word in passing is no evidence."""
    stands_in = is_quote_of if is_strict else contains_words
    own: Message | None = turn.message
    if own is not None and stands_in(quote, own.content):
        return own
    for line in reversed(transcript):
        if line.role == MessageRole.USER and stands_in(quote, line.content):
            return Message.objects.get(conversation_id=turn.conversation_id, seq=line.seq)
    return None
