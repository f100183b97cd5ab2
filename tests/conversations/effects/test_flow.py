"""A promise in a reply, executed by real workers and told by the agent."""

from __future__ import annotations

from typing import Any

import pytest

from conversations.models import Message
from conversations.turns.services import give_fields
from tests.conversations.conftest import Talk
from tests.conversations.effects.conftest import PHONE, webhook
from tests.conversations.effects.target import Target
from tests.crashes.invariants import settle
from tests.processes import ScriptedModel
from tools.engine.custom.service import save


@pytest.fixture(autouse=True)
def _allowed(settings: Any) -> None:
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]


@pytest.mark.requirement("N45", "N49", "T24")
def test_a_custom_webhook_runs_on_the_next_turn(talk: Talk, worker, target: Target, model: ScriptedModel) -> None:
    """The request is built from the conversation, and the agent tells the result proactively."""
    body = {
        "type": "object",
        "properties": {"customer_name": {"type": "string", "description": "The customer's full name"}},
    }
    tell = [{"type": "send_urgent_message", "options": {"prefix": "Crew says"}}]
    with talk.tenant.tx():
        save(
            talk.tenant.project,
            name="notify_crew",
            document=webhook(f"{target.url}/crew", body=body, after_actions=tell),
        )
    model.script("reply", text="I'll notify the delivery crew about it right away.")
    turn = talk.exchange("Hello, I'm Giulia Ferri. My delivery is late, please tell the crew.")
    [effect] = turn["effects"]
    assert (effect["tool"], effect["state"], effect["arguments"]) == (
        "notify_crew",
        "done",
        {"body": {"customer_name": "Giulia Ferri"}},
    )
    assert [heard.document for heard in target.log] == [{"customer_name": "Giulia Ferri"}]
    settle(talk.tenant)
    with talk.tenant.tx():
        assert Message.objects.filter(conversation=talk.conversation, role="agent").count() == 2


@pytest.mark.requirement("N44", "N51")
def test_a_built_in_tool_runs_on_the_next_turn(talk: Talk, worker, model: ScriptedModel) -> None:
    """The tool's event is in the log, and its flow has handled it."""
    with talk.tenant.tx():
        give_fields(talk.reload().persona, {"phone": PHONE})
    model.script("reply", text="I'll text you the opening hours now.")
    turn = talk.exchange("Could you text me the opening hours?")
    [effect] = turn["effects"]
    assert (effect["tool"], effect["state"]) == ("send_sms_tool", "done")
    assert "12:00" in effect["result"]["message"]["text"]


def test_a_phone_number_in_the_same_message_reaches_the_tool_in_time(talk: Talk, worker, model: ScriptedModel) -> None:
    """The observer stores the number while the tool caller finds the promise; the text waits for it."""
    model.script("observer", times=0, ttft_ms=500, json=OBSERVED)
    model.script("reply", text="I'll text you the opening hours now.")
    turn = talk.exchange(f"Could you text me the opening hours? I'm on {PHONE}.")
    [effect] = turn["effects"]
    assert (effect["state"], effect["result"]["message"]["to"]) == ("done", PHONE)


OBSERVED = {
    "facts": [{"quote": PHONE, "field": "phone", "value": PHONE, "confidence": "stated"}],
    "quality": None,
}
