"""Everyone locks a conversation before its jobs, so concurrent writers never deadlock."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from conversations.followups.system_events import post_event
from conversations.followups.waits import ACTIVATE
from conversations.live.event_log import lock_conversation
from conversations.turns.services import post_message
from jobs.fence import LeaseLost
from jobs.lanes import ClaimedJob
from jobs.models import Job, State
from jobs.services import fail_job
from tests.conversations.conftest import Talk
from tests.conversations.effects.conftest import Bench, bench, target, webhook
from tests.conversations.effects.target import Target
from tests.conversations.threads import claimed, in_thread, is_locked, run, until_waiting

__all__ = ["bench", "target"]


def state_of(talk: Talk, job: ClaimedJob) -> str:
    with talk.tenant.tx():
        return Job.objects.get(pk=job.id).state


def test_a_newer_message_and_the_superseded_reply_do_not_deadlock(talk: Talk) -> None:
    """Both wait for the conversation, the customer first. A holder of the job would block both for ever."""
    talk.say("Hello")
    reply = claimed("reply")

    def post() -> None:
        with talk.tenant.tx():
            post_message(talk.conversation.pk, "Hello?")

    with ThreadPoolExecutor(2) as pool:
        with talk.tenant.tx():
            lock_conversation(talk.conversation.pk)
            posted = in_thread(pool, post)
            until_waiting(1)
            failed = in_thread(pool, lambda: fail_job(reply, reason="The model is gone."))
            until_waiting(2)
        posted.result(timeout=60)
        assert isinstance(failed.exception(timeout=60), LeaseLost)
    assert state_of(talk, reply) == State.SUPERSEDED


@pytest.mark.requirement("T22")
def test_an_opening_wait_and_thoughts_do_not_deadlock(bench: Bench) -> None:
    talk = bench.talk
    talk.say("Hello")
    run(claimed("reply"))
    thoughts = claimed("thoughts")

    def activate() -> None:
        with talk.tenant.tx():
            post_event(talk.conversation, ACTIVATE, {})

    with ThreadPoolExecutor(2) as pool:
        with talk.tenant.tx():
            lock_conversation(talk.conversation.pk)
            activated = in_thread(pool, activate)
            until_waiting(1)
            thought = in_thread(pool, partial(run, thoughts))
            until_waiting(2)
            assert not is_locked(thoughts.id)
        activated.result(timeout=60)
        thought.result(timeout=60)
    assert state_of(talk, thoughts) == State.SUPERSEDED


@pytest.mark.parametrize("lane", ["reply", "observer", "tool_caller"])
def test_a_worker_waiting_for_its_conversation_holds_no_job(lane: str, bench: Bench) -> None:
    talk = bench.talk
    talk.say("Hello")
    if lane != "reply":
        run(claimed("reply"))
    assert_waits_without_job(talk, claimed(lane))


def test_an_effect_waiting_for_its_conversation_holds_no_job(bench: Bench, target: Target) -> None:
    bench.tool("notify_crew", webhook(target.url))
    bench.plan("notify_crew")
    assert_waits_without_job(bench.talk, claimed("effect"))


def assert_waits_without_job(talk: Talk, job: ClaimedJob) -> None:
    with ThreadPoolExecutor(1) as pool:
        with talk.tenant.tx():
            lock_conversation(talk.conversation.pk)
            working = in_thread(pool, partial(run, job))
            until_waiting()
            assert not is_locked(job.id)
        working.result(timeout=60)
    assert state_of(talk, job) == State.DONE
