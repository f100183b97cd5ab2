"""A newer message arrives while a tool runs: the call finishes and is recorded, and the reply is withdrawn."""

from __future__ import annotations

import threading

import pytest

from conversations.models import Message, Turn, TurnCall, TurnStatus
from conversations.tool_runs.calls import orphans
from conversations.turns.services import post_message
from tests.conversations.tool_runs.probe import NAME, Probe
from tests.conversations.tool_runs.turns import Turns
from tests.processes import until
from tools.models import Effect, EffectState


@pytest.fixture
def overtaken(turns: Turns, bell: Probe) -> tuple[Turn, Turn]:
    """A turn superseded while its tool ran, and the turn that superseded it."""
    bell.until = threading.Event()
    turns.calls_tool(NAME)
    turns.says("You wrote again; the bell was rung.")
    with turns.tenant.tx():
        first = post_message(turns.conversation.pk, "Ring the bell").turn
    worker = threading.Thread(target=turns.run)
    worker.start()
    until(lambda: bell.done, what="the call of the tool")
    with turns.tenant.tx():
        second = post_message(turns.conversation.pk, "Are you there?").turn
    bell.until.set()
    worker.join()
    return turns.now(first), turns.now(second)


def test_a_started_call_is_recorded_although_its_reply_is_superseded(
    overtaken: tuple[Turn, Turn], turns: Turns
) -> None:
    """It happened, and the ledger says so."""
    [effect] = turns.effects(overtaken[0])
    assert (effect.state, overtaken[0].status) == (EffectState.DONE, TurnStatus.SUPERSEDED)


def test_the_newer_reply_knows_the_superseded_replys_actions(overtaken: tuple[Turn, Turn], turns: Turns) -> None:
    """Completed actions are in the prompt of the merged reply."""
    [messages] = turns.sent(overtaken[1])
    assert f"- {NAME}: " in messages[-1]["content"]


def test_nothing_of_the_superseded_reply_is_sent(overtaken: tuple[Turn, Turn], turns: Turns) -> None:
    """One agent message, from the newer turn."""
    with turns.tenant.tx():
        assert [one.turn_id for one in Message.objects.filter(role="agent")] == [overtaken[1].pk]


def test_an_orphaned_call_is_left_to_staff(turns: Turns, bell: Probe) -> None:
    """Its worker died between the tool and the ledger, and the reply was never resumed."""
    turns.calls_tool(NAME)
    turns.says("It rang.")
    turns.say("Ring the bell")
    with turns.tenant.tx():
        Effect.objects.update(state=EffectState.SENDING, started_at="2020-01-01T00:00:00Z", finished_at=None)
        TurnCall.objects.update(finished_at=None)
    orphans.end_orphans()
    with turns.tenant.tx():
        assert Effect.objects.get().state == EffectState.UNKNOWN
