"""A worker dies at each labelled point of a hop, by a real SIGKILL, and another goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from conversations.models import Conversation, Turn
from conversations.turns.services import post_message, start_conversation
from tests.conftest import Tenant
from tests.conversations.effects.target import target_server
from tests.conversations.tool_runs.test_own import CALLED, STOCK, definition
from tests.conversations.tool_runs.turns import Turns
from tests.crashes.invariants import check, settle
from tests.processes import ForkServer, ScriptedModel
from tests.tools.messaging.conftest import connect_twilio
from tests.tools.messaging.twilio_server import TwilioServer
from tools.engine.custom import service
from tools.engine.function_calling.results import UNKNOWN
from tools.models import Effect

pytestmark = pytest.mark.short_leases

KNOWN = {"phone": "+393475550142"}
RULE = {"when": "They want it in writing.", "action": "message"}
# What a dead worker leaves of a text that is sent once, and how many texts have gone out.
POINTS = {
    "hop.llm_done_pre_commit": ("done", 1),
    "hop.sending_pre_bytes": ("unknown", 0),
    "hop.response_pre_commit": ("unknown", 1),
    "hop.settled_pre_next": ("done", 1),
}


@dataclass
class Texting:
    """An agent that sends something while it answers; `sent` counts what has gone out."""

    tenant: Tenant
    conversation: Conversation
    sent: Callable[[], int]

    def turn(self) -> Turn:
        with self.tenant.tx():
            return Turn.objects.select_related("reply").get(conversation=self.conversation)

    def effect(self) -> Effect:
        with self.tenant.tx():
            return Effect.objects.get()


@pytest.fixture
def texting(tenant: Tenant, model: ScriptedModel, processes: ForkServer, settings: Any) -> Iterator[Texting]:
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    Turns(tenant, model, None).configure(escalation_rules=[RULE])
    with TwilioServer() as server:
        connect_twilio(tenant, server.url)
        with tenant.tx():
            conversation = start_conversation(
                tenant.project, channel="chat", external_id="guest", known=KNOWN, metadata={}
            )
            post_message(conversation.pk, "Text me the address, and nothing else.")
        model.script("reply", times=0, match=UNKNOWN[:30], text="I don't know whether the text has come through.")
        model.script("reply", times=0, match="was sent. It says", text="There it is.")
        model.script("reply", times=0, tool_calls=[{"name": "send_sms", "arguments": {"text": "Via dei Serpenti 14"}}])
        yield Texting(tenant, conversation, lambda: len(server.script.calls))


@pytest.fixture
def own(tenant: Tenant, model: ScriptedModel, processes: ForkServer, settings: Any) -> Iterator[Texting]:
    """An agent that asks a stock of the business's own while it answers."""
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    with target_server() as target:
        with tenant.tx():
            service.save(tenant.project, name=STOCK, document=definition(target.url))
            conversation = start_conversation(
                tenant.project, channel="chat", external_id="guest", known={}, metadata={}
            )
            post_message(conversation.pk, "Are there any amphoras left?")
        model.script("reply", times=0, match=UNKNOWN[:30], text="I don't know whether the stock has heard me.")
        model.script("reply", times=0, match='{"ok": true}', text="There are two.")
        model.script("reply", times=0, tool_calls=[{"name": STOCK, "arguments": CALLED}])
        yield Texting(tenant, conversation, lambda: len(target.log))


@pytest.mark.parametrize(("label", "left"), POINTS.items())
def test_a_worker_killed_in_a_hop_does_nothing_twice(
    label: str, left: tuple[str, int], texting: Texting, processes: ForkServer
) -> None:
    """At most one text, and `unknown` where nobody can know; the customer has one reply."""
    processes.worker(crash_at=f"{label}:1").wait()
    processes.worker()
    settle(texting.tenant)
    check(texting.tenant)
    assert (texting.effect().state, texting.sent()) == left


@pytest.mark.parametrize(("label", "left"), POINTS.items())
def test_a_worker_killed_in_a_call_of_a_project_s_own_tool_sends_nothing_twice(
    label: str, left: tuple[str, int], own: Texting, processes: ForkServer
) -> None:
    """A webhook inside the turn is sent at most once as well."""
    test_a_worker_killed_in_a_hop_does_nothing_twice(label, left, own, processes)


def test_a_model_is_not_asked_again_for_what_it_decided(
    texting: Texting, processes: ForkServer, model: ScriptedModel
) -> None:
    """The reply goes on with the stored hop."""
    processes.worker(crash_at="hop.response_pre_commit:1").wait()
    processes.worker()
    settle(texting.tenant)
    asked = model.requests("reply")
    assert [len(one["messages"]) for one in asked] == [2, 4]


@pytest.mark.slow
@pytest.mark.parametrize("_n", range(20))
@pytest.mark.parametrize("agent", ["texting", "own"])
@pytest.mark.parametrize(("label", "left"), POINTS.items())
def test_twenty_kills_at_each_point_of_a_hop(
    _n: int, agent: str, label: str, left: tuple[str, int], request: pytest.FixtureRequest, processes: ForkServer
) -> None:
    """For a built-in tool and for a custom one."""
    test_a_worker_killed_in_a_hop_does_nothing_twice(label, left, request.getfixturevalue(agent), processes)
