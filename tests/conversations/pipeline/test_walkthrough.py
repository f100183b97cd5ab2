"""The specification's example, turn by turn, with the offline model; and the fixed context of a running reply."""

from __future__ import annotations

import pytest

from conversations.context.turn_context import context_after
from conversations.models import Conversation, Directives, MessageRole
from tests.conversations.pipeline.conftest import configure, job_of
from tests.conversations.waiting.conftest import answer, answered, logged
from tests.crashes.invariants import check, settle
from tests.processes import until


@pytest.mark.requirement("T26")
def test_the_five_turns_of_the_specification(talk, worker) -> None:
    """Language and routing, phone at 1.1, name at 1.2, the code phrase and its tool."""
    greeted = talk.exchange("Hello, I'd like to book a table for four on Friday")
    assert "welcome to Trattoria Da Nello" in greeted["reply"]["content"]
    assert facts(greeted)["language"] == "en"
    assert place(greeted) == ("1, Book a table", "1.1")

    asked_phone = talk.exchange("Around 7 would be perfect")
    assert asked_phone["directives_used"] == greeted["directives_written"]
    assert "phone number" in asked_phone["reply"]["content"]
    assert place(asked_phone) == ("1, Book a table", "1.2")

    asked_name = talk.exchange("+39 347 555 0142")
    assert facts(asked_name)["phone"] == "+393475550142"
    assert "name" in asked_name["reply"]["content"]
    assert asked_name["directives_used"] == asked_phone["directives_written"]

    checks = talk.exchange("Giulia Ferri")
    assert facts(checks)["name"] == "Giulia Ferri"
    assert "Let me check availability for Friday at 7 PM" in checks["reply"]["content"]
    assert [verdict["tool"] for verdict in checks["verdicts"] if verdict["fired"]] == ["check_availability_tool"]
    check(talk.tenant)


def place(turn: dict) -> tuple[str, str]:
    """The scenario and step number in the turn's directives."""
    written = turn["directives_written"]
    return written["scenario"], written["step"].split(",")[0]


def facts(turn: dict) -> dict[str, str]:
    return {fact["field"]: fact["value"] for fact in turn["observed"]}


@pytest.mark.requirement("T25")
def test_directives_changed_during_a_reply_do_not_reach_it(talk, worker, model) -> None:
    """A turn uses the prompt and directives of its start."""
    first = talk.exchange("I'd like to book a table")
    model.script("reply", times=1, text="one two three four five six", gap_ms=200)
    second = talk.say("For Friday")
    until(lambda: len(model.requests("reply")) == 2, what="the second reply's call")
    with talk.tenant.tx():
        document = {**Directives.objects.get().document, "goal": "Something else entirely"}
        changed = Directives.objects.create(conversation=talk.conversation, turn=second, version=2, document=document)
        Conversation.objects.filter(pk=talk.conversation.pk).update(directives=changed)
    until(lambda: talk.turn(second)["status"] == "done", what="the second reply")
    assert talk.turn(second)["directives_used"] == first["directives_written"]
    assert "Something else entirely" not in model.requests("reply")[1]["messages"][-1]["content"]


@pytest.mark.requirement("T25")
def test_flows_ignore_messages_after_the_reply(talk, worker) -> None:
    """A late flow of turn 1 sees the conversation as it was then."""
    first = talk.say("Hello, I'm Giulia")
    settle(talk.tenant)
    talk.exchange("And my number is +39 347 555 0142")
    with talk.tenant.tx():
        seen = [line.content for line in context_after(job_of(first, lane="observer")).lines]
    assert seen[0] == "Hello, I'm Giulia"
    assert len(seen) == 2


@pytest.mark.requirement("T25")
def test_flows_ignore_messages_without_a_turn_after_the_reply(talk) -> None:
    """Such as an operator's."""
    turn = answered(talk, "Hello", "Good evening!")
    with logged(talk) as log:
        log.add_message(MessageRole.OPERATOR, "I take over.", turn=None, idn="operator_message")
    assert lines_of(talk, turn) == ["Hello", "Good evening!"]


@pytest.mark.requirement("T25")
def test_flows_ignore_newer_messages_stored_before_the_reply(talk) -> None:
    """Stored before the reply, answered after it."""
    configure(talk.tenant, newer_message="queue")
    first, _ = talk.say("Do you have a table?"), talk.say("For four, on Friday")
    answer(talk, first, "Yes!")
    assert lines_of(talk, first) == ["Do you have a table?", "Yes!"]


def lines_of(talk, turn) -> list[str]:
    with talk.tenant.tx():
        return [line.content for line in context_after(job_of(turn, lane="observer")).lines]
