"""After a takeover no message of the agent commits: real workers, real locks and real kills."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPException

import pytest

from conversations.handover import operators
from conversations.live.event_log import OperatorSpeaks, open_log
from conversations.models import Conversation, Message, MessageRole, Turn, TurnStatus
from jobs.models import Job, State
from projects.models import User
from tests.conftest import Tenant
from tests.conversations.conftest import Talk, begin, talk, worker
from tests.conversations.threads import claimed, in_thread, run, until_waiting
from tests.crashes.invariants import numbers_have_no_gaps, settle
from tests.processes import ForkServer, ScriptedModel, until

__all__ = ["talk", "worker"]

SLOW = {"text": "one two three four five six seven eight", "gap_ms": 60}


def take(talk: Talk, by: User) -> None:
    with talk.tenant.tx():
        operators.take_over(talk.conversation.pk, by=by)


def check_silence(talk: Talk) -> None:
    """The agent's last message was stored before the takeover: sequence numbers follow the order of commits."""
    with talk.tenant.tx():
        rows = Message.objects.filter(conversation=talk.conversation).order_by("seq")
        roles = [message.role for message in rows]
        numbers_have_no_gaps(Conversation.objects.get(pk=talk.conversation.pk))
    assert MessageRole.AGENT not in roles[roles.index(MessageRole.SYSTEM) :], roles


def test_a_takeover_stops_a_running_reply(talk: Talk, worker: object, model: ScriptedModel, operator: User) -> None:
    """Its partial text is kept for staff."""
    model.script("reply", **SLOW)
    turn = talk.say("Hello")
    until(lambda: model.requests("reply"), what="the reply's call")
    take(talk, operator)
    settle(talk.tenant)
    check_silence(talk)
    assert talk.turn(turn)["status"] == "superseded"
    assert talk.turn(turn)["reply"] is None


def test_a_reply_that_waits_to_commit_is_refused_after_a_takeover(
    talk: Talk, model: ScriptedModel, operator: User, settings: object
) -> None:
    """The model is done, and the commit waits for the lock held by the takeover."""
    settings.OPENAI_BASE_URL = model.base_url  # type: ignore[attr-defined]
    model.script("reply", **SLOW)
    talk.say("Hello")
    with ThreadPoolExecutor(1) as pool:
        job = claimed("reply")
        writing = in_thread(pool, lambda: run(job))
        until(lambda: model.requests("reply"), what="the reply's call")
        with talk.tenant.tx():
            operators.take_over(talk.conversation.pk, by=operator)
            until_waiting()
        writing.result()
    check_silence(talk)
    with talk.tenant.tx():
        assert Job.objects.get(lane="reply").state == State.SUPERSEDED


def test_the_log_refuses_the_agents_messages_after_a_takeover(talk: Talk, operator: User) -> None:
    """By whichever path the message arrives."""
    take(talk, operator)
    with pytest.raises(OperatorSpeaks), talk.tenant.tx(), open_log(talk.conversation.pk) as log:
        log.add_message(MessageRole.AGENT, "Hello", turn=None, idn="agent_message")
    check_silence(talk)


def test_takeovers_at_every_stage_of_a_reply_silence_the_agent(
    tenant: Tenant, worker: object, model: ScriptedModel, operator: User
) -> None:
    """While the reply is queued, generated, streamed, and stored."""
    model.script("reply", times=0, text="one two three four", ttft_ms=30, gap_ms=20)
    talks = [begin(tenant, external_id=str(place)) for place in range(16)]
    moments: list[Callable[[Turn], bool]] = [
        lambda turn: True,
        lambda turn: turn.status != TurnStatus.QUEUED,
        lambda turn: turn.started_at is not None and time.time() - turn.started_at.timestamp() > 0.1,
        lambda turn: turn.status == TurnStatus.DONE,
    ]

    def race(place: int) -> None:
        talk, is_time = talks[place], moments[place % len(moments)]
        turn = talk.say("Hello")

        def has_come() -> bool:
            with tenant.tx():
                return is_time(Turn.objects.get(pk=turn.pk))

        until(has_come, what=f"the moment of conversation {place}")
        take(talk, operator)

    with ThreadPoolExecutor(4) as pool:
        for work in [in_thread(pool, lambda place=place: race(place)) for place in range(len(talks))]:
            work.result()
    settle(tenant)
    for one in talks:
        check_silence(one)
    with tenant.tx():
        answered = set(Message.objects.filter(role=MessageRole.AGENT).values_list("conversation_id", flat=True))
    assert {one.conversation.pk for one in talks[3::4]} <= answered


@pytest.mark.short_leases
def test_a_reply_written_by_a_dead_worker_is_not_sent_after_a_takeover(
    talk: Talk, processes: ForkServer, operator: User
) -> None:
    """The worker that resumes the job finds the conversation taken over."""
    doomed = processes.worker(crash_at="turn.llm_done_pre_commit:1")
    talk.say("Hello")
    doomed.wait()
    take(talk, operator)
    processes.worker()
    with talk.tenant.tx():
        operators.hand_back(talk.conversation.pk, by=operator)
    settle(talk.tenant)
    with talk.tenant.tx():
        said = Message.objects.filter(role=MessageRole.AGENT)
        assert [message.turn.seq for message in said.select_related("turn")] == [2]


@pytest.mark.short_leases
def test_a_takeover_that_dies_before_its_commit_never_happened(talk: Talk, processes: ForkServer) -> None:
    """The agent answers, and another operator may take over."""
    web, base = processes.web(crash_at="operator.pre_commit:1")
    talk.say("Hello")
    url = f"{base}/api/v1/conversations/{talk.conversation.pk}/take-over"
    with suppress(OSError, HTTPException):
        urllib.request.urlopen(urllib.request.Request(url, method="POST", headers=talk.tenant.headers), timeout=30)
    web.wait()
    assert talk.reload().operator_id is None
    processes.worker()
    settle(talk.tenant)
    with talk.tenant.tx():
        assert [message.role for message in Message.objects.order_by("seq")] == ["user", "agent"]


def test_a_waiting_client_is_told_at_once_that_an_operator_took_over(
    talk: Talk, worker: object, processes: ForkServer, model: ScriptedModel, operator: User
) -> None:
    """202 as after the full wait, but at once; the operator is named beside the turn."""
    _, base = processes.web()
    model.script("reply", times=0, fault="stall", after_tokens=1)
    url = f"{base}/api/v1/conversations/{talk.conversation.pk}/messages?wait=50"
    headers = {**talk.tenant.headers, "Content-Type": "application/json"}
    with ThreadPoolExecutor(1) as pool:
        request = urllib.request.Request(url, b'{"content": "Hello"}', headers)
        waiting = pool.submit(lambda: urllib.request.urlopen(request, timeout=60))
        until(lambda: model.requests("reply"), what="the reply's call")
        take(talk, operator)
        answer = waiting.result()
    body = json.loads(answer.read())
    assert (answer.status, body["reply"], body["turn"]["status"]) == (202, None, "superseded")
    assert body["turn"]["error"] == "A colleague took the conversation over."
    assert body["operator"]["name"] == operator.name
