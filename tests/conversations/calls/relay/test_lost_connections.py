"""Connections that break, web processes that die, and calls that nobody is connected to."""

from __future__ import annotations

import asyncio

import pytest

from conversations.calls.keeper import run_call
from conversations.calls.relay import waiting
from conversations.models import Call
from jobs.claims import claim
from jobs.lanes import lane_of
from jobs.models import Job
from tests.conversations.calls.relay.conftest import GREETING, Line, Served
from tests.conversations.calls.relay.test_call import SEVEN, greeted
from tests.processes import ForkServer, ScriptedModel, until


@pytest.mark.standing_worker
@pytest.mark.usefixtures("served")
def test_a_caller_is_connected_again(line: Line, model: ScriptedModel) -> None:
    """They hear the agent's last words again, and the call counts the gap."""
    caller = greeted(line)
    line.loop.run(caller.cut())
    until(lambda: caller.said == [GREETING, GREETING], seconds=40, what=f"the greeting again in {caller.said}")
    call = line.call()
    assert (call.state, call.gaps) == ("live", 1)
    model.script("reply", text=SEVEN)
    line.loop.run(caller.say("Have you a table?"))
    line.until_said(("agent", SEVEN))


@pytest.mark.standing_worker
@pytest.mark.usefixtures("served")
def test_words_that_the_caller_cut_are_not_said_again(line: Line, model: ScriptedModel) -> None:
    """A promise in them would be one that the transcript doesn't know."""
    caller = greeted(line, plays=False)
    model.script("reply", text=SEVEN)
    line.loop.run(caller.say("Have you a table?"))
    line.until_said(("agent", SEVEN))
    until(lambda: caller.said[-1] == SEVEN and not caller._is_in_cycle, what=f"the offer in {caller.said}")
    line.loop.run(caller.interrupt("We have a table at seven,"))
    line.until_said(("agent", "We have a table at seven, —"))
    line.loop.run(caller.cut())
    until(lambda: len(caller.said) == 3, seconds=40, what=f"the next session in {caller.said}")
    assert caller.said[-1] == "We have a table at seven, —"


@pytest.mark.short_leases
def test_a_killed_web_process_loses_no_call(line: Line, served: Served, processes: ForkServer) -> None:
    """The next one takes it over, and what was said stays said."""
    caller = greeted(line)
    port = int(line.base_url.rpartition(":")[2])
    served.process.kill()
    processes.web(knows_address=True, port=port)
    until(lambda: caller.said == [GREETING, GREETING], seconds=40, what=f"the greeting again in {caller.said}")
    assert line.call().gaps == 1
    line.loop.run(caller.say("Goodbye."))
    line.until_said(("user", "Goodbye."))


@pytest.mark.standing_worker
@pytest.mark.usefixtures("served")
def test_a_line_that_breaks_again_and_again_ends_honestly(line: Line) -> None:
    caller = greeted(line)
    for count in range(2, 5):
        line.loop.run(caller.cut())
        until(lambda count=count: len(caller.said) == count, seconds=40, what=f"connection {count}")
    line.loop.run(caller.cut())
    call = line.until_state("failed")
    assert call.reason == "The connection was lost too often."
    until(lambda: caller.state == "over", what="the end of the call")
    assert "<Say" in caller.instructions[-1]


def test_a_call_that_nobody_is_connected_to_fails(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "WAIT_SECONDS", 0.0)
    assert line.webhook().status_code == 200
    with line.tenant.tx():
        Call.objects.update(state="live")
        Job.objects.update(run_after="2020-01-01T00:00:00Z")
    [job] = claim([lane_of("call")], limit=1)
    asyncio.run(run_call(job))
    call = line.call()
    assert (call.state, call.reason) == ("failed", "The connection to the caller was lost.")
