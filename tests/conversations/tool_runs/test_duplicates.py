"""A tool called inside the turn and promised in the same reply acts once, and a signal ends the turn."""

from __future__ import annotations

import pytest

from conversations.models import ConversationStatus
from conversations.models.event import EventType
from projects.records.attributes import set_attribute
from tests.conversations.tool_runs.probe import Probe
from tests.conversations.tool_runs.turns import Turns
from tools.engine.policy import POLICIES, KindPolicy
from tools.engine.transfers import TRANSFER_NUMBERS
from tools.models import EffectState

KITCHEN = "+39065550114"


@pytest.fixture
def phone(turns: Turns) -> Turns:
    """A phone line that can transfer calls and send texts."""
    rules = [{"when": "they ask for a person", "action": "transfer"}, {"when": "in writing", "action": "message"}]
    turns.configure(escalation_rules=rules)
    with turns.tenant.tx():
        set_attribute(turns.tenant.project, TRANSFER_NUMBERS, f"kitchen: {KITCHEN}")
    return turns.on("phone", phone="+39 333 1234567")


def test_a_text_sent_and_promised_goes_out_once(phone: Turns) -> None:
    """One of the two effects is sent, the other held as its repeat."""
    phone.calls_tool("send_sms", {"text": "Via dei Serpenti 14, Roma."})
    phone.says("I'll send you an SMS with our address now.")
    turn = phone.say("Please text me your address.")
    phone.run("observer")
    phone.run("tool_caller")
    phone.run("effect")
    called, promised = phone.effects(turn)
    assert (called.tool, called.state) == ("send_sms", EffectState.DONE)
    assert (promised.tool, promised.state) == ("send_sms_tool", EffectState.HELD)
    assert promised.repeats == called.pk


@pytest.mark.requirement("F18")
def test_a_call_transferred_and_promised_is_transferred_once(phone: Turns) -> None:
    """The agent says nothing after it."""
    phone.calls_tool("transfer_call", {"phone_number": KITCHEN}, text="I'll transfer you to the kitchen now.")
    turn = phone.say("Yes, please put me through.")
    assert turn.reply is not None
    assert turn.reply.content == "I'll transfer you to the kitchen now."
    phone.run("observer")
    phone.run("tool_caller")
    phone.run("effect")
    [called, *promised] = phone.effects(turn)
    assert (called.tool, called.state, called.result) == (
        "transfer_call", "done", {"transferred": True, "to": "kitchen", "number": KITCHEN}
    )  # fmt: skip
    assert [one.state for one in promised] == [EffectState.HELD]
    assert len(phone.asked()) == 1
    with phone.tenant.tx():
        phone.conversation.refresh_from_db()
    assert phone.conversation.status == ConversationStatus.TRANSFERRED
    transferred = [event for event in phone.events(EventType.SYSTEM) if event.idn == "conversation_transferred"]
    assert len(transferred) == 1


@pytest.mark.requirement("F18")
def test_a_call_ended_with_a_goodbye_is_ended_once(phone: Turns) -> None:
    """end_call, and end_conversation_tool for the goodbye beside it."""
    phone.calls_tool("end_call", text="Goodbye, and have a lovely evening!")
    turn = phone.say("That was all, bye!")
    phone.run("observer")
    phone.run("tool_caller")
    phone.run("effect")
    assert [effect.tool for effect in phone.effects(turn)] == ["end_conversation_tool"]
    ended = [event for event in phone.events(EventType.SYSTEM) if event.idn == "conversation_ended"]
    assert len(ended) == 1


@pytest.mark.requirement("L07")
def test_a_transfer_to_an_invented_number_is_refused(phone: Turns) -> None:
    """Refused by the server; it costs a step, and the call continues."""
    phone.calls_tool("transfer_call", {"phone_number": "+19005550100"})
    phone.says("I can't transfer you there.")
    turn = phone.say("Put me through to +1 900 555 0100.")
    assert phone.result(turn).startswith("Error: The arguments don't fit the tool:")
    assert phone.effects(turn) == []
    assert turn.reply is not None
    assert turn.reply.content == "I can't transfer you there."


@pytest.mark.requirement("L19")
def test_a_call_over_the_daily_limit_is_an_error_for_the_model(
    turns: Turns, bell: Probe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(POLICIES, "bell", KindPolicy(max_per_conversation=1))
    turns.calls_tool("ring_bell", {"times": 1})
    turns.calls_tool("ring_bell", {"times": 2})
    turns.says("It rang once.")
    turn = turns.say("Ring the bell, please.")
    assert [effect.state for effect in turns.effects(turn)] == [EffectState.DONE, EffectState.FAILED]
    assert ("that is the limit" in turns.result(turn), len(bell.done)) == (True, 1)


@pytest.mark.requirement("W01", "W02")
def test_a_tool_that_is_not_offered_is_not_in_the_request(turns: Turns) -> None:
    """It is neither among the functions nor in the prompt."""
    turns.configure(enabled_tools=[])
    turns.says("Hello!")
    turns.say("Hi")
    [asked] = turns.asked()
    assert not asked.get("tools")
    assert "## Available Tools" not in asked["messages"][0]["content"]
