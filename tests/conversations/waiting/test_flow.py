"""Waiting mode in the flows: no directives while a result is awaited, one run of thoughts once it has arrived."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

import pytest
from django.test import Client
from django.utils import timezone

from conversations.context.turn_context_cache import load_after_reply
from conversations.flows import thoughts
from conversations.followups.waits import end_wait, is_waiting
from conversations.models import Directives, Wait, WaitOutcome
from jobs.enqueue import JobRequest, enqueue
from jobs.models import ModelCall
from tests.conversations.effects.conftest import Bench, bench
from tests.conversations.pipeline.conftest import job_of, last_prompt, prompts_of
from tests.conversations.threads import claimed, in_thread, run, until_waiting
from tests.conversations.waiting.conftest import (
    FREE,
    TOOL,
    answered,
    awaited,
    end,
    expire_timer,
    jobs,
    logged,
    origins,
    outcomes,
    shown,
    urgent,
)
from tests.crashes.invariants import settle
from tests.processes import ForkServer, until

pytestmark = pytest.mark.standing_worker

__all__ = ["bench"]

CODE_PHRASE = "Let me check availability for Friday at 7 PM."
SKIPPED = ("skipped", "skipped_waiting")


def post(api: Client, talk, idn: str, **payload):
    url = f"/api/v1/conversations/{talk.conversation.pk}/events"
    return api.post(url, {"idn": idn, "payload": payload}, content_type="application/json")


def activate(api: Client, talk, **payload):
    return post(api, talk, "convoagent_activate_waiting_mode", **payload)


def waiting(talk) -> bool:
    with talk.tenant.tx():
        return is_waiting(talk.conversation.pk)


@pytest.mark.requirement("T22")
def test_an_event_activates_waiting_mode_for_thirty_seconds(talk, api) -> None:
    answered(talk)
    assert activate(api, talk).status_code == 202
    [wait] = shown(api, talk)["waits"]
    assert wait["opened_at"][:16] <= wait["until"][:16]
    assert waiting(talk)


@pytest.mark.parametrize("seconds", [0, -1, 601, "30", True, None, [1]])
def test_an_invalid_wait_length_is_refused(talk, api, seconds) -> None:
    answer = activate(api, talk, seconds=seconds)
    assert answer.status_code == 422
    assert answer.json()["error"]["field"] == "payload.seconds"
    assert "up to 600" in answer.json()["error"]["message"]
    assert not waiting(talk)


@pytest.mark.requirement("T22")
def test_a_second_activation_extends_the_first(talk, api) -> None:
    answered(talk)
    activate(api, talk, seconds=10)
    activate(api, talk, seconds=300)
    activate(api, talk, seconds=10)
    [wait] = shown(api, talk)["waits"]
    assert len(outcomes(talk)) == 1
    until, opened_at = (datetime.fromisoformat(wait[name]) for name in ("until", "opened_at"))
    assert (until - opened_at).total_seconds() >= 300


@pytest.mark.requirement("T24")
def test_an_urgent_message_ends_the_wait_opened_by_an_event(talk, api) -> None:
    answered(talk)
    activate(api, talk)
    post(api, talk, "urgent_message", text=FREE)
    assert not waiting(talk)
    assert outcomes(talk) == ["result"]
    assert [message["text"] for message in urgent(talk)] == [FREE]


@pytest.mark.requirement("T24")
def test_an_urgent_message_without_text_ends_the_wait_silently(talk, api) -> None:
    """No message is sent, as there is nothing to tell; the directives are written."""
    answered(talk)
    activate(api, talk)
    assert post(api, talk, "urgent_message", text=" ").status_code == 202
    assert outcomes(talk) == ["result"]
    assert origins(talk) == ["message"]
    assert ("queued", "") in jobs(talk, "thoughts")


@pytest.mark.requirement("T24")
@pytest.mark.parametrize("text", [7, ["a"], None, "x" * 2001])
def test_an_invalid_urgent_message_is_refused(talk, api, text) -> None:
    answered(talk)
    activate(api, talk)
    answer = post(api, talk, "urgent_message", text=text)
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, "payload.text")
    assert waiting(talk)


@pytest.mark.requirement("T24")
def test_an_urgent_message_under_another_name_is_refused(talk, api) -> None:
    """It would be told to nobody."""
    answered(talk)
    activate(api, talk)
    answer = post(api, talk, "urgent_message", message=FREE)
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, "payload.text")
    assert waiting(talk)
    assert post(api, talk, "urgent_message").status_code == 202
    assert not waiting(talk)


def test_an_urgent_message_does_not_end_a_tools_wait(talk, api) -> None:
    awaited(talk, answered(talk))
    post(api, talk, "urgent_message", text="Something else.")
    assert waiting(talk)


@pytest.mark.requirement("T22")
def test_the_live_stream_shows_the_start_and_end_of_a_wait(talk) -> None:
    effect = awaited(talk, answered(talk))
    end(talk, effect)
    with talk.tenant.tx():
        events = talk.conversation.events.filter(type="waiting").order_by("seq")
        found = [(event.idn, event.payload["waiting"]) for event in events]
    assert found == [("convoagent_activate_waiting_mode", True), ("waiting_ended", False)]


def think(talk, turn) -> None:
    with talk.tenant.tx():
        enqueue(
            [
                JobRequest(
                    lane="thoughts",
                    project_id=talk.tenant.project.pk,
                    subject_id=talk.conversation.pk,
                    ordinal=turn.seq,
                    key=f"thoughts:{turn.pk}:test",
                )
            ]
        )


@pytest.mark.requirement("T22")
def test_no_thoughts_run_while_a_result_is_awaited(talk, processes: ForkServer, model) -> None:
    """The run is skipped with a reason."""
    turn = answered(talk)
    awaited(talk, turn)
    processes.worker()
    think(talk, turn)
    settle(talk.tenant)
    assert jobs(talk, "thoughts")[-1] == SKIPPED
    assert model.requests("thoughts") == []


def test_a_reading_from_before_the_end_of_a_wait_does_not_skip_thoughts(talk) -> None:
    """They are queued within the second for which a reading is shared."""
    turn = answered(talk)
    effect = awaited(talk, turn)
    job = job_of(turn, lane="thoughts")
    with pytest.raises(thoughts.Waiting):
        asyncio.run(thoughts._load_context(job))
    end(talk, effect)
    assert asyncio.run(load_after_reply(job)).turn_context.waits
    asyncio.run(thoughts._load_context(job))


@pytest.mark.requirement("T24")
@pytest.mark.parametrize("is_wait_in_reading", [True, False])
def test_thoughts_after_a_wait_know_the_result(is_wait_in_reading, talk) -> None:
    """Also if the shared reading is older than the end of the wait, or than the wait itself."""
    turn = answered(talk)
    if not is_wait_in_reading:
        asyncio.run(load_after_reply(job_of(turn)))
    effect = awaited(talk, turn)
    asyncio.run(load_after_reply(job_of(turn)))
    with talk.tenant.tx():
        type(effect).objects.filter(pk=effect.pk).update(state="done", told=FREE, result={"free": True})
    end(talk, effect)
    job = replace(job_of(turn, lane="thoughts"), key=f"thoughts:{turn.pk}:after_wait")
    [action] = asyncio.run(thoughts._load_context(job)).actions
    assert (action.state, action.note) == ("done", FREE)


@pytest.mark.requirement("T22")
def test_opening_a_wait_cancels_running_thoughts(talk, processes: ForkServer, model) -> None:
    """They cannot know the result, so they are canceled and never written."""
    turn = answered(talk)
    model.script("thoughts", times=0, ttft_ms=60_000)
    processes.worker()
    think(talk, turn)
    until(lambda: model.requests("thoughts"), what="the thoughts' call")
    awaited(talk, turn)
    settle(talk.tenant)
    assert jobs(talk, "thoughts")[-1] == ("superseded", "skipped_waiting")
    with talk.tenant.tx():
        assert not Directives.objects.exists()


def test_thoughts_finished_during_a_wait_are_not_written(talk, processes: ForkServer, model) -> None:
    """The write itself checks whether a wait is open."""
    turn = answered(talk)
    model.script("thoughts", times=0, ttft_ms=500)
    processes.worker()
    think(talk, turn)
    until(lambda: model.requests("thoughts"), what="the thoughts' call")
    with talk.tenant.tx():
        now = timezone.now()
        Wait.objects.create(conversation=talk.conversation, reason=TOOL, opened_at=now, until=now + timedelta(hours=1))
    settle(talk.tenant)
    assert jobs(talk, "thoughts")[-1] == SKIPPED
    with talk.tenant.tx():
        assert not Directives.objects.exists()


@pytest.mark.requirement("T23")
def test_a_message_during_a_wait_is_answered_with_directives_marked_as_waiting(talk, worker, model) -> None:
    first = talk.exchange("I'd like to book a table")
    with talk.tenant.tx():
        turn = talk.conversation.turns.get()
    awaited(talk, turn)
    during = talk.exchange("Do you have a terrace?")
    assert during["status"] == "done"
    assert during["freshness"] == "waiting"
    assert during["directives_used"] == first["directives_written"]
    assert during["directives_written"] is None
    prompt = last_prompt(model, "reply")
    assert f'<CurrentTaskAnalysis version="1" awaiting="{TOOL}">' in prompt
    assert f'<Waiting for="{TOOL}">' in prompt


@pytest.mark.requirement("T20")
def test_the_prompt_mentions_no_wait_when_none_is_open(talk) -> None:
    prompt = "".join(prompts_of(talk, talk.say("Hello")))
    assert "<Waiting" not in prompt


@pytest.mark.requirement("T24")
def test_exactly_one_thoughts_run_follows_the_end_of_a_wait(talk, worker, model) -> None:
    """The result's text is in the next directives."""
    talk.exchange("I'd like to book a table for four on Friday at 7 PM")
    with talk.tenant.tx():
        turn = talk.conversation.turns.get()
    effect = awaited(talk, turn)
    talk.exchange("Do you have a terrace?")
    before = len(model.requests("thoughts"))
    with talk.tenant.tx():
        type(effect).objects.filter(pk=effect.pk).update(state="done", told=FREE)
    end(talk, effect)
    settle(talk.tenant)
    assert len(model.requests("thoughts")) == before + 1
    assert FREE in last_prompt(model, "thoughts")
    directives = shown_directives(talk)
    assert FREE.rstrip(".") in str(directives)


def shown_directives(talk) -> dict:
    directives = talk.reload().directives
    assert directives is not None
    return directives.document


@pytest.mark.requirement("T24", "T21")
def test_the_agent_tells_the_result_proactively(talk, worker, model) -> None:
    """The result arrives as an urgent message."""
    talk.exchange("I'd like to book a table")
    with talk.tenant.tx():
        turn = talk.conversation.turns.get()
    end(talk, awaited(talk, turn))
    settle(talk.tenant)
    told = last_prompt(model, "reply").partition("<UrgentMessages>\nWhat has just come in; ")[2]
    assert f"\n- {FREE}\n</UrgentMessages>" in told
    with talk.tenant.tx():
        last = talk.conversation.turns.latest("seq")
        assert (last.origin, last.status) == ("urgent", "done")
        assert "is free" in last.reply.content


@pytest.mark.requirement("T27")
def test_the_trigger_phrase_starts_the_check_and_waiting_mode(talk, worker, model) -> None:
    model.script("reply", text=CODE_PHRASE)
    turn = talk.say("Friday at 7 PM, for four")
    found = talk.until_turn(turn, lambda turn: turn["effects"])
    assert [verdict["tool"] for verdict in found["verdicts"] if verdict["fired"]] == [TOOL]
    settle(talk.tenant)
    with talk.tenant.tx():
        [opened] = talk.conversation.events.filter(idn="convoagent_activate_waiting_mode")
    assert (opened.payload["waiting"], opened.payload["effect"]) == (True, found["effects"][0]["id"])
    assert outcomes(talk) == ["result"]


@pytest.mark.short_leases
def test_a_crash_while_opening_a_wait_loses_nothing(talk, processes: ForkServer, model) -> None:
    """The wait is committed with the plan, and ends once."""
    model.script("reply", text=CODE_PHRASE)
    doomed = processes.worker(crash_at="wait.opened:1")
    turn = talk.say("Friday at 7 PM, for four")
    doomed.wait()
    processes.worker()
    talk.until_turn(turn, lambda turn: turn["effects"] and turn["effects"][0]["state"] == "done")
    settle(talk.tenant)
    assert outcomes(talk) == ["result"]
    assert len(urgent(talk)) == 1


@pytest.mark.short_leases
def test_a_crash_before_the_end_is_told_tells_it_once(talk, processes: ForkServer) -> None:
    """The end and the urgent message are one transaction."""
    awaited(talk, answered(talk))
    expire_timer(talk)
    doomed = processes.worker(crash_at="wait.ended_pre_urgent:1")
    doomed.wait()
    assert outcomes(talk) == [""]
    processes.worker()
    until(lambda: outcomes(talk) == [WaitOutcome.TIMEOUT], what="the end of the wait")
    settle(talk.tenant)
    assert len(urgent(talk)) == 1


def sent_prompts(talk) -> dict[int, str]:
    """The urgent messages told by each sent reply, by turn number."""
    with talk.tenant.tx():
        turns = talk.conversation.turns.filter(status="done")
        calls = ModelCall.objects.filter(skill="reply", turn_id__in=turns.values("pk")).order_by("started_at")
        prompts = {call.turn_id: call.messages[-1]["content"] for call in calls}
        return {turn.seq: _told_at_once(prompts.get(turn.pk, "")) for turn in turns}


def _told_at_once(prompt: str) -> str:
    return prompt.partition("<UrgentMessages>")[2].partition("</UrgentMessages>")[0]


def tellers(talk, words: str) -> list[int]:
    return [seq for seq, told in sent_prompts(talk).items() if words in told]


@pytest.mark.requirement("T24")
def test_an_urgent_message_during_the_reading_of_a_reply_is_told_by_it_alone(bench: Bench) -> None:
    """The reply that begins waits for the lock and reads the message, whatever the clocks say."""
    talk = bench.talk
    turn = answered(talk)
    one, other = awaited(talk, turn), awaited(talk, turn)
    end(talk, one, told="The first result.")
    with ThreadPoolExecutor(1) as pool:
        with logged(talk) as log:
            assert end_wait(log, other.pk, outcome=WaitOutcome.RESULT, told="The second result.")
            reply = in_thread(pool, partial(run, claimed("reply")))
            until_waiting()
        reply.result(timeout=60)
    assert [message["told_by"] for message in urgent(talk)] == [2, 2]
    assert tellers(talk, "The first result.") == tellers(talk, "The second result.") == [2]


@pytest.mark.requirement("T24")
def test_an_urgent_message_during_the_writing_of_a_reply_is_told_by_the_next_alone(
    talk, processes: ForkServer, model
) -> None:
    """The interrupted reply is not sent, so the next one tells both messages once."""
    turn = answered(talk)
    one, other = awaited(talk, turn), awaited(talk, turn)
    model.script("reply", times=1, ttft_ms=60_000)
    processes.worker()
    end(talk, one, told="The first result.")
    until(lambda: model.requests("reply"), what="the first reply's call")
    end(talk, other, told="The second result.")
    settle(talk.tenant)
    assert [message["told_by"] for message in urgent(talk)] == [2, 3]
    assert tellers(talk, "The first result.") == tellers(talk, "The second result.") == [3]
