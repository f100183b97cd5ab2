"""A call over ConversationRelay: a real web process and worker, and Twilio's protocol over real sockets."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from conversations.common.channels import traits_of
from conversations.followups.proactive import say_proactively
from conversations.live.event_log import open_log
from conversations.models import Conversation, Turn
from conversations.turns.services import give_fields
from jobs.models import Job
from offline_model.relay.caller import Caller
from tests.conversations.calls.relay.conftest import CALLER, GREETING, KITCHEN, OURS, Line
from tests.processes import ScriptedModel, until

pytestmark = [pytest.mark.standing_worker, pytest.mark.usefixtures("served")]

SEVEN = "We have a table at seven, and another one at half past nine."


def greeted(line: Line, **changes: Any) -> Caller:
    """A caller who has heard the greeting."""
    caller = line.dial(**changes)
    until(lambda: caller.said == [GREETING], seconds=40, what=f"the greeting; {caller}")
    return caller


def until_heard(caller: Caller, text: str) -> None:
    until(lambda: text in caller.said[-1], seconds=40, what=f"{text!r} in {caller.said}")


@pytest.mark.requirement("T01", "T02")
def test_a_caller_hears_the_greeting_and_the_replies(line: Line, model: ScriptedModel) -> None:
    model.script("reply", text=SEVEN)
    caller = greeted(line)
    line.loop.run(caller.say("Have you a table on Friday?"))
    line.until_said(("agent", SEVEN))
    until(lambda: caller.said == [GREETING, SEVEN], what=f"the reply in {caller.said}")
    assert line.transcript() == [("agent", GREETING), ("user", "Have you a table on Friday?"), ("agent", SEVEN)]
    assert len(line.events("conversation_started")) == len(line.events("user_message")) == 1
    call = line.call()
    assert (call.state, call.provider, call.caller, call.called) == ("live", "twilio", CALLER, OURS)


def test_a_reply_is_spoken_while_it_is_written(line: Line, model: ScriptedModel) -> None:
    model.script("reply", text=SEVEN)
    model.latency(gap_ms=60)
    caller = greeted(line)
    line.loop.run(caller.say("Have you a table on Friday?"))
    line.until_said(("agent", SEVEN))
    until(lambda: caller.said[-1] == SEVEN, what=f"the reply in {caller.said}")
    assert len([one for one in caller.messages if one["type"] == "text"]) > 3


# Interruptions


def test_an_interruption_ends_a_reply_that_is_being_written(line: Line, model: ScriptedModel) -> None:
    """The words that were heard are the reply, and its turn is done."""
    model.script("reply", text=SEVEN)
    model.latency(gap_ms=300)
    caller = greeted(line, plays=False)
    line.loop.run(caller.say("Have you a table on Friday?"))
    until(lambda: len(caller.said) > 1 and "We have a table" in caller.said[-1], seconds=40, what=f"{caller.said}")
    line.loop.run(caller.interrupt("We have a"))
    line.until_said(("agent", "We have a —"))
    with line.tenant.tx():
        assert Turn.objects.get().status == "done"
        assert Job.objects.get(lane="reply").state == "superseded"


def test_what_the_caller_did_not_hear_was_not_said(line: Line, model: ScriptedModel) -> None:
    """The reply is on record already when they interrupt it."""
    model.script("reply", text=SEVEN)
    caller = greeted(line, plays=False)
    line.loop.run(caller.finish_playing())
    line.loop.run(caller.say("Have you a table on Friday?"))
    line.until_said(("agent", SEVEN))
    until(lambda: caller.said[-1] == SEVEN, what="the reply's end")
    line.loop.run(caller.interrupt("We have a table at seven,"))
    line.until_said(("agent", "We have a table at seven, —"))
    assert SEVEN not in [content for _, content in line.transcript()]
    assert [one["content"] for one in line.events("message_cut")] == ["We have a table at seven, —"]


def test_a_greeting_that_nobody_heard_was_not_said(line: Line) -> None:
    caller = greeted(line, plays=False)
    line.loop.run(caller.interrupt(""))
    line.until_said(("agent", "—"))


def test_a_promise_counts_once_it_was_heard(line: Line, model: ScriptedModel) -> None:
    """Until the voice has ended, the reply's promises aren't looked for."""
    model.script("reply", text="I'll send you the menu by text message.")
    caller = greeted(line, plays=False)
    line.loop.run(caller.finish_playing())
    line.loop.run(caller.say("Could I have the menu?"))
    line.until_said(("agent", "I'll send you the menu by text message."))
    until(lambda: len(caller.said) > 1, what="the voice")

    def analysis() -> Job:
        with line.tenant.tx():
            return Job.objects.get(lane="tool_caller")

    waiting = analysis()
    assert (waiting.state, waiting.run_after > waiting.created_at) == ("queued", True)
    line.loop.run(caller.finish_playing())
    until(lambda: analysis().state == "done", seconds=40, what="the analysis")


@pytest.mark.requirement("N12")
def test_a_callers_silence_begins_after_the_last_word(line: Line, model: ScriptedModel) -> None:
    """Not when the reply was written: the voice takes longer."""
    model.script("reply", text=SEVEN)
    caller = greeted(line)
    line.loop.run(caller.say("Have you a table on Friday?"))
    line.until_said(("agent", SEVEN))
    with line.tenant.tx():
        turn = Turn.objects.select_related("conversation").get()
        waits_until = turn.conversation.follow_up_at
    assert waits_until is not None
    assert waits_until - turn.replied_at > traits_of("phone").follow_up + timedelta(seconds=len(SEVEN) / 15)


# Keys and languages


def test_keys_are_one_message(line: Line, model: ScriptedModel) -> None:
    caller = greeted(line)
    line.loop.run(caller.press("4", "7", "1", "1", "#"))
    line.until_said(("user", "4711"))
    assert line.events("call_keys") == [{"keys": "4711"}]


def test_the_voices_change_to_the_callers_language(line: Line, model: ScriptedModel) -> None:
    caller = greeted(line)
    with line.tenant.tx():
        give_fields(line.call().conversation.persona, {"language": "it"})
    line.loop.run(caller.say("Buonasera"))
    changed = {"type": "language", "ttsLanguage": "it-IT", "transcriptionLanguage": "it-IT"}
    until(lambda: changed in caller.messages, seconds=40, what=f"the change in {caller.messages}")


# What reaches the caller without a question


def test_news_are_told_at_once(line: Line, model: ScriptedModel) -> None:
    model.script("reply", text="The kitchen sends its regards.")
    caller = greeted(line)
    with line.tenant.tx(), open_log(line.call().conversation_id) as log:
        say_proactively(log, "The kitchen sends its regards.", {})
    until_heard(caller, "The kitchen sends its regards.")


# The end


@pytest.mark.requirement("L07", "F18")
def test_a_transfer_is_dialed(line: Line, model: ScriptedModel) -> None:
    called = {"name": "transfer_call", "arguments": {"phone_number": KITCHEN}}
    model.script("reply", text="One moment, please.", tool_calls=[called])
    caller = greeted(line)
    line.loop.run(caller.say("The kitchen, yes."))
    call = line.until_state("transferred")
    until(lambda: caller.state == "dialed", what="the dialed number")
    assert (caller.dialed, call.transferred_to) == (KITCHEN, KITCHEN)
    assert caller.said[-1] == "One moment, please."


@pytest.mark.requirement("L07")
def test_a_transfer_that_nobody_takes_has_failed(line: Line, model: ScriptedModel) -> None:
    model.script(
        "reply", text="One moment.", tool_calls=[{"name": "transfer_call", "arguments": {"phone_number": KITCHEN}}]
    )
    caller = greeted(line, dial_status="no-answer")
    line.loop.run(caller.say("The kitchen, yes."))
    call = line.until_state("failed")
    assert call.reason == f"The transfer to {KITCHEN} failed: no-answer."
    until(lambda: "<Say" in caller.instructions[-1], what="the apology")


@pytest.mark.requirement("L04", "F18")
def test_the_end_is_a_hangup_after_the_last_word(line: Line, model: ScriptedModel) -> None:
    model.script("reply", text="Goodbye!", tool_calls=[{"name": "end_call", "arguments": {}}])
    caller = greeted(line)
    line.loop.run(caller.say("Bye."))
    call = line.until_state("ended")
    until(lambda: caller.state == "over", what="the hangup")
    assert caller.said[-1] == "Goodbye!"
    assert "<Hangup" in caller.instructions[-1]
    with line.tenant.tx():
        assert Conversation.objects.get(pk=call.conversation_id).status == "ended"
        assert Job.objects.get(lane="call").state == "done"


def test_the_last_words_are_spoken_before_the_end(line: Line, model: ScriptedModel) -> None:
    model.script("reply", text="Goodbye!", tool_calls=[{"name": "end_call", "arguments": {}}])
    caller = greeted(line, plays=False)
    line.loop.run(caller.finish_playing())
    line.loop.run(caller.say("Bye."))
    until(lambda: caller.said[-1] == "Goodbye!", seconds=40, what="the goodbye")
    line.until_said(("agent", "Goodbye!"))
    assert "end" not in [one["type"] for one in caller.messages]
    line.loop.run(caller.finish_playing())
    line.until_state("ended")


def test_a_caller_who_hangs_up_ends_the_call(line: Line) -> None:
    caller = greeted(line)
    line.loop.run(caller.hang_up())
    call = line.until_state("ended")
    with line.tenant.tx():
        assert Conversation.objects.get(pk=call.conversation_id).status == "ended"
        assert Job.objects.get(lane="call").state == "done"


def test_staff_ends_a_call(line: Line) -> None:
    caller = greeted(line)
    answer = line.api.post(f"/api/v1/calls/{line.call().pk}/end")
    assert answer.status_code == 200
    line.until_state("ended")
    until(lambda: caller.state == "over", what="the hangup")


def test_staff_takes_a_call_over(line: Line) -> None:
    caller = greeted(line)
    line.api.post(
        f"/api/v1/calls/{line.call().pk}/transfer", {"number": "+390655509999"}, content_type="application/json"
    )
    assert line.until_state("transferred").transferred_to == "+390655509999"
    until(lambda: caller.dialed == "+390655509999", what="the dialed number")
