from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from conversations.turns.services import start_conversation
from tests.conftest import Tenant
from tests.conversations.tool_runs.probe import Probe, offered
from tests.conversations.tool_runs.turns import Turns
from tests.processes import ScriptedModel
from tools.engine.definition import RetryPolicy


@pytest.fixture
def turns(tenant: Tenant, model: ScriptedModel, settings: Any) -> Turns:
    settings.OPENAI_BASE_URL = model.base_url
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    with tenant.tx():
        conversation = start_conversation(tenant.project, channel="chat", external_id="guest", known={}, metadata={})
    return Turns(tenant, model, conversation)


@pytest.fixture
def bell() -> Iterator[Probe]:
    """A tool with a side effect, executed at most once."""
    with offered() as probe:
        yield probe


@pytest.fixture
def clock() -> Iterator[Probe]:
    """A tool that only reads our own rows."""
    with offered("look_at_clock", kind="", delivery=RetryPolicy.IDEMPOTENT) as probe:
        yield probe
