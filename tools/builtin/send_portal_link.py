"""send_portal_link: texts the caller a link to their portal.

The link exists only in memory and in the message; a retry after a crash creates a new one. The ledger masks it, and
keeps nothing of the service's response, because services echo what they were sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.conf import settings

from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, Trigger, always, define
from tools.engine.execution.handler import Handler, ToolContext
from tools.engine.execution.outcome import Outcome
from tools.services.messaging.outbox import NAME as OUTBOX
from tools.services.messaging.sms import NO_PHONE, send_sms, sms_repeat
from tools.services.signed_links import PortalTarget, portal_url, token_in

# Repeats are detected before the link is made; to the customer, every link to the portal is the same.
SUBJECT = "portal link"
SENT = "I have sent you the link to your page by text message."
MASK = "••••••"


async def execute(arguments: Mapping[str, Any], context: ToolContext) -> Outcome:
    """Text the link to the caller's own number."""
    if context.contact is None or not context.contact.phone:
        return Outcome.failed(NO_PHONE, told=NO_PHONE)
    link = portal_url(PortalTarget(context.organization_id, context.contact.persona_id))
    outcome = await send_sms(f"{context.business}: {link}".removeprefix(": "), context)
    if outcome.adapter != OUTBOX:
        # The link is for the customer only: the model reads that it was sent, but not the link itself.
        outcome = outcome.retold(SENT)
    return _without_link(outcome, token_in(link))


def _without_link(outcome: Outcome, token: str) -> Outcome:
    """Return the outcome for the ledger. With the offline model no text is ever sent, so the outbox keeps the link and
    stands in for the customer's phone.
    """
    if outcome.adapter == OUTBOX and settings.OFFLINE_MODEL:
        return outcome
    return replace(
        outcome,
        request=_masked(outcome.request, token),
        result=_masked(outcome.result, token),
        error=_masked(outcome.error, token),
        excerpt="",
    )


def _masked(value: Any, token: str) -> Any:
    if isinstance(value, str):
        return value.replace(token, MASK)
    if isinstance(value, Mapping):
        return {name: _masked(one, token) for name, one in value.items()}
    return [_masked(one, token) for one in value] if isinstance(value, list | tuple) else value


def repeat_of(arguments: Mapping[str, Any], context: ToolContext) -> str | None:
    return sms_repeat(SUBJECT, context)


TOOL = BuiltinTool(
    name="send_portal_link",
    kind="sms",
    delivery=RetryPolicy.ONCE,
    keeps_promise=True,
    gate=always,
    definition=define(
        "Texts the caller a link to their own page: what was said, their bookings, and a chat to go on in writing."
    ),
    handler=Handler(execute=execute, repeat_of=repeat_of),
    moments=(Trigger.TURN, Trigger.LIVE),
    channels=("phone",),
    category="phone",
)
