"""A newer message during a reply: interrupt, queue or reject."""

from __future__ import annotations

import pytest
from django.test import Client

from conversations.followups.system_events import post_event
from conversations.models import Turn
from conversations.turns.services import ReplyInProgress
from tests.conversations.pipeline.conftest import begin, configure
from tests.crashes.invariants import check, settle
from tests.processes import until

pytestmark = pytest.mark.standing_worker

SLOW = {"times": 1, "text": "one two three four five six seven eight", "gap_ms": 150}


def test_queue_answers_each_message_separately(tenant, worker, model) -> None:
    configure(tenant, newer_message="queue")
    talk = begin(tenant)
    model.script("reply", **SLOW)
    first = talk.say("Do you have a table?")
    until(lambda: model.requests("reply"), what="the first reply's call")
    second = talk.say("For four, on Friday")
    settle(tenant)
    old, new = talk.turn(first), talk.turn(second)
    assert (old["status"], new["status"]) == ("done", "done")
    assert old["replied_at"] < new["started_at"]
    check(tenant)


def test_a_queued_message_enters_the_prompt_only_in_its_own_turn(tenant, worker, model) -> None:
    """It was stored before the first reply, yet only the second prompt contains it."""
    configure(tenant, newer_message="queue")
    talk = begin(tenant)
    model.script("thoughts", times=0, ttft_ms=10)
    with tenant.tx():
        talk.say("Do you have a table?")
        talk.say("For four, on Friday")
    settle(tenant)
    one, two, *_ = (request["messages"] for request in model.requests("reply"))
    assert "For four" not in "".join(message["content"] for message in one)
    assert "For four" in two[-1]["content"]
    assert [message["role"] for message in two] == ["system", "user", "assistant", "user"]
    assert "Do you have a table?" in two[1]["content"]


def test_reject_refuses_the_newer_message(tenant, model) -> None:
    configure(tenant, newer_message="reject")
    talk = begin(tenant)
    talk.say("Hello")
    with pytest.raises(ReplyInProgress), tenant.tx():
        talk.say("Hello?")
    assert talk.reload().last_message == 1


def test_reject_refuses_while_the_reply_is_being_written(tenant) -> None:
    configure(tenant, newer_message="reject")
    talk = begin(tenant)
    turn = talk.say("Hello")
    with tenant.tx():
        Turn.objects.filter(pk=turn.pk).update(status="replying")
    with pytest.raises(ReplyInProgress), tenant.tx():
        talk.say("Hello?")


def test_a_refused_message_is_a_409(tenant, api: Client) -> None:
    configure(tenant, newer_message="reject")
    talk = begin(tenant)
    talk.say("Hello")
    url = f"/api/v1/conversations/{talk.conversation.pk}/messages"
    answer = api.post(url, {"content": "Hello?"}, content_type="application/json", headers={"Idempotency-Key": "k"})
    assert answer.status_code == 409
    assert answer.json()["error"]["code"] == "reply_in_progress"


def test_a_refused_message_may_be_retried_with_the_same_key(tenant, api: Client, worker) -> None:
    configure(tenant, newer_message="reject")
    talk = begin(tenant)
    first = talk.say("Hello")
    url = f"/api/v1/conversations/{talk.conversation.pk}/messages"
    post = {"data": {"content": "Hello?"}, "content_type": "application/json", "headers": {"Idempotency-Key": "k"}}
    talk.until_turn(first, lambda turn: turn["status"] == "done" or api.post(url, **post).status_code == 409)
    settle(tenant)
    assert api.post(url, **post).status_code == 202
    settle(tenant)
    check(tenant)


def test_a_customer_is_never_refused_because_of_the_agents_own_turns(tenant) -> None:
    configure(tenant, newer_message="reject")
    talk = begin(tenant)
    with tenant.tx():
        own = post_event(talk.conversation, "urgent_message", {"text": "The table is free."})
    second = talk.say("Hello?")
    assert own.turn is not None
    assert talk.turn(own.turn)["superseded_by"] == str(second.pk)


def test_an_urgent_message_waits_for_the_reply_under_queue(tenant) -> None:
    configure(tenant, newer_message="queue")
    talk = begin(tenant)
    first = talk.say("Hello")
    with tenant.tx():
        post_event(talk.conversation, "urgent_message", {"text": "The table is free."})
    assert talk.turn(first)["status"] == "queued"


def test_the_reply_that_supersedes_an_urgent_turn_passes_on_its_message(talk, worker, model) -> None:
    """The urgent message came before the customer wrote again; the merged reply still contains it."""
    talk.exchange("Do you have a table?")
    with talk.tenant.tx():
        post_event(talk.conversation, "urgent_message", {"text": "Friday at 7 is free."})
        talk.say("Are you there?")
    settle(talk.tenant)
    assert "Friday at 7 is free." in model.requests("reply")[-1]["messages"][-1]["content"]
