"""Tool steps survive a worker killed by SIGKILL at each failpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from conversations.models import Conversation, Turn
from conversations.turns.services import post_message, start_conversation
from tests.conftest import Tenant
from tests.conversations.effects.target import target_server
from tests.conversations.tool_runs.test_custom_tools import CALLED, STOCK, definition
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
# State after the crash of a text sent at most once, and the number of texts sent.
POINTS = {
    "hop.llm_done_pre_commit": ("done", 1),
    "hop.sending_pre_bytes": ("unknown", 0),
    "hop.response_pre_commit": ("unknown", 1),
    "hop.settled_pre_next": ("done", 1),
}


@dataclass
class Texting:
    """An agent that sends texts while it answers; `sent` counts them."""

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
    """An agent that calls the business's own stock tool while it answers."""
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
def test_a_crash_in_a_step_repeats_nothing(
    label: str, left: tuple[str, int], texting: Texting, processes: ForkServer
) -> None:
    """At most one text, `unknown` if the outcome cannot be known, and one reply."""
    processes.worker(crash_at=f"{label}:1").wait()
    processes.worker()
    settle(texting.tenant)
    check(texting.tenant)
    assert (texting.effect().state, texting.sent()) == left


@pytest.mark.parametrize(("label", "left"), POINTS.items())
def test_a_crash_in_a_custom_tools_call_sends_nothing_twice(
    label: str, left: tuple[str, int], own: Texting, processes: ForkServer
) -> None:
    """A webhook inside the turn is also sent at most once."""
    test_a_crash_in_a_step_repeats_nothing(label, left, own, processes)


def test_a_stored_step_is_not_asked_of_the_model_again(
    texting: Texting, processes: ForkServer, model: ScriptedModel
) -> None:
    """The reply resumes with the stored step."""
    processes.worker(crash_at="hop.response_pre_commit:1").wait()
    processes.worker()
    settle(texting.tenant)
    asked = model.requests("reply")
    assert [len(one["messages"]) for one in asked] == [2, 4]


@pytest.mark.slow
@pytest.mark.parametrize("_n", range(20))
@pytest.mark.parametrize("agent", ["texting", "own"])
@pytest.mark.parametrize(("label", "left"), POINTS.items())
def test_twenty_crashes_at_each_failpoint_of_a_step(
    _n: int, agent: str, label: str, left: tuple[str, int], request: pytest.FixtureRequest, processes: ForkServer
) -> None:
    """For a built-in tool and for a custom one."""
    test_a_crash_in_a_step_repeats_nothing(label, left, request.getfixturevalue(agent), processes)
