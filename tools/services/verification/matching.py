"""Verification level `basic`: the phone number or e-mail address on file matches.

On the phone, the network reports the caller's number, so nobody has to be asked. Elsewhere, including web calls and the
portal, the customer says what is on file.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db.models import Q
from django.db.models.functions import Now
from pydantic import Field

from projects.common.phones import normalize_phone
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.execution.handler import ToolContext
from tools.engine.execution.outcome import Outcome
from tools.models import Effect, EffectState
from tools.services.bookings.handler_adapter import Arguments
from tools.services.verification.case import Case, final_outcome, open_case, unverified_outcome, verified_outcome
from tools.services.verification.services import record_verification

NAME = "verify_caller"
MOST_TRIES, WITHIN = 5, timedelta(minutes=10)
ASK = "To be sure who you are, please tell me the phone number or the e-mail address that we have on file for you."
NO_MATCH = "That isn't what we have on file. Is there another number or address that we may have of you?"
TOO_OFTEN = "I couldn't verify you by any of these, so I can't go on trying now. A colleague can look into it for you."
CODE_NEEDED = "To be sure who you are, I need a one-time code from you. Shall I send it by text or by e-mail?"


class ClaimedContact(Arguments):
    """Contact details that the customer claims are on file."""

    phone: str | None = Field(
        None, max_length=40, description="The phone number that the customer says is on file; null when none was said."
    )
    email: str | None = Field(
        None,
        max_length=254,
        description="The e-mail address that the customer says is on file; null when none was said.",
    )


async def verify_caller(arguments: Mapping[str, Any], context: ToolContext) -> Outcome:
    """Verify the customer against the contact on file, or say what is needed."""
    return await in_db(_verify, ClaimedContact.model_validate(dict(arguments)), context)


def _verify(claimed: ClaimedContact, context: ToolContext) -> Outcome:
    with tenant_tx(context.organization_id):
        case = open_case(context)
        outcome = final_outcome(case)
        if outcome is not None or case is None:
            return outcome or unverified_outcome(ASK)
        return unverified_outcome(CODE_NEEDED) if case.level == "code" else _by_match(case, claimed, context)


def _by_match(case: Case, claimed: ClaimedContact, context: ToolContext) -> Outcome:
    if _is_the_callers_number(case, context):
        return _verified(case)
    if claimed.phone is None and claimed.email is None:
        return unverified_outcome(ASK)
    if _has_tried_too_often(context):
        return unverified_outcome(TOO_OFTEN, refused=True)
    return _verified(case) if _matches(case, claimed) else unverified_outcome(NO_MATCH, matched=False)


def _verified(case: Case) -> Outcome:
    record_verification(
        case.project,
        persona_id=case.contact.persona_id,
        conversation_id=case.holder.conversation_id,
        method="basic",
    )
    return verified_outcome()


def _is_the_callers_number(case: Case, context: ToolContext) -> bool:
    """Return True if the network reports the number on file. A browser call has no number."""
    calling = str(context.call.get("caller_phone") or "")
    return context.channel == "phone" and _same_phone(case, calling)


def _matches(case: Case, claimed: ClaimedContact) -> bool:
    on_file = case.contact.email_on_file.strip().casefold()
    same_email = bool(on_file) and (claimed.email or "").strip().casefold() == on_file
    return same_email or _same_phone(case, claimed.phone or "")


def _same_phone(case: Case, phone: str) -> bool:
    on_file = case.contact.phone_on_file
    if not on_file or not phone:
        return False
    return normalize_phone(phone, region=case.region) == normalize_phone(on_file, region=case.region)


def _has_tried_too_often(context: ToolContext) -> bool:
    """Return True after five mismatches or refused tries in this conversation within ten minutes. Concurrent tries count,
    also when they were refused: otherwise the last of six would be free again.
    """
    others = Effect.objects.filter(
        Q(result__matched=False) | Q(result__refused=True) | Q(state=EffectState.SENDING),
        conversation_id=context.conversation_id,
        tool=NAME,
        started_at__gt=Now() - WITHIN,
    )
    return others.exclude(pk=context.effect_id).count() >= MOST_TRIES
