"""Waits: each ends once, is told to the agent once, and never exceeds its time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connections

from conversations.common.instructions import TAKES_LONGER
from conversations.context.urgent_messages import text_for_agent
from conversations.followups.follow_ups import fire_follow_ups
from conversations.followups.waits import MAX_SECONDS, end_overdue_waits, is_waiting
from conversations.models import Conversation, Wait, WaitOutcome
from jobs.models import Job
from tests.conversations.waiting.conftest import (
    FREE,
    answered,
    awaited,
    end,
    expire_timer,
    logged,
    origins,
    outcomes,
    planned,
    shown,
    urgent,
)


def waiting(talk) -> bool:
    with talk.tenant.tx():
        return is_waiting(talk.conversation.pk)


@pytest.mark.requirement("T22")
def test_a_conversation_shows_its_open_waits(talk, api) -> None:
    effect = awaited(talk, answered(talk))
    found = shown(api, talk)
    assert found["waiting"] is True
    assert [(wait["reason"], wait["effect"]) for wait in found["waits"]] == [
        ("check_availability_tool", str(effect.pk))
    ]


def test_a_wait_expires_without_any_worker(talk, api) -> None:
    """No worker and no sweep runs."""
    awaited(talk, answered(talk))
    expire_timer(talk)
    assert shown(api, talk)["waiting"] is False


def test_a_wait_lasts_at_most_ten_minutes(talk) -> None:
    awaited(talk, answered(talk), seconds=86_400)
    with talk.tenant.tx():
        wait = Wait.objects.get()
    assert (wait.until - wait.opened_at).total_seconds() == MAX_SECONDS


@pytest.mark.requirement("T24")
@pytest.mark.parametrize("outcome", [WaitOutcome.RESULT, WaitOutcome.FAILURE])
def test_a_result_ends_the_wait_and_the_agent_speaks(talk, outcome) -> None:
    effect = awaited(talk, answered(talk))
    assert end(talk, effect, outcome=outcome)
    assert not waiting(talk)
    assert outcomes(talk) == [outcome]
    assert [message["text"] for message in urgent(talk)] == [FREE]
    assert origins(talk) == ["message", "urgent"]


def test_a_repeated_result_ends_the_wait_once(talk) -> None:
    effect = awaited(talk, answered(talk))
    assert [end(talk, effect), end(talk, effect)] == [True, False]
    assert len(urgent(talk)) == 1


def test_a_sweep_ends_expired_waits_and_the_agent_announces_the_delay(talk) -> None:
    awaited(talk, answered(talk))
    expire_timer(talk)
    end_overdue_waits()
    assert outcomes(talk) == ["timeout"]
    assert ["check_availability_tool" in message["text"] for message in urgent(talk)] == [True]


def test_how_to_tell_a_delay_stands_apart_from_what_is_told(talk) -> None:
    """The instruction is for the agent. Where no model words the text, a customer may read it."""
    awaited(talk, answered(talk))
    expire_timer(talk)
    end_overdue_waits()
    [message] = urgent(talk)
    assert (message["text"], message["instruction"]) == (
        "No result has come in time (check_availability_tool).",
        TAKES_LONGER,
    )
    assert TAKES_LONGER in text_for_agent(message)


def test_a_sweep_leaves_open_waits_alone(talk) -> None:
    awaited(talk, answered(talk))
    end_overdue_waits()
    assert waiting(talk)


def test_a_sweep_ends_only_the_expired_wait(talk) -> None:
    turn = answered(talk)
    awaited(talk, turn)
    expire_timer(talk)
    awaited(talk, turn)
    end_overdue_waits()
    assert outcomes(talk) == ["timeout", ""]
    assert waiting(talk)


def test_eight_sweeps_and_a_result_end_a_wait_once(talk) -> None:
    effect = awaited(talk, answered(talk))
    expire_timer(talk)
    start = Barrier(9)

    def race(number: int) -> None:
        try:
            start.wait()
            end(talk, effect) if number == 0 else end_overdue_waits()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(9) as pool:
        list(pool.map(race, range(9)))
    [outcome], told = outcomes(talk), urgent(talk)
    late = [message for message in told if message.get("is_late")]
    assert (outcome, len(told), len(late)) in {("result", 1, 0), ("timeout", 2, 1)}


def test_a_late_result_does_not_end_a_newer_wait(talk) -> None:
    turn = answered(talk)
    late = awaited(talk, turn)
    expire_timer(talk)
    end_overdue_waits()
    awaited(talk, turn)
    assert end(talk, late)
    assert waiting(talk)
    assert outcomes(talk) == ["timeout", ""]


def test_a_late_result_is_told_once_and_marked_as_late(talk) -> None:
    effect = awaited(talk, answered(talk))
    expire_timer(talk)
    end_overdue_waits()
    assert [end(talk, effect), end(talk, effect)] == [True, False]
    assert [message.get("is_late") for message in urgent(talk)] == [None, True]


def test_the_conversation_waits_for_both_tools(talk) -> None:
    turn = answered(talk)
    one, other = awaited(talk, turn), awaited(talk, turn)
    end(talk, one, outcome=WaitOutcome.FAILURE, told="It failed.")
    assert waiting(talk)
    end(talk, other)
    assert not waiting(talk)
    assert [message["text"] for message in urgent(talk)] == ["It failed.", FREE]


def test_two_simultaneous_results_are_told_in_one_turn(talk) -> None:
    turn = answered(talk)
    one, other = awaited(talk, turn), awaited(talk, turn)
    end(talk, one)
    end(talk, other)
    assert origins(talk) == ["message", "urgent"]
    assert {message["told_by"] for message in urgent(talk)} == {2}


def test_two_waits_that_expire_together_are_told_in_one_turn(talk) -> None:
    turn = answered(talk)
    awaited(talk, turn)
    awaited(talk, turn)
    expire_timer(talk)
    end_overdue_waits()
    assert outcomes(talk) == ["timeout", "timeout"]
    assert origins(talk) == ["message", "urgent"]


def test_ending_an_effect_without_a_wait_tells_nothing(talk) -> None:
    assert end(talk, planned(talk, answered(talk))) is False
    assert urgent(talk) == []


def test_a_closed_conversations_wait_ends_silently(talk) -> None:
    effect = awaited(talk, answered(talk))
    with talk.tenant.tx():
        Conversation.objects.update(status="ended")
    assert end(talk, effect)
    assert outcomes(talk) == ["result"]
    assert origins(talk) == ["message"]


def test_an_agent_at_its_proactive_limit_still_gets_new_directives(talk) -> None:
    """Nothing else is sent, but exactly one thoughts run follows the end."""
    turn = answered(talk)
    for _ in range(3):
        own = awaited(talk, turn)
        end(talk, own)
        finish_newest_turn(talk)
    end(talk, awaited(talk, turn))
    assert origins(talk) == ["message", "urgent", "urgent", "urgent"]
    with talk.tenant.tx():
        after = [job.ordinal for job in Job.objects.filter(lane="thoughts", state="queued")]
    assert after == [4]


def finish_newest_turn(talk) -> None:
    with logged(talk) as log:
        newest = log.conversation.turns.latest("seq")
        newest.status = "done"
        log.writes.update(newest, ("status",))
        Job.objects.filter(subject_id=talk.conversation.pk).update(state="done")


@pytest.mark.requirement("N12")
def test_no_follow_up_is_sent_while_the_customer_waits_for_us(talk) -> None:
    turn = answered(talk)
    with talk.tenant.tx():
        Conversation.objects.update(follow_up_at="2026-01-01T00:00Z")
    awaited(talk, turn)
    fire_follow_ups()
    assert talk.reload().follow_up_at is None
    assert origins(talk) == ["message"]
