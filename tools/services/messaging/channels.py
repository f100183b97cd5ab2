"""Channel selection: the connected service, else the outbox."""

from __future__ import annotations

import logging
from typing import Any, cast

from projects.common.crypto import WrongSecret
from projects.connections.integrations import Connection, find_source, guard_for, mark_needs_reauth, open_source
from projects.connections.settings.smtp import SmtpSettings
from projects.connections.settings.twilio import TwilioSettings
from projects.connections.twilio import status_callback
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.execution.handler import ToolContext
from tools.engine.execution.outcome import Outcome
from tools.services.messaging.base import Channel, Email, Sms, needs_reauth
from tools.services.messaging.outbox import Outbox
from tools.services.messaging.smtp import Smtp
from tools.services.messaging.twilio import Twilio

log = logging.getLogger(__name__)

RECONNECT_FIRST = "It wasn't sent: staff must connect the messaging service again."
# Integration type that carries each message type.
CARRIERS: dict[type[Sms | Email], str] = {Sms: "twilio", Email: "smtp"}


async def deliver(message: Sms | Email, context: ToolContext) -> Outcome:
    """Send a message through the project's connection, or store it in the outbox. No transaction may be open.

    A connection with a rejected sign-in or an unreadable secret is not used until staff reconnects it.
    """
    kind = CARRIERS[type(message)]
    try:
        connection = await in_db(_open, context, kind)
    except WrongSecret:
        await in_db(_record_unreadable, context, kind)
        return Outcome.failed(RECONNECT_FIRST)
    if connection is None:
        return await Outbox().send(message, key=context.key)
    if connection.needs_reauth:
        return Outcome.failed(RECONNECT_FIRST)
    outcome = await channel_for(connection).send(message, key=context.key)
    if needs_reauth(outcome):
        await in_db(_request_reconnect, context, connection)
    return outcome


def channel_for(connection: Connection) -> Channel[Any]:
    """Return the channel for a project's connection."""
    match connection.settings:
        case TwilioSettings() as twilio:
            callback = status_callback(connection)
            return Twilio(twilio, token=connection.secret, guard=guard_for(twilio), status_callback=callback)
        case SmtpSettings():
            return smtp_for(connection)
    raise TypeError(f"{type(connection.settings).__name__} carries no messages.")


def smtp_for(connection: Connection) -> Smtp:
    """Return the mail server of a connection."""
    server = cast(SmtpSettings, connection.settings)
    return Smtp(server, password=connection.secret, guard=guard_for(server))


def _open(context: ToolContext, kind: str) -> Connection | None:
    with tenant_tx(context.organization_id):
        return open_source(context.project_id, kind)


def _record_unreadable(context: ToolContext, kind: str) -> None:
    with tenant_tx(context.organization_id):
        source = find_source(context.project_id, kind)
        if source is not None and mark_needs_reauth(source.pk):
            log.error("The secret of a source of project %s was encrypted with another key.", context.project_id)


def _request_reconnect(context: ToolContext, tried: Connection) -> None:
    with tenant_tx(context.organization_id):
        if mark_needs_reauth(tried.source_id, tried=tried):
            log.warning("A source of project %s has to be connected again.", context.project_id)
