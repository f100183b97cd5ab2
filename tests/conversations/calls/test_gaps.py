"""Gaps of a call: the control connection is lost while the call goes on, and a keeper connects again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from conversations.calls.control import REPEAT
from conversations.calls.read_back import CUT_OFF
from conversations.followups.proactive import say_proactively
from conversations.live.event_log import open_log
from conversations.turns.flags import flag_reasons, words_lost
from tests.conversations.calls.conftest import Line
from tests.processes import ForkServer, until

pytestmark = pytest.mark.standing_worker


@pytest.fixture(autouse=True)
def _worker(processes: ForkServer) -> None:
    processes.standing_worker()


def test_a_lost_control_connection_is_opened_again(line: Line) -> None:
    """The call goes on. Nothing was said meanwhile, so nothing is missing, and the agent asks for nothing."""
    line.ring({"say": "Good evening!"})
    line.until_said(("agent", "Good evening!"))
    cut(line)
    line.say("A table?", {"say": "For how many?"})
    line.until_said(("user", "A table?"), ("agent", "For how many?"))
    assert line.call().gaps == 1
    assert [role for role, _ in line.transcript()] == ["agent", "user", "agent"]
    assert not line.is_told(REPEAT)


# What is said while nobody listens


@contextmanager
def cut_off(line: Line) -> Iterator[None]:
    """A time without a control connection."""
    line.provider.door(f"calls/{line.call_id}/cut", {"keeps_out": True})
    yield
    line.provider.door(f"calls/{line.call_id}/mend", {})


def begin_to_speak(line: Line) -> None:
    """The caller begins to speak, which is reported."""
    line.provider.door(f"calls/{line.call_id}/speak", {})
    until(lambda: any(one["id"].startswith("speech:") for one in line.events("voice_reported")), what="the beginning")


def cut(line: Line) -> None:
    """Cut the control connection, and wait for the next one."""
    line.provider.door(f"calls/{line.call_id}/cut", {})
    until(lambda: line.is_told(CUT_OFF), seconds=40, what="the next connection")


def test_words_of_a_gap_are_read_back(line: Line) -> None:
    """The caller had begun to speak before, so the session gives their words, and the last ones of the agent."""
    line.ring({"say": "Good evening!"})
    line.until_said(("agent", "Good evening!"))
    begin_to_speak(line)
    with cut_off(line):
        line.say("A table?", {"say": "For how many?"}, {"say": "Could you repeat that?"})
    line.until_said(("agent", "Could you repeat that?"))
    said = line.transcript()
    assert [role for role, _ in said] == ["agent", "system", "user", "agent", "agent"]
    assert said[2:4] == [("user", "A table?"), ("agent", "For how many?")]
    assert line.is_told(REPEAT)


def test_what_the_session_does_not_give_is_marked_as_missing(line: Line) -> None:
    """The caller spoke and was answered while nobody listened: only the newest item's id can be learned."""
    line.ring({"say": "Good evening!"})
    line.until_said(("agent", "Good evening!"))
    with cut_off(line):
        line.say("A table?", {"say": "For how many?"}, {"say": "Could you repeat that?"})
    line.until_said(("agent", "For how many?"), ("agent", "Could you repeat that?"))
    [missing] = [text for role, text in line.transcript() if role == "system"]
    assert "missing" in missing
    assert ("user", "A table?") not in line.transcript()


def test_a_function_call_of_a_gap_is_run(line: Line) -> None:
    line.ring({"say": "Good evening!"})
    line.until_said(("agent", "Good evening!"))
    step = {"call": "search_knowledge", "call_id": "call_g", "arguments": {"query": "dogs"}}
    with cut_off(line):
        line.say("Are dogs allowed?", step, {"say": "I don't know."})
    line.until_said(("agent", "I don't know."))
    assert list(line.at_provider()["outputs"]) == ["call_g"]


@pytest.mark.requirement("T28")
def test_an_urgent_message_of_a_gap_hides_nothing_that_was_said(line: Line) -> None:
    """The session is read back before anything is added to it."""
    line.ring({"say": "Good evening!"})
    line.until_said(("agent", "Good evening!"))
    step = {"call": "search_knowledge", "call_id": "call_g", "arguments": {"query": "dogs"}}
    with cut_off(line):
        line.say("Are dogs allowed?", step)
        with line.tenant.tx(), open_log(line.call().conversation_id) as log:
            say_proactively(log, "Friday at seven is free.", {})
    until(lambda: list(line.at_provider()["outputs"]) == ["call_g"], what="the result of the function call")
    until(lambda: line.is_told("Friday at seven is free."), what="the urgent message")


def test_a_session_that_cannot_be_read_back_is_not_tried_again(line: Line) -> None:
    """The keeper after two that got nowhere asks to repeat, and reads nothing."""
    line.ring({"say": "Good evening!"})
    line.until_said(("agent", "Good evening!"))
    # The last report, so that none comes between the gaps.
    until(lambda: "update_applied" in [one["type"] for one in line.events("voice_reported")], what="the directives")
    cut(line)
    with line.tenant.tx(), open_log(line.call().conversation_id) as log:
        for _ in range(2):
            log.add_event("call_gap", payload={})
    line.provider.door(f"calls/{line.call_id}/cut", {})
    until(lambda: line.is_told(REPEAT), seconds=40, what="the question to repeat")
    assert line.call().gaps == 2


def test_a_call_that_ends_in_a_gap_says_so_and_asks_staff_to_look(line: Line) -> None:
    """The provider forgets a session with its call: the agent's last words, and promises, can't be read back."""
    line.ring({"say": "Good evening!"})
    line.until_said(("agent", "Good evening!"))
    begin_to_speak(line)
    with cut_off(line):
        line.say("Could you text me the address?", {"say": "I'll text you the address now."})
        line.provider.door(f"calls/{line.call_id}/hangup", {})
    call = line.until_state("ended")
    [missing] = [text for role, text in line.transcript() if role == "system"]
    assert "missing" in missing
    assert call.conversation.flag == words_lost()
    assert flag_reasons_of(line) == [words_lost()]


def test_a_connection_that_is_lost_as_the_caller_hangs_up_misses_no_words(line: Line) -> None:
    line.ring({"say": "Good evening!"})
    line.until_said(("agent", "Good evening!"))
    line.provider.door(f"calls/{line.call_id}/cut", {})
    line.provider.door(f"calls/{line.call_id}/hangup", {})
    call = line.until_state("ended")
    assert (call.gaps, call.conversation.flag, line.transcript()) == (1, "", [("agent", "Good evening!")])


def flag_reasons_of(line: Line) -> list[str]:
    with line.tenant.tx():
        return flag_reasons(line.call().conversation)
