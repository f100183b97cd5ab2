"""Verification level `code`: a one-time code goes to the contact on file, by text or by e-mail.

The digits exist only in memory and in the message. The ledger masks them, and keeps nothing of the service's response,
because services echo what they were sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from projects.common.phones import NumberRefused
from projects.connections.integrations import find_source
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.execution.consent import is_refused, refusal_reason, refusal_told
from tools.engine.execution.handler import Consent, ToolContext
from tools.engine.execution.outcome import Ending, Outcome
from tools.services.messaging.base import Email, Sms
from tools.services.messaging.channels import CARRIERS, deliver
from tools.services.messaging.sms import TextRules
from tools.services.verification.case import Case, final_outcome, open_case, unverified_outcome
from tools.services.verification.codes import DIGITS, NewCode, TooManyCodes, TooManyCodesToday, expire_code, issue_code

MASK = "•" * DIGITS
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
TOO_MANY_TODAY = "I can't send you another code today. A colleague can look into it for you."
NOT_SENT = "I couldn't send you the code. Shall I try again, or shall a colleague look into it?"
SENT = "I have sent you a code of six digits {way}. Please tell me the code; it is valid for 10 minutes."


class SendCodeArguments(BaseModel):
    """The preferred way to send the code. The address is not an argument: it is the one on file."""

    by: Literal["sms", "email"] = Field("sms", description="How the customer wants to get the code.")


@dataclass(frozen=True)
class PreparedCode:
    """A code and its message. `masked` is the message with the digits masked."""

    code: NewCode
    message: Sms | Email
    masked: Mapping[str, str]
    way: str


async def send_code(arguments: Mapping[str, Any], context: ToolContext) -> Outcome:
    """Send a code, or say why not. A code that was not sent expires at once."""
    prepared = await in_db(_prepare, SendCodeArguments.model_validate(arguments).by, context)
    if isinstance(prepared, Outcome):
        return prepared
    outcome = _without_digits(await deliver(prepared.message, context), prepared)
    if outcome.ending in (Ending.FAILED, Ending.NOT_SENT):
        await in_db(_expire, prepared.code.row_id, context)
    return outcome


def _prepare(by: str, context: ToolContext) -> PreparedCode | Outcome:
    with tenant_tx(context.organization_id):
        case = open_case(context)
        outcome = final_outcome(case)
        if outcome is not None or case is None:
            return outcome or unverified_outcome(NO_WAY)
        if case.level != "code":
            return unverified_outcome(NO_CODES)
        try:
            return _first_channel(case, by, context) or _no_way(case)
        except TooManyCodes as refusal:
            sentence = TOO_MANY_TODAY if isinstance(refusal, TooManyCodesToday) else TOO_MANY
            return Outcome.failed(sentence, told=sentence)


def _first_channel(case: Case, by: str, context: ToolContext) -> PreparedCode | None:
    """Prepare the preferred way if it is available and wanted, else the other one. Raises TooManyCodes."""
    for name in sorted(WAYS, key=lambda name: name != by):
        if not _is_unwanted(case, name) and (prepared := WAYS[name](case, context)) is not None:
            return prepared
    return None


def _no_way(case: Case) -> Outcome:
    """The refusal that closes a way, if there is one, else the reason for staff and the customer alike."""
    for name in WAYS:
        if _is_unwanted(case, name):
            return Outcome.failed(refusal_reason(name), told=refusal_told(name))
    return Outcome.failed(NO_WAY, told=NO_WAY)


def _is_unwanted(case: Case, way: Consent) -> bool:
    """True if the customer has refused this way, or the customer who has the contact on file has."""
    on_file = replace(case.contact, phone=case.contact.phone_on_file, email=case.contact.email_on_file)
    return is_refused(way, project_id=case.project.pk, contact=on_file)


def _by_sms(case: Case, context: ToolContext) -> PreparedCode | None:
    phone = case.contact.phone_on_file
    if not phone or not _is_connected(case, Sms):
        return None
    try:
        to = TextRules(case.project).number(phone, on_file=phone)
    except NumberRefused:
        return None
    code = issue_code(case.holder, sent_by="sms", effect_id=context.effect_id)
    return PreparedCode(
        code,
        Sms(to=to, text=_words(code.digits, context)),
        {"to": to, "text": _words(MASK, context)},
        f"by text, to your number on file that ends in {to[-2:]}",
    )


def _by_email(case: Case, context: ToolContext) -> PreparedCode | None:
    to = case.contact.email_on_file
    if not to or not _is_connected(case, Email):
        return None
    code = issue_code(case.holder, sent_by="email", effect_id=context.effect_id)
    subject = SUBJECT.format(business=context.business)
    return PreparedCode(
        code,
        Email(to=to, name=case.contact.name, subject=subject, body=_words(code.digits, context)),
        {"to": to, "subject": subject, "body": _words(MASK, context)},
        f"by e-mail, to your address on file {to[:1]}…@{to.rpartition('@')[2]}",
    )


WAYS: Mapping[Consent, Callable[[Case, ToolContext], PreparedCode | None]] = {"sms": _by_sms, "email": _by_email}


def _is_connected(case: Case, message: type[Sms | Email]) -> bool:
    """Return True if such messages really leave. A code in the outbox would reach only the team."""
    source = find_source(case.project.pk, CARRIERS[message])
    return source is not None and not source.needs_reauth


def _words(code: str, context: ToolContext) -> str:
    return WORDS.format(code=code, business=context.business)


def _without_digits(outcome: Outcome, prepared: PreparedCode) -> Outcome:
    """Return the outcome for the ledger: the status, the recipient and the way, without the digits.

    A code is only of use within minutes, so nobody is asked whether it arrived.
    """
    told = SENT.format(way=prepared.way) if outcome.ending is Ending.DONE else NOT_SENT
    reauth = {"needs_reauth": True} if outcome.result.get("needs_reauth") else {}
    return replace(
        outcome,
        told=told,
        error=outcome.error.replace(prepared.code.digits, MASK),
        result={"verified": False, "sent": outcome.ending is Ending.DONE, **reauth},
        request=prepared.masked,
        excerpt="",
        receipt=outcome.receipt and replace(outcome.receipt, within=None),
    )


def _expire(row_id: UUID, context: ToolContext) -> None:
    with tenant_tx(context.organization_id):
        expire_code(row_id)
