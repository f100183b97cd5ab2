"""Changes of the number and address that messages go to: the agent asks back, and the customer's own words confirm.

A new value that differs from the present one is stored beside it (`conversations.common.unconfirmed`). It replaces the
present one after the agent has named it and the customer has agreed, or said it again. A “no” drops it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping, Sequence
from uuid import UUID

from conversations.common.unconfirmed import CONTACTS, unconfirmed_key
from conversations.context.transcript import TranscriptMessage
from conversations.models import MessageRole, PersonaField, Turn
from conversations.models.persona import Strength
from conversations.prompts.observer import Confidence, ObservedFact, latest_exchange
from conversations.turns.fact_evidence import is_value_in
from tools.engine.words import plain_words

ASK_BACK = "It would replace {value}. The agent asks the customer whether it is right; until then, the old one stays."
YES = re.compile(
    r"\b(?:yes|yep|yeah|yup|sure|correct|right|exactly|confirmed?|ok|okay|please|ja|genau|stimmt|richtig|korrekt|gerne|si"
    r"|esatto|giusto|corretto|certo|confermo|oui|daccord|exactement|correcto|exacto|claro|sim|correto|exato|tak|evet)\b"
)
NO = re.compile(
    r"\b(?:no|not|nope|dont|isnt|wrong|never|nein|nicht|falsch|non|sbagliato|pas|faux|incorrecto|nao|errado|nie)\b"
)


def is_contact_change(known: PersonaField | None, field: str, value: str) -> bool:
    """True for a reading that would replace a stored number or address of the customer's.

    Values given by staff or the API aren't replaced by readings at all.
    """
    is_stored = known is not None and not known._state.adding and known.strength < Strength.GIVEN
    return is_stored and field in CONTACTS and known is not None and known.value != value


def ask_back(
    current: Mapping[str, PersonaField], persona_id: UUID, fact: ObservedFact, value: str, *, turn: Turn
) -> PersonaField:
    """The field that holds the new value until the customer confirms it."""
    key = unconfirmed_key(fact.field)
    field = current.get(key) or PersonaField(persona_id=persona_id, key=key)
    field.value, field.strength, field.quote = value, Strength.INFERRED, fact.quote[:500]
    field.turn_id, field.message_id = turn.pk, turn.message_id
    return field


def confirmed_contacts(
    current: MutableMapping[str, PersonaField], transcript: Sequence[TranscriptMessage]
) -> list[ObservedFact]:
    """The unconfirmed values that the customer has confirmed in this exchange. Answered ones are deleted, also from
    `current`.
    """
    facts = []
    for name in CONTACTS:
        field = current.get(unconfirmed_key(name))
        answer = _answer_about(name, field.value, transcript) if field is not None else ""
        if field is None or not answer:
            continue
        is_yes = _is_yes(name, field.value, answer)
        if is_yes:
            facts.append(ObservedFact(quote=answer[:500], field=name, value=field.value, confidence=Confidence.STATED))
        if is_yes or _says_no(answer):
            PersonaField.objects.filter(pk=current.pop(field.key).pk).delete()
    return facts


def _answer_about(field: str, value: str, transcript: Sequence[TranscriptMessage]) -> str:
    """The customer's words that follow an agent's message with this value; "" if the agent hasn't named it."""
    latest = latest_exchange(transcript)
    asked = [at for at, one in enumerate(latest) if _is_asking(one) and is_value_in(field, value, one.content)]
    after = latest[asked[-1] + 1 :] if asked else []
    return next((one.content for one in after if one.role == MessageRole.USER), "")


def _is_asking(message: TranscriptMessage) -> bool:
    return message.role in (MessageRole.AGENT, MessageRole.OPERATOR) and "?" in message.content


def _is_yes(field: str, value: str, answer: str) -> bool:
    return not _says_no(answer) and (YES.search(_plain(answer)) is not None or is_value_in(field, value, answer))


def _says_no(answer: str) -> bool:
    return NO.search(_plain(answer)) is not None


def _plain(answer: str) -> str:
    return " ".join(plain_words(re.sub(r"['’]", "", answer)))
