"""send_manage_booking_url_tool: texts the manage-booking link."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import Q

from projects.common.phones import normalize_phone
from projects.models import Project
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, define, switched_on_by
from tools.engine.execution.handler import Handler, ToolContext
from tools.engine.execution.outcome import Outcome
from tools.models import Booking, BookingState
from tools.services.bookings.finding import bookings_of
from tools.services.bookings.search import config_of
from tools.services.messaging.sms import NO_PHONE, send_sms, sms_repeat
from tools.services.signed_links import manage_url

NO_BOOKING = (
    "The link wasn't sent: no booking of this customer's is still to come. Ask under which name and phone it was made."
)
# Repeats are detected before the link is made; to the customer, every link to a booking is the same.
SUBJECT = "manage booking link"


async def execute(arguments: Mapping[str, Any], context: ToolContext) -> Outcome:
    if context.contact is None or not context.contact.phone:
        return Outcome.failed(NO_PHONE, told=NO_PHONE)
    booking = await in_db(_next_booking, context)
    if booking is None:
        return Outcome.failed(NO_BOOKING, told=NO_BOOKING)
    return await send_sms(f"{context.business}: {booking.code}\n{manage_url(booking)}".removeprefix(": "), context)


def repeat_of(arguments: Mapping[str, Any], context: ToolContext) -> str | None:
    return sms_repeat(SUBJECT, context)


def _next_booking(context: ToolContext) -> Booking | None:
    """Return the booking made last in this conversation, else the customer's next one."""
    with tenant_tx(context.organization_id):
        project = Project.objects.select_related("agent_version").get(pk=context.project_id)
        coming = bookings_of(project).filter(state=BookingState.CONFIRMED, ends_at__gt=context.at)
        made_here = coming.filter(conversation_id=context.conversation_id).order_by("-created_at")
        return (context.conversation_id and made_here.first()) or coming.filter(_is_of(context, project)).first()


def _is_of(context: ToolContext, project: Project) -> Q:
    contact = context.contact
    assert contact is not None  # execute() requires a phone number
    phone = normalize_phone(contact.phone, region=config_of(project).region)
    return Q(persona_id=contact.persona_id) | Q(phone=phone)


TOOL = BuiltinTool(
    name="send_manage_booking_url_tool",
    kind="sms",
    delivery=RetryPolicy.ONCE,
    keeps_promise=True,
    gate=switched_on_by("project_attributes_setting_booking_manage_url_enabled"),
    definition=define(
        "Sends the customer a link to view, change or cancel their existing booking.",
        conditions={
            "agentPromised": "The agent commits, in this answer, to send a link or message for managing an existing booking now.",
        },
        tag="sms",
    ),
    handler=Handler(execute=execute, repeat_of=repeat_of),
)
