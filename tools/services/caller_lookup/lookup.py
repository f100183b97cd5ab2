"""Caller lookup by the number of the call, never by a number that somebody names."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.conf import settings

from outbound.guard import Guard
from projects.common.crypto import WrongSecret
from projects.connections.integrations import Connection, open_source
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.execution.handler import ToolContext
from tools.engine.execution.outcome import Outcome
from tools.engine.hooks import read_contact
from tools.services.caller_lookup.directory import Directory, DirectoryFailed

log = logging.getLogger(__name__)

KIND = "client_lookup"
ADAPTER = "client_lookup"
NO_NUMBER = (
    "The number of this call isn't known, so the caller can't be looked up. Go on without it, and don't mention it."
)
NOT_CONNECTED = "Callers can't be looked up at the moment. Go on without it, and don't mention it."
NOBODY = "The business's records know nobody with this number. Go on without it, and don't mention it."
NO_ANSWER = "The business's records can't be reached at the moment. Go on without them, and don't mention it."


async def look_up_caller(arguments: Mapping[str, Any], context: ToolContext) -> Outcome:
    """Return what the business knows of the caller, as text. There are no arguments: the number is the call's."""
    phone, connection = await in_db(_read, context)
    if not phone:
        return Outcome.done(NO_NUMBER, result={"found": False}, adapter=ADAPTER)
    if connection is None:
        return Outcome.failed(NOT_CONNECTED, told=NOT_CONNECTED, adapter=ADAPTER)
    directory = directory_client(connection)
    details = {"request": {"method": "GET", "url": directory.shown_url(phone)}, "adapter": ADAPTER}
    try:
        text = await directory.find(phone)
    except DirectoryFailed as error:
        return Outcome.failed(str(error), told=NO_ANSWER, **details)
    return Outcome.done(text or NOBODY, result={"found": bool(text)}, excerpt=text, **details)


def directory_client(connection: Connection) -> Directory:
    return Directory(connection, guard=Guard(allow=settings.OUTBOUND_ALLOW))


def load_connection(organization_id: UUID, project_id: UUID) -> Connection | None:
    """Return the project's connection; None if there is none that can be used."""
    with tenant_tx(organization_id):
        try:
            return open_source(project_id, KIND)
        except WrongSecret:
            log.error("The look-up of callers of project %s can't be opened: another key encrypted it.", project_id)
            return None


def caller_number(context: ToolContext) -> str:
    """Return the caller's number as the network reports it, else the one on file from staff or the API.

    A number that the caller states is ignored: it would reveal the records of whomever they name. Runs inside the
    tenant's transaction.
    """
    if reported := context.call.get("caller_phone"):
        return str(reported)
    contact = read_contact(context.contact.persona_id) if context.contact else None
    return contact.phone_on_file if contact else ""


def _read(context: ToolContext) -> tuple[str, Connection | None]:
    with tenant_tx(context.organization_id):
        phone = caller_number(context)
    return phone[:40].strip(), load_connection(context.organization_id, context.project_id)
