"""A call that rings: verified, stored once, and left to its keeper. Nothing here uses the network."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import cast

from conversations.calls.arrival import Arrival, ForeignWebhook, MalformedCall, Numbers, store_arrival
from conversations.calls.web_calls import PROVIDER
from conversations.common.queries import read_project
from conversations.models import Call
from llm.realtime import BadWebhook, IncomingCall, MalformedWebhook, unwrap_webhook
from projects.common.crypto import WrongSecret
from projects.common.phones import InvalidPhone, read_phone
from projects.connections.integrations import open_source
from projects.connections.openai_sip import KIND, read_secrets
from projects.connections.settings.openai_sip import OpenAiSipSettings
from projects.models import Project
from tenancy.scope import tenant_tx
from tenancy.tenant_lookup import ProjectRef, find_source_projects

CALL_ID = re.compile(r"[A-Za-z0-9_.:-]{1,200}")
# The user of a SIP or tel address, with its parameters cut off.
ADDRESS = re.compile(r"(?:sips?|tel):([^@;>\s]+)", re.IGNORECASE)
ASSERTED = "p-asserted-identity"


def accept_webhook(body: bytes, headers: Mapping[str, str]) -> Call | None:
    """Store the call that a webhook announces, with its keeper's job. A repeated webhook finds the same call.

    Several projects may share one account of the provider, each with a number of its own: the called number decides.
    Returns None for an event that is no call. Raises ForeignWebhook, MalformedCall.
    """
    signed = False
    for ref in find_source_projects(KIND):
        with tenant_tx(ref.organization_id):
            opened = _open(ref)
            if opened is None:
                continue
            own_number, secret = opened
            try:
                incoming = unwrap_webhook(body, headers, secret=secret)
            except BadWebhook:
                continue
            except MalformedWebhook as error:
                raise MalformedCall(f"The webhook announces no call: {error} is missing or of another type.") from None
            if incoming is None:
                return None
            signed = True
            project = read_project(ref.project_id)
            numbers = _numbers(incoming, project)
            if own_number in ("", numbers.called):
                return _store(project, incoming, numbers)
    if signed:
        raise MalformedCall("The call was made to a number that no project has connected.")
    raise ForeignWebhook(ForeignWebhook.__doc__)


def _open(ref: ProjectRef) -> tuple[str, str] | None:
    """The connection's number and signing secret, or None if they can't be read."""
    try:
        connection = open_source(ref.project_id, KIND)
        if connection is None:
            return None
        settings = cast(OpenAiSipSettings, connection.settings)
        secret = read_secrets(connection.secret).webhook_secret
        return (settings.number, secret) if secret else None
    except (WrongSecret, ValueError):
        return None


def _store(project: Project, incoming: IncomingCall, numbers: Numbers) -> Call:
    if not CALL_ID.fullmatch(incoming.call_id):
        raise MalformedCall("The call's id is malformed.")
    return store_arrival(project, Arrival(PROVIDER, incoming.call_id, numbers))[0]


def _numbers(incoming: IncomingCall, project: Project) -> Numbers:
    config = project.agent_version.config if project.agent_version else None
    region = config.region if config else "US"
    caller = _number(incoming.headers.get("from", ""), region)
    if (asserted := incoming.headers.get(ASSERTED)) is not None and _number(asserted, region) != caller:
        caller = ""
    return Numbers(caller, _number(incoming.headers.get("to", ""), region))


def _number(header: str, region: str) -> str:
    found = ADDRESS.search(header)
    try:
        return read_phone(found[1], region=region) if found else ""
    except InvalidPhone:
        return ""
