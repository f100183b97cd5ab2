"""Ending and transferring: the signals of the tools, and how the conversation obeys them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from conversations.followups.follow_ups import fire_follow_ups
from conversations.followups.proactive import say_proactively
from conversations.live.event_log import open_log
from conversations.models import Conversation, Event, Turn
from conversations.turns.channel_signals import ConversationOver, apply_signal
from jobs.models import Job
from projects.records.attributes import set_attribute
from tests.conftest import Tenant
from tests.conversations.conftest import Talk, begin
from tests.tools.messaging.conftest import context_for
from tools.engine.execution.outcome import Ending, Outcome, Signal
from tools.engine.registry import builtin_tools
from tools.engine.transfers import TRANSFER_NUMBERS, TransferNumber, choose_number, read_numbers
from tools.models import Effect

KITCHEN, DESK = "+390612345678", "+390687654321"


def run(name: str, arguments: dict[str, Any], tenant: Tenant) -> Outcome:
    handler = builtin_tools()[name].handler
    assert handler is not None
    return asyncio.run(handler.execute(arguments, context_for(tenant, channel="phone")))


@pytest.mark.requirement("F18")
def test_the_goodbye_signals_the_end_without_words(tenant: Tenant) -> None:
    outcome = run("end_conversation_tool", {}, tenant)
    assert (outcome.signal, outcome.result, outcome.told) == (Signal.END, {"ended": True}, "")


@pytest.mark.requirement("L07")
def test_a_call_goes_to_the_named_number(tenant: Tenant) -> None:
    with tenant.tx():
        set_attribute(tenant.project, TRANSFER_NUMBERS, f"front desk: {DESK}, the kitchen: {KITCHEN}")
    outcome = run("transfer_call_tool", {"to": "someone in the kitchen"}, tenant)
    assert outcome.signal is Signal.TRANSFER
    assert outcome.result == {"transferred": True, "to": "the kitchen", "number": KITCHEN}


@pytest.mark.requirement("L07")
@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ("somebody at the desk", "front desk"),
        ("the bar", "Bar"),
        ("in the kitchen or the bar", "the kitchen"),
        ("", "the kitchen"),
    ],
)
def test_a_call_is_matched_by_distinctive_words(wanted: str, name: str) -> None:
    """“the” is nobody's name."""
    numbers = [TransferNumber(one, KITCHEN) for one in ("the kitchen", "front desk", "Bar")]
    chosen = choose_number(numbers, wanted)
    assert chosen is not None
    assert chosen.name == name


@pytest.mark.requirement("L07")
def test_a_transfer_number_without_a_country_code_uses_the_projects_region(tenant: Tenant) -> None:
    """An impossible number is left out."""
    with tenant.tx():
        set_attribute(tenant.project, TRANSFER_NUMBERS, "12, 06 8765 4321")
    assert run("transfer_call_tool", {"to": ""}, tenant).result["number"] == DESK


@pytest.mark.requirement("L07")
@pytest.mark.parametrize("wanted", ["the manager", "+900123456", "whoever is in"])
@pytest.mark.parametrize("numbers", [{"desk": DESK, "kitchen": KITCHEN}, {"desk": DESK}, [DESK, KITCHEN]])
def test_a_call_for_an_unknown_person_is_not_transferred(tenant: Tenant, wanted: str, numbers: object) -> None:
    """The agent reads who there is. A number given by the model is ignored."""
    with tenant.tx():
        set_attribute(tenant.project, TRANSFER_NUMBERS, numbers)
    outcome = run("transfer_call_tool", {"to": wanted}, tenant)
    assert (outcome.ending, outcome.signal) == (Ending.FAILED, None)
    assert f"no number is called “{wanted}”" in outcome.told
    assert "desk" in outcome.told or DESK in outcome.told


@pytest.mark.requirement("L07")
@pytest.mark.parametrize(("wanted", "numbers"), [("", {"desk": DESK, "kitchen": KITCHEN}), ("the manager", [DESK])])
def test_a_call_for_nobody_in_particular_goes_to_the_first_number(tenant: Tenant, wanted: str, numbers: object) -> None:
    """A single number without a name is everybody's."""
    with tenant.tx():
        set_attribute(tenant.project, TRANSFER_NUMBERS, numbers)
    assert run("transfer_call_tool", {"to": wanted}, tenant).result["number"] == DESK


def test_without_a_number_the_agent_reads_what_to_offer(tenant: Tenant) -> None:
    outcome = run("transfer_call_tool", {"to": ""}, tenant)
    assert (outcome.ending, outcome.signal) == (Ending.FAILED, None)
    assert "Offer to take a message" in outcome.told


@pytest.mark.parametrize(
    "value",
    [f"{DESK}, kitchen: {KITCHEN}", [DESK, f"kitchen = {KITCHEN}"], f"06 8765 4321\nkitchen: {KITCHEN}; nonsense"],
)
def test_numbers_are_accepted_in_any_notation(value: object) -> None:
    found = [(one.name, one.number) for one in read_numbers(value, region="IT")]
    assert found == [("", DESK), ("kitchen", KITCHEN)]


@pytest.fixture
def call(tenant: Tenant) -> Talk:
    return begin(tenant, channel="phone")


@pytest.fixture
def chat(tenant: Tenant) -> Talk:
    return begin(tenant)


def signal(talk: Talk, kind: Signal, turn: Turn) -> bool:
    """Obey a signal of this turn's effect, as the effect's commit does."""
    with talk.tenant.tx(), open_log(talk.conversation.pk) as log:
        return apply_signal(log, kind, turn_id=turn.pk, result={"mark": True})


def answered(talk: Talk) -> Turn:
    """A turn whose reply was sent."""
    turn = talk.say("Hello")
    with talk.tenant.tx():
        Turn.objects.filter(pk=turn.pk).update(status="done")
        Job.objects.filter(subject_id=talk.conversation.pk).update(state="done")
    return turn


def idns(talk: Talk) -> list[str]:
    with talk.tenant.tx():
        return list(Event.objects.filter(conversation=talk.conversation).values_list("idn", flat=True))


def turns(talk: Talk) -> list[tuple[str, str]]:
    with talk.tenant.tx():
        return list(Turn.objects.filter(conversation=talk.conversation).values_list("origin", "status"))


@pytest.mark.requirement("F18")
@pytest.mark.parametrize(
    ("kind", "status", "idn"),
    [(Signal.END, "ended", "conversation_ended"), (Signal.TRANSFER, "transferred", "conversation_transferred")],
)
def test_a_signal_sets_the_status_and_is_logged(call: Talk, kind: Signal, status: str, idn: str) -> None:
    assert signal(call, kind, answered(call))
    assert call.reload().status == status
    assert idn in idns(call)


@pytest.mark.requirement("F18")
def test_a_goodbye_does_not_end_a_transferred_call(call: Talk) -> None:
    """“I'll put you through. Goodbye!” is both, and the two can finish in either order."""
    turn = answered(call)
    assert signal(call, Signal.TRANSFER, turn)
    assert signal(call, Signal.END, turn)
    assert call.reload().status == "transferred"
    assert idns(call)[-1] == "conversation_transferred"


@pytest.mark.requirement("F18")
@pytest.mark.parametrize(("state", "status"), [("planned", "open"), ("sending", "open"), ("failed", "ended")])
def test_a_goodbye_that_finishes_first_waits_for_the_transfer(state: str, status: str, call: Talk) -> None:
    """A call is not ended during a transfer; if the transfer fails, it ends."""
    turn = answered(call)
    with call.tenant.tx():
        Effect.objects.create(
            project_id=call.tenant.project.pk,
            conversation_id=call.conversation.pk,
            turn_id=turn.pk,
            tool="transfer_call_tool",
            kind="transfer",
            delivery="idempotent",
            effect_key="transfer",
            definition={},
            state=state,
        )
    assert signal(call, Signal.END, turn)
    assert call.reload().status == status


@pytest.mark.requirement("F18")
@pytest.mark.parametrize("kind", list(Signal))
def test_nothing_is_said_proactively_after_the_end(chat: Talk, kind: Signal) -> None:
    """Neither an urgent message nor a follow-up."""
    turn = answered(chat)
    with chat.tenant.tx():
        Conversation.objects.filter(pk=chat.conversation.pk).update(follow_up_at="2026-01-01T00:00Z")
    signal(chat, kind, turn)
    with chat.tenant.tx(), open_log(chat.conversation.pk) as log:
        assert say_proactively(log, "The table is free.", {}) is None
    fire_follow_ups()
    assert turns(chat) == [("message", "done")]
    assert chat.reload().follow_up_at is None


@pytest.mark.requirement("F18")
def test_an_unsent_reply_is_dropped_after_a_transfer(call: Talk) -> None:
    turn = answered(call)
    call.say("Are you there?")
    signal(call, Signal.TRANSFER, turn)
    assert turns(call) == [("message", "done"), ("message", "superseded")]
    with call.tenant.tx():
        assert not Job.objects.filter(lane="reply", state__in=("queued", "running")).exists()


def test_an_unsent_proactive_reply_is_dropped_after_the_end(chat: Talk) -> None:
    turn = answered(chat)
    with chat.tenant.tx(), open_log(chat.conversation.pk) as log:
        say_proactively(log, "The table is free.", {})
    signal(chat, Signal.END, turn)
    assert turns(chat) == [("message", "done"), ("urgent", "superseded")]


def test_a_customer_who_writes_after_the_goodbye_is_answered(call: Talk) -> None:
    turn = answered(call)
    call.say("One more thing")
    assert not signal(call, Signal.END, turn)
    assert call.reload().status == "open"
    assert idns(call)[-1] == "conversation_goes_on"
    assert turns(call)[-1] == ("message", "queued")


def test_a_new_message_reopens_an_ended_chat(chat: Talk) -> None:
    signal(chat, Signal.END, answered(chat))
    chat.say("Me again")
    assert chat.reload().status == "open"
    assert "conversation_reopened" in idns(chat)
    assert turns(chat)[-1] == ("message", "queued")


@pytest.mark.parametrize("kind", list(Signal))
def test_an_ended_call_accepts_no_message(call: Talk, kind: Signal) -> None:
    signal(call, kind, answered(call))
    with pytest.raises(ConversationOver):
        call.say("Hello?")
    assert len(turns(call)) == 1


def test_the_api_reports_that_a_call_has_ended(tenant: Tenant, api: Any, call: Talk) -> None:
    signal(call, Signal.TRANSFER, answered(call))
    response = api.post(
        f"/api/v1/conversations/{call.conversation.pk}/messages", {"content": "Hi"}, content_type="application/json"
    )
    assert (response.status_code, response.json()["error"]["code"]) == (409, "conversation_over")
