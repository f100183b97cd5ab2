"""A call, and the business's own caller directory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from projects.connections.integration_types import KINDS
from projects.connections.integrations import SourceEdit, connect_source
from projects.models import Source
from tests.conftest import Tenant
from tests.conversations.tool_runs.conftest import turns
from tests.conversations.tool_runs.turns import Turns
from tests.tools.caller_lookup.lookup_server import LookupServer

__all__ = ["turns"]

TOOL, CALLING, SECRET = "lookup_caller", "+393331234567", "canary-of-the-crm"


@pytest.fixture
def records() -> Iterator[LookupServer]:
    with LookupServer() as server:
        yield server


@pytest.fixture
def call(turns: Turns, records: LookupServer) -> Turns:
    """A running call with a known number, and a connected endpoint."""
    connect_records(turns.tenant, records.url)
    return calling(turns, CALLING)


def calling(turns: Turns, phone: str, *, channel: str = "phone", **given: str) -> Turns:
    talk = turns.on(channel, external_id="caller", **given)
    with talk.tenant.tx():
        talk.conversation.metadata = {"call": {"call_sid": "CA1", "caller_phone": phone}}
        talk.conversation.save(update_fields=["metadata"])
    return talk


def connect_records(tenant: Tenant, url: str, *, secret: str = "", **settings: Any) -> Source:
    with tenant.tx():
        edit = SourceEdit({"url": url, **settings}, secret)
        return connect_source(tenant.project, KINDS["client_lookup"], edit, by=tenant.owner)


def look_up(turns: Turns, arguments: Any = None) -> str:
    """Have the model look up the caller, and return what it reads."""
    turns.calls_tool(TOOL, arguments)
    turns.says("Hello Anna!")
    return turns.result(turns.say("Hello?"))
