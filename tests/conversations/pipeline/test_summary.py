"""Long conversations: prompts stay within 25 kB, and nothing said early is forgotten."""

from __future__ import annotations

from typing import Any

import pytest

from conversations.context.summaries import DUE_BYTES, messages_to_fold, store_summary
from conversations.context.transcript import (
    MAX_BYTES,
    MAX_MESSAGE_BYTES,
    MIN_MESSAGES,
    TranscriptMessage,
    clip,
    fit,
    size_of,
)
from conversations.context.turn_context import context_after
from conversations.flows import summary as flow
from conversations.flows.single_call import PendingCalls
from conversations.models import Message, Summary
from conversations.prompts.summary import ConversationSummary
from jobs.claims import claim
from jobs.enqueue import JobRequest, enqueue
from jobs.lanes import lane_of
from tests.conversations.conftest import Talk
from tests.conversations.pipeline.conftest import begin, configure, job_of, prompts_of
from tests.conversations.waiting.conftest import answered
from tests.crashes.invariants import check, settle
from tests.offline_model.prompts import Line, summarise

pytestmark = pytest.mark.standing_worker

PROMPT_BYTES = 25_000
CHAT = " I was wondering about many things while I walked along the river in the evening." * 15


def said(*parts: tuple[int, str, int], size: int = 1_000) -> list[TranscriptMessage]:
    """Messages by (seq, role, turn), each of about `size` bytes."""
    return [
        TranscriptMessage(seq=seq, role=role, content="x" * size, created_at=None, turn=turn)
        for seq, role, turn in parts
    ]  # type: ignore[arg-type]


def exchanges(count: int, *, size: int = 1_000) -> list[TranscriptMessage]:
    pairs = [((2 * at - 1, "user", at), (2 * at, "agent", at)) for at in range(1, count + 1)]
    return said(*(part for pair in pairs for part in pair), size=size)


def test_the_oldest_messages_are_summarized_up_to_a_reply() -> None:
    folded = messages_to_fold(exchanges(6))
    assert [message.seq for message in folded] == list(range(1, folded[-1].seq + 1))
    assert folded[-1].role == "agent"
    assert len(folded) == 10 - 2


def test_a_message_waiting_for_its_turn_is_never_skipped() -> None:
    """It was stored before the previous turn's reply and answered after it; a summary may not end in between."""
    waiting = [(1, "user", 1), (3, "agent", 1), (2, "user", 2), (4, "agent", 2)]
    rest = [(seq, "user" if seq % 2 else "agent", seq // 2 + 1) for seq in range(5, 13)]
    folded = messages_to_fold(said(*waiting, *rest))
    assert {message.seq for message in folded} >= {1, 2, 3, 4}
    assert messages_to_fold(said(*waiting[:3], *rest[:3])) == []


def test_one_call_summarizes_no_more_than_a_prompt_holds() -> None:
    assert size_of(messages_to_fold(exchanges(60))) < 16_000


def test_fitting_keeps_the_newest_messages() -> None:
    messages = exchanges(30)
    kept = fit(messages)
    assert size_of(kept) <= MAX_BYTES
    assert kept == messages[-len(kept) :]


def test_the_newest_messages_stay_whatever_their_size() -> None:
    assert fit(exchanges(10, size=9_000)) == exchanges(10, size=9_000)[-MIN_MESSAGES:]


def test_a_huge_message_is_clipped_in_its_middle() -> None:
    text = f"begin {'ü' * 20_000} end"
    clipped = clip(text)
    assert len(clipped.encode()) <= MAX_MESSAGE_BYTES + 10
    assert (clipped[:5], clipped[-3:]) == ("begin", "end")


def long_talk(talk: Talk, *, turns: int) -> list[dict[str, Any]]:
    return [talk.exchange(f"Number {number}.{CHAT}") for number in range(turns)]


def prompt_sizes(model) -> dict[str, int]:
    """The largest prompt of each skill, in bytes."""
    sizes: dict[str, int] = {}
    for request in model.requests():
        size = sum(len(message["content"].encode()) for message in request["messages"])
        sizes[request["skill"]] = max(size, sizes.get(request["skill"], 0))
    return sizes


def test_prompts_of_a_long_conversation_stay_small_and_lose_no_fact(talk, worker, model) -> None:
    """The order number was only given in the first message; no persona field holds it."""
    talk.exchange("Hello, my order number is AB-1234, and we want a table on Friday at 8 pm for six people")
    long_talk(talk, turns=14)
    latest = model.requests("reply")[-1]["messages"]
    assert all(size <= PROMPT_BYTES for size in prompt_sizes(model).values())
    assert not any("AB-1234" in message["content"] for message in latest[:-1])
    assert "order_number: AB-1234" in latest[-1]["content"]
    check(talk.tenant)


def test_every_message_is_in_the_prompt_or_in_the_summary(talk, worker, model) -> None:
    configure(talk.tenant, enabled_tools=[])
    talk.exchange("Hello")
    long_talk(talk, turns=12)
    turn = talk.say("And now?")
    settle(talk.tenant)
    with talk.tenant.tx():
        summary = Summary.objects.order_by("-until_seq").first()
        spoken = Message.objects.filter(seq__gt=summary.until_seq, seq__lt=turn.message.seq).count()
    assert summary.until_seq > 0
    assert len(model.requests("reply")[-1]["messages"]) == spoken + 2


def test_a_summary_covers_exactly_the_messages_it_was_made_of(talk) -> None:
    """Every message is either in the summary or in the next prompt, never in both or neither."""
    words = [f"Number {number}." for number in range(24)]
    for asked, said in zip(words[::2], words[1::2], strict=True):
        turn = answered(talk, asked + CHAT[:900], said)
    with talk.tenant.tx():
        enqueue([JobRequest("summary", talk.tenant.project.pk, talk.conversation.pk, turn.seq, key="summary:1")])
    [job] = claim([lane_of("summary")], limit=1)
    begun = flow._prepare(job)
    assert begun is not None
    flow._commit(
        job, begun, ConversationSummary(facts=[], text="They counted."), PendingCalls(job, talk.tenant.project.pk)
    )
    read = begun.request.messages[-1]["content"]
    spoken = "".join(prompts_of(talk, talk.say("And now?")))
    assert [one for one in words if (one in read) is (one in spoken)] == []


def test_a_short_conversation_is_not_summarized(talk, worker, model) -> None:
    for words in ("Hello", "A table for two", "On Friday"):
        talk.exchange(words)
    assert model.requests("summary") == []


@pytest.mark.parametrize("skill", ["observer", "thoughts", "detect"])
def test_every_flow_reads_the_summary(skill, talk, worker, model) -> None:
    summarised(talk, "The guest is allergic to lupins.")
    talk.exchange("Is that all right?")
    prompts = [request["messages"][-1]["content"] for request in model.requests(skill)]
    assert any("<Summary>\nThe guest is allergic to lupins." in prompt for prompt in prompts)


def summarised(talk: Talk, text: str) -> None:
    """A conversation of one exchange that is already summarized."""
    talk.exchange("Hello")
    with talk.tenant.tx():
        conversation = talk.reload()
        conversation.summary = Summary.objects.create(conversation=conversation, until_seq=2, text=text)
        conversation.save(update_fields=["summary"])


def test_a_fact_the_model_drops_is_carried_over(talk, worker, model) -> None:
    model.script("summary", times=1, json={"facts": [{"field": "wish", "value": "a quiet table"}], "text": "One."})
    model.script("summary", times=0, json={"facts": [], "text": "Two."})
    talk.exchange("Hello")
    long_talk(talk, turns=16)
    with talk.tenant.tx():
        summary = Summary.objects.order_by("-until_seq").first()
    assert (summary.text, summary.facts) == ("Two.", {"wish": "a quiet table"})


def folded(talk: Talk, facts: dict[str, str], *, previous: Summary | None = None, until: int = 2) -> Summary:
    with talk.tenant.tx():
        return store_summary(talk.conversation, until_seq=until, text="Talk.", facts=facts, previous=previous)


def test_a_newer_value_replaces_the_older_one_and_stands_last(talk) -> None:
    """Facts are dropped oldest first if there are too many."""
    first = folded(talk, {"date": "Friday", "party_size": "6"})
    assert folded(talk, {"date": "Saturday"}, previous=first, until=4).facts == {"party_size": "6", "date": "Saturday"}


@pytest.mark.requirement("T25")
def test_a_turn_answered_late_still_sees_its_own_messages(talk) -> None:
    """A newer summary covers them by then; the turn uses the one of its own time."""
    answered(talk, "Hello", "Good evening!")
    turn = talk.say("A table for two")
    folded(talk, {}, until=2)
    folded(talk, {"party_size": "2"}, until=3)
    *_, latest = prompts_of(talk, turn)
    assert "customer: A table for two" in latest
    assert "party_size" not in latest


def test_the_newest_facts_stay_when_there_are_too_many(talk) -> None:
    first = folded(talk, {f"fact_{number}": "x" * 150 for number in range(15)})
    facts = folded(talk, {f"fact_{number}": "x" * 150 for number in range(15, 30)}, previous=first, until=4).facts
    assert list(facts) == [f"fact_{number}" for number in range(30 - len(facts), 30)]
    assert 10 < len(facts) < 30


def test_the_next_summary_builds_on_the_previous_one(talk, worker, model) -> None:
    model.script("summary", times=1, json={"facts": [{"field": "wish", "value": "a quiet table"}], "text": "One."})
    talk.exchange("Hello")
    long_talk(talk, turns=16)
    first, second, *_ = (request["messages"][-1]["content"] for request in model.requests("summary"))
    assert "<Summary>" not in first
    assert "<Summary>\nOne.\nwish: a quiet table\n</Summary>" in second


def test_prompts_stay_small_without_any_summary(talk, worker, model) -> None:
    """The fallback: if summarizing fails, the oldest messages are dropped."""
    model.script("summary", times=0, fault="401")
    long_talk(talk, turns=14)
    assert prompt_sizes(model)["reply"] <= PROMPT_BYTES
    with talk.tenant.tx():
        assert not Summary.objects.exists()


def test_every_flow_bounds_the_messages_no_summary_covers(talk) -> None:
    """Including flows without a prompt budget of their own."""
    for _ in range(12):
        turn = answered(talk, CHAT[:1100], CHAT[:200])
    with talk.tenant.tx():
        messages = context_after(job_of(turn)).messages
    assert DUE_BYTES < size_of(messages) <= MAX_BYTES


def test_prompts_stay_small_with_long_settings(tenant, worker, model) -> None:
    """The transcript is cut, even before a summary is due."""
    configure(tenant, business_context="We have much to say. " * 730, enabled_tools=[])
    talk = begin(tenant)
    long_talk(talk, turns=5)
    sizes = prompt_sizes(model)
    assert max(sizes["reply"], sizes["thoughts"]) <= PROMPT_BYTES


def test_oversized_settings_leave_room_for_the_transcript(tenant) -> None:
    configure(tenant, business_context="We have much to say. " * 800)
    talk = begin(tenant)
    with tenant.tx():
        for _ in range(12):
            turn = talk.say("x" * (DUE_BYTES // 10))
    prompts = prompts_of(talk, turn)
    assert len(prompts[-1]) > DUE_BYTES


def test_the_offline_summary_keeps_earlier_facts() -> None:
    lines = [Line("customer", "my locker code is 4711. Friday at 8 pm please"), Line("agent", "Thank you.")]
    written = summarise(lines, earlier="The customer said “Hello”.\nparty_size: 6")
    facts = {fact["field"]: fact["value"] for fact in written["facts"]}
    assert facts["locker_code"] == "4711"
    assert "date" in facts
    assert "party_size" not in facts
    assert written["text"].startswith("The customer said “Hello”. The customer said “my locker code is 4711.")
