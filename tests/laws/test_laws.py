"""Kept means happened: five sentences hold over random conversations, rules, faults and decisions of staff.

No effect without words in the reply or a call of the model. No effect against a gate, an approval or a consent. Kept
implies evidence. Every promise ends kept, broken or withdrawn, or stands open with a time and an owner. No promise is
counted twice.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings

from tests.conftest import make_tenant
from tests.conversations.effects.target import Target, target_server
from tests.flush import flush_tenants
from tests.laws.checker import findings
from tests.laws.planted import BUGS, Bug
from tests.laws.scenarios import scenarios
from tests.laws.steps import Exchange, Scenario, Weather, Work, settle
from tests.laws.world import KITCHEN, World, hang_up
from tests.processes import ScriptedModel
from tests.tools.messaging.twilio_server import TwilioServer

Run = Callable[[Scenario], list[str]]


@pytest.fixture
def run(database: None, model: ScriptedModel, settings: Any) -> Iterator[Run]:
    """Run a scenario in a world of its own, and return what was found after its steps and after its end."""
    settings.OPENAI_BASE_URL = model.base_url
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    with target_server() as target, TwilioServer() as twilio, asyncio.Runner() as loop:
        yield lambda scenario: _found(scenario, model, target, twilio, loop)
        loop.run(hang_up())


def _found(
    scenario: Scenario, model: ScriptedModel, target: Target, twilio: TwilioServer, loop: asyncio.Runner
) -> list[str]:
    try:
        world = World(make_tenant("Nello"), model, target, twilio, loop)
        for step in scenario:
            step.take(world)
            world.observe()
        found = findings(world)
        settle(world)
        world.observe()
        return found + findings(world, is_over=True)
    finally:
        flush_tenants()


# The nightly run has all examples; fewer help while changing this code.
EXAMPLES = int(os.environ.get("LAW_EXAMPLES", "2000"))
ORDINARY = settings(
    max_examples=25, derandomize=True, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
MANY = settings(ORDINARY, max_examples=EXAMPLES, derandomize=False, print_blob=True)


# The target did it, the worker died, and the next attempt was refused.
LOST = [Exchange(calls=(KITCHEN,), dies_at="effect.bytes_out"), Weather("busy"), Work()]


@ORDINARY
@given(scenario=scenarios(acts=3))
@example(scenario=LOST)
def test_the_five_laws_hold_under_faults(run: Run, scenario: Scenario) -> None:
    assert run(scenario) == []


@pytest.mark.slow
@MANY
@given(scenario=scenarios(acts=5))
def test_five_sentences_hold_in_two_thousand_scenarios(run: Run, scenario: Scenario) -> None:
    assert run(scenario) == []


@pytest.mark.parametrize("is_planted", [True, False])
@pytest.mark.parametrize("bug", BUGS.values(), ids=BUGS)
def test_a_planted_bug_is_found(run: Run, bug: Bug, is_planted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing is found in the same scenario without it."""
    if is_planted:
        bug.plant(monkeypatch)
    found = run(bug.scenario)
    assert [one for one in found if one.startswith(f"{bug.breaks}:")] if is_planted else found == []
