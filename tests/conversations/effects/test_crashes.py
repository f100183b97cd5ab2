"""Effects survive a worker killed by SIGKILL at each failpoint."""

from __future__ import annotations

import pytest

from tests.conversations.effects.conftest import Bench, webhook
from tests.conversations.effects.ledger_check import violations
from tests.conversations.effects.target import Target
from tests.crashes.invariants import settle
from tests.processes import ForkServer
from tools.models import Effect

pytestmark = pytest.mark.short_leases

TELL = {"type": "send_urgent_message", "options": {"prefix": "Crew says"}}
SET = {"type": "set_persona_attribute", "options": {"attribute": "seen", "value": "yes"}}
# State after the crash of an effect that is sent at most once: never guessed.
POINTS = {
    "effect.planned": "done",
    "effect.sending_pre_bytes": "unknown",
    "effect.bytes_out": "unknown",
    "effect.response_pre_commit": "unknown",
    "effect.committed_pre_after_actions": "done",
    "effect.after_actions_pre_urgent": "done",
}


def plan(bench: Bench, target: Target, *deliveries: str) -> list[Effect]:
    effects = []
    for number, delivery in enumerate(deliveries):
        name = f"notify_{number}"
        bench.tool(name, webhook(f"{target.url}/{name}", delivery=delivery, after_actions=[SET, TELL]))
        effects += bench.plan(name)
    return effects


@pytest.mark.parametrize(("label", "state"), POINTS.items())
def test_a_crash_never_sends_a_once_effect_twice(
    label: str, state: str, bench: Bench, target: Target, processes: ForkServer
) -> None:
    """At most one request, and `unknown` if the outcome cannot be known."""
    [effect] = plan(bench, target, "once")
    kill_and_go_on(bench, processes, label=label, n=1)
    assert (bench.effect(effect).state, len(target.log)) == (state, 0 if label == "effect.sending_pre_bytes" else 1)
    assert violations(bench.tenant, target.keys()) == []


@pytest.mark.parametrize("label", POINTS)
def test_a_crash_with_two_effects_in_flight_is_recovered(
    label: str, bench: Bench, target: Target, processes: ForkServer
) -> None:
    """The kill hits the second effect that passes; there is one of each delivery policy."""
    _, again = plan(bench, target, "once", "idempotent")
    kill_and_go_on(bench, processes, label=label, n=2)
    assert violations(bench.tenant, target.keys()) == []
    assert bench.effect(again).state == "done"


def kill_and_go_on(bench: Bench, processes: ForkServer, *, label: str, n: int) -> None:
    doomed = processes.worker(crash_at=f"{label}:{n}")
    doomed.wait()
    processes.worker()
    settle(bench.tenant)
