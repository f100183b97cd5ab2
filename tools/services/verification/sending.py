"""The level `code`: a one-time code goes to the address on file, by text or by e-mail (D14).

The digits are in memory and in the message only. What the ledger keeps of the message has them blotted out, and nothing that the
service answered is kept, because services repeat what they were sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from projects.common.phones import NumberRefused, countries_of, textable_number
from projects.connections.integrations import find_source
from projects.records.attributes import resolve_attributes
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.execution.handler import ToolContext
from tools.engine.execution.outcome import Ending, Outcome
from tools.services.messaging.base import Email, Sms
from tools.services.messaging.channels import CARRIERS, deliver
from tools.services.messaging.sms import COUNTRIES
from tools.services.verification.codes import DIGITS, NewCode, TooManyCodes, end_code, issue_code
from tools.services.verification.desk import Case, open_case, settled, unproved

BLOTTED = "•" * DIGITS
WORDS = "{code} is your code for {business}. It is valid for 10 minutes. If you didn't ask for it, ignore this message."
SUBJECT = "Your code for {business}"
NO_CODES = (
    "There is no need for a code here: the phone number or the e-mail address that we have on file for you is enough."
)
NO_WAY = (
    "I can't send you a code: neither a text nor an e-mail can go to what we have on file for you. "
    "A colleague can look into it for you."
)
TOO_MANY = "I can't send you another code: three within ten minutes is the limit. Please use the last one, or wait some minutes."
NOT_SENT = "I couldn't send you the code. Shall I try again, or shall a colleague look into it?"
SENT = "I have sent you a code of six digits {way}. Please tell me the code; it is valid for 10 minutes."


class HowToSend(BaseModel):
    """Which of the ways the customer prefers. Where it goes isn't asked: to the address on file."""

    by: Literal["sms", "email"] = Field("sms", description="How the customer wants to get the code.")


@dataclass(frozen=True)
class Prepared:
    """A code and the message that takes it to the customer. `shown` is the message without its digits."""

    code: NewCode
    message: Sms | Email
    shown: Mapping[str, str]
    way: str


async def send_code(arguments: Mapping[str, Any], context: ToolContext) -> Outcome:
    """Send a code, or say why none is. A code that didn't leave is ended at once."""
    prepared = await in_db(_prepare, HowToSend.model_validate(arguments).by, context)
    if isinstance(prepared, Outcome):
        return prepared
    outcome = _without_digits(await deliver(prepared.message, context), prepared)
    if outcome.ending in (Ending.FAILED, Ending.NOT_SENT):
        await in_db(_end, prepared.code.row_id, context)
    return outcome


def _prepare(by: str, context: ToolContext) -> Prepared | Outcome:
    with tenant_tx(context.organization_id):
        case = open_case(context)
        answer = settled(case)
        if answer is not None or case is None:
            return answer or unproved(NO_WAY)
        if case.level != "code":
            return unproved(NO_CODES)
        try:
            return _first_way(case, by, context) or Outcome.failed(NO_WAY, told=NO_WAY)
        except TooManyCodes:
            return Outcome.failed(TOO_MANY, told=TOO_MANY)


def _first_way(case: Case, by: str, context: ToolContext) -> Prepared | None:
    """The way that the customer wants if it is open, else the other one. Raises TooManyCodes."""
    ways = {"sms": _by_sms, "email": _by_email}
    for name in sorted(ways, key=lambda name: name != by):
        if (prepared := ways[name](case, context)) is not None:
            return prepared
    return None


def _by_sms(case: Case, context: ToolContext) -> Prepared | None:
    phone = case.contact.phone_on_file
    if not phone or not _is_connected(case, Sms):
        return None
    countries = resolve_attributes(case.project).get(COUNTRIES)
    try:
        to = textable_number(phone, region=case.region, countries=countries_of(countries.value if countries else None))
    except NumberRefused:
        return None
    code = issue_code(case.holder, sent_by="sms", effect_id=context.effect_id)
    return Prepared(
        code,
        Sms(to=to, text=_words(code.digits, context)),
        {"to": to, "text": _words(BLOTTED, context)},
        f"by text, to your number on file that ends in {to[-2:]}",
    )


def _by_email(case: Case, context: ToolContext) -> Prepared | None:
    to = case.contact.email_on_file
    if not to or not _is_connected(case, Email):
        return None
    code = issue_code(case.holder, sent_by="email", effect_id=context.effect_id)
    subject = SUBJECT.format(business=context.business)
    return Prepared(
        code,
        Email(to=to, name=case.contact.name, subject=subject, body=_words(code.digits, context)),
        {"to": to, "subject": subject, "body": _words(BLOTTED, context)},
        f"by e-mail, to your address on file {to[:1]}…@{to.rpartition('@')[2]}",
    )


def _is_connected(case: Case, message: type[Sms | Email]) -> bool:
    """Whether messages of this kind leave. A code in the outbox reaches nobody, and would be read by everybody in the team."""
    source = find_source(case.project.pk, CARRIERS[message])
    return source is not None and not source.needs_reauth


def _words(code: str, context: ToolContext) -> str:
    return WORDS.format(code=code, business=context.business)


def _without_digits(outcome: Outcome, prepared: Prepared) -> Outcome:
    """What the ledger keeps: that it was sent, to whom, how and when."""
    told = SENT.format(way=prepared.way) if outcome.ending is Ending.DONE else NOT_SENT
    kept = {"needs_reauth": True} if outcome.result.get("needs_reauth") else {}
    return replace(
        outcome,
        told=told,
        error=outcome.error.replace(prepared.code.digits, BLOTTED),
        result={"verified": False, "sent": outcome.ending is Ending.DONE, **kept},
        request=prepared.shown,
        excerpt="",
    )


def _end(row_id: UUID, context: ToolContext) -> None:
    with tenant_tx(context.organization_id):
        end_code(row_id)
