"""Agreements with the customer, from rows: bookings, promises, actions and refusals.

A summary or a cut transcript can't lose it. One statement reads all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from conversations.context.transcript import clip
from conversations.models import Conversation, PersonaField
from projects.models.agent_config import AgentConfig
from tenancy.postgresql.prepared import Prepared
from tools.models import PromiseState
from tools.services.bookings.date_words import people
from tools.services.verification.services import METHODS, RECENT

MAX_BYTES = 160
BOOKING, PROMISE, ACTION = "booking", "promise", "action"
REFUSALS = {"call_opt_in": "calls", "email_opt_in": "e-mails", "sms_opt_in": "text messages"}
PROMISE_WORDS = {PromiseState.OPEN: "not kept yet", PromiseState.BROKEN: "not kept"}

# Bookings are the customer's own by their id, never by a number or a name that anybody may claim. Where the project asks
# for verification, only a verified customer's are read, and those made in this conversation. Promises and actions are the
# newest ones; an action that served a promise stands with it.
_READ = Prepared("""
(
    select 'booking', b.starts_at, b.code, b.kind, b.party_size
    from tools_booking b
    where b.organization_id = %s and b.persona_id = %s and b.project_id = %s and b.state = 'confirmed'
        and b.ends_at > statement_timestamp()
        and (
            %s or b.conversation_id = %s or exists (
                select 1 from tools_verification v
                where v.organization_id = b.organization_id and v.persona_id = b.persona_id
                    and v.project_id = b.project_id and v.method = any(string_to_array(%s, ','))
                    and v.verified_at > statement_timestamp() - %s::interval
            )
        )
    order by b.starts_at, b.id limit 3
) union all (
    select 'promise', p.created_at, p.quote, p.state, 0
    from tools_promise p where p.organization_id = %s and p.conversation_id = %s and %s
    order by p.created_at desc, p.id desc limit 8
) union all (
    select 'action', e.created_at, e.tool, e.told, 0
    from tools_effect e
    where e.organization_id = %s and e.conversation_id = %s and %s and e.state = 'done' and e.kind <> ''
        and not exists (
            select 1 from tools_promise p where p.organization_id = e.organization_id and p.effect_id = e.id
        )
    order by e.created_at desc, e.id desc limit 5
)
""")


@dataclass(frozen=True)
class Agreement:
    """A booking with its code and kind, a promise with its words and state, or an action with its tool and result."""

    of: str
    at: datetime
    name: str
    detail: str
    party_size: int


def read_agreements(conversation: Conversation, config: AgentConfig, *, is_long: bool) -> list[Agreement]:
    """The customer's upcoming bookings, and of a long conversation its promises and actions, in order of time."""
    organization, level = conversation.organization_id, config.caller_verification
    rows = _READ(
        *(organization, conversation.persona_id, conversation.project_id),
        *(level == "none", conversation.pk, ",".join(METHODS.get(level, ())), RECENT),
        *(organization, conversation.pk, is_long),
        *(organization, conversation.pk, is_long),
    )
    return sorted((Agreement(*row) for row in rows), key=lambda one: (one.of != BOOKING, one.at, one.of, one.name))


def agreed_lines(
    agreements: Iterable[Agreement], fields: Sequence[PersonaField], config: AgentConfig, *, is_cut: bool
) -> list[str]:
    """The agreements as lines of a prompt. Promises and actions are left out while the transcript has them."""
    told = [one for one in agreements if one.of == BOOKING or is_cut]
    refused = [REFUSALS[field.key] for field in fields if field.key in REFUSALS and field.value == "false"]
    return [
        *(_booking(one, config) for one in told if one.of == BOOKING),
        *(f"The customer wants no {what}" for what in refused),
        *(_line(one) for one in told if one.of != BOOKING),
    ]


def booking_words(agreements: Iterable[Agreement], config: AgentConfig) -> list[str]:
    """Words that name one of the customer's confirmed bookings: its code, its weekday, its day of the month."""
    zone = ZoneInfo(config.timezone)
    booked = [(one.name, one.at.astimezone(zone)) for one in agreements if one.of == BOOKING]
    return [word for code, at in booked for word in (code, f"{at:%A}", f"{at.day} {at:%b}", f"{at:%B} {at.day}")]


def is_named(text: str, words: Iterable[str]) -> bool:
    """True if the text has one of the words, in any case."""
    return any(word.casefold() in text.casefold() for word in words)


def _booking(one: Agreement, config: AgentConfig) -> str:
    at = one.at.astimezone(ZoneInfo(config.timezone))
    return f"Confirmed {one.detail}: {at:%a} {at.day} {at:%b %Y %H:%M}, {people(one.party_size)}, code {one.name}"


def _line(one: Agreement) -> str:
    if one.of == PROMISE:
        state = PROMISE_WORDS.get(PromiseState(one.detail), one.detail)
        return f"You promised “{_short(one.name)}”: {state}"
    return _short(f"Done: {one.name}{f', {one.detail}' if one.detail else ''}")


def _short(text: str) -> str:
    return clip(" ".join(text.split()), longest=MAX_BYTES)
