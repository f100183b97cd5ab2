"""Kept means happened: five sentences hold over random conversations, rules, faults and decisions of staff.

No effect without words in the reply or a call of the model. No effect against a gate, an approval or a consent. Kept
implies evidence. Every promise ends kept, broken or withdrawn, or stands open with a time and an owner. No promise is
counted twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.conftest import make_tenant
from tests.conversations.effects.target import Target, target_server
from tests.flush import flush_tenants
from tests.laws.checker import findings
from tests.laws.scenarios import scenarios
from tests.laws.steps import Scenario, settle
from tests.laws.world import World
from tests.processes import ScriptedModel
from tests.tools.messaging.twilio_server import TwilioServer

Run = Callable[[Scenario], list[str]]


@pytest.fixture
def run(database: None, model: ScriptedModel, settings: Any) -> Iterator[Run]:
    """Run a scenario in a world of its own, and return what was found after its steps and after its end."""
    settings.OPENAI_BASE_URL = model.base_url
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    with target_server() as target, TwilioServer() as twilio:
        yield lambda scenario: _found(scenario, model, target, twilio)


def _found(scenario: Scenario, model: ScriptedModel, target: Target, twilio: TwilioServer) -> list[str]:
    model.reset()
    try:
        world = World(make_tenant("Nello"), model, target, twilio)
        for step in scenario:
            step.take(world)
            world.observe()
            if found := findings(world):
                return [f"after {step}: {one}" for one in found]
        settle(world)
        world.observe()
        return findings(world, is_over=True)
    finally:
        flush_tenants()


ANYTHING = settings(
    max_examples=25, derandomize=True, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@ANYTHING
@given(scenario=scenarios())
def test_five_sentences_hold_whatever_happens(run: Run, scenario: Scenario) -> None:
    assert run(scenario) == []
