"""Which channel carries a project's messages: the connected service, else the outbox."""

from __future__ import annotations

import logging
from typing import Any

from django.conf import settings

from outbound.guard import Guard
from projects.common.crypto import WrongSecret
from projects.connections.integration_settings import SmtpSettings, TwilioSettings
from projects.connections.integrations import Connection, find_source, mark_needs_reauth, open_source
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.execution.handler import ToolContext
from tools.engine.execution.outcome import Outcome
from tools.services.messaging.base import Channel, Email, Sms, needs_reauth
from tools.services.messaging.outbox import Outbox
from tools.services.messaging.smtp import Smtp
from tools.services.messaging.twilio import Twilio

log = logging.getLogger(__name__)

TO_CONNECT_AGAIN = "It wasn't sent: staff has to connect the service again that it goes out by."
# The kind of source that carries each kind of message.
CARRIERS: dict[type[Sms | Email], str] = {Sms: "twilio", Email: "smtp"}


async def deliver(message: Sms | Email, context: ToolContext) -> Outcome:
    """Send one message by the project's connection, or keep it in the outbox. No transaction may be open.

    A connection whose sign-in was refused, or whose secret can't be read any more, is not tried again before staff has connected
    it anew (F17).
    """
    kind = CARRIERS[type(message)]
    try:
        connection = await in_db(_open, context, kind)
    except WrongSecret:
        await in_db(_note_unreadable, context, kind)
        return Outcome.failed(TO_CONNECT_AGAIN)
    if connection is None:
        return await Outbox().send(message, key=context.key)
    if connection.needs_reauth:
        return Outcome.failed(TO_CONNECT_AGAIN)
    outcome = await channel_over(connection).send(message, key=context.key)
    if needs_reauth(outcome):
        await in_db(_ask_for_sign_in, context, connection)
    return outcome


def channel_over(connection: Connection) -> Channel[Any]:
    """The channel over a project's connection to a service."""
    guard = Guard(allow=settings.OUTBOUND_ALLOW)
    match connection.settings:
        case TwilioSettings() as twilio:
            return Twilio(twilio, token=connection.secret, guard=guard)
        case SmtpSettings() as smtp:
            return Smtp(smtp, password=connection.secret, guard=guard)
    raise TypeError(f"{type(connection.settings).__name__} carries no messages.")


def _open(context: ToolContext, kind: str) -> Connection | None:
    with tenant_tx(context.organization_id):
        return open_source(context.project_id, kind)


def _note_unreadable(context: ToolContext, kind: str) -> None:
    with tenant_tx(context.organization_id):
        source = find_source(context.project_id, kind)
        if source is not None and mark_needs_reauth(source.pk):
            log.error("The secret of a source of project %s was encrypted with another key.", context.project_id)


def _ask_for_sign_in(context: ToolContext, tried: Connection) -> None:
    with tenant_tx(context.organization_id):
        if mark_needs_reauth(tried.source_id, tried=tried):
            log.warning("A source of project %s has to be connected again.", context.project_id)
