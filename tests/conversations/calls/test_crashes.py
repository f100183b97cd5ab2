"""Workers killed in the middle of a call: another one takes it over, and no function call runs twice."""

from __future__ import annotations

import pytest
from django.conf import settings

from conversations.calls.read_back import CUT_OFF
from jobs.lanes import lane_of
from tests.conversations.calls.conftest import Line
from tests.conversations.calls.test_web_calls import answered, report, start
from tests.conversations.widget.conftest import Visitor, place_widget
from tests.processes import ForkServer, until
from tools.models import Effect

LABELS = [
    "lane.claimed",
    "call.answering",
    "call.accepted",
    "call.connected",
    "call.reported",
    "call.tool_asked",
    "call.tool_done",
    "call.output_sent",
]
TEXT = {"call": "send_portal_link", "call_id": "call_p", "arguments": {}}


@pytest.fixture(autouse=True)
def _steady_leases(processes: ForkServer) -> None:
    """A pause of a loaded machine is no death: a living worker keeps its call, and a dead one's lease is ended."""
    processes.lease_seconds = 30


@pytest.mark.parametrize("label", LABELS)
def test_a_killed_workers_call_is_taken_over(label: str, line: Line, processes: ForkServer) -> None:
    """It reaches its end, with one result for the function call and one effect."""
    doomed = processes.worker(queues="replies", crash_at=f"{label}:1")
    line.ring({"say": "Good evening!"})
    talk(line, until_dead=lambda: not doomed.is_alive)
    doomed.wait()
    was_live = line.call().state == "live"
    processes.worker()
    line.until_state("live")
    until(lambda: line.is_told(CUT_OFF) if was_live else line.at_provider()["connections"], seconds=40, what="a keeper")
    # A function call that was made gets its result from the new worker, also if it was never on record.
    if "call_p" not in line.at_provider()["called_at"]:
        line.say("The link, please.", TEXT, {"say": "It is on its way."})
    until(lambda: "call_p" in line.at_provider()["outputs"], seconds=40, what="the result")
    line.say("Bye.", {"say": "Goodbye!", "call": "end_call"})
    line.until_state("ended")
    assert recorded(line).count("call_p") == 1
    with line.tenant.tx():
        assert Effect.objects.filter(tool="send_portal_link").count() == 1
    assert line.verbs().count("hangup") == 1
    assert line.call().gaps == int(was_live)


def test_a_dead_workers_call_waits_for_less_than_ten_seconds() -> None:
    """For the end of its lease, and for the sweep that finds it."""
    assert lane_of("call").lease_seconds + 2 * settings.SWEEP_SECONDS < 10


@pytest.mark.parametrize("label", ["lane.claimed", "call.answering", "call.created", "call.connected"])
def test_a_killed_workers_web_call_is_taken_over(label: str, line: Line, processes: ForkServer) -> None:
    """The browser still gets an answer, and the agent speaks to it once it is connected."""
    visitor = Visitor(place_widget(line.tenant, call_button="on"))
    visitor.open()
    doomed = processes.worker(queues="replies", crash_at=f"{label}:1")
    call_id = start(visitor)
    if label == "call.connected":
        line.call_id = answered(line, visitor, call_id)
        report(visitor, call_id, "connected")
    until(lambda: not doomed.is_alive, seconds=40, what="the death")
    doomed.wait()
    processes.worker()
    line.call_id = answered(line, visitor, call_id)
    report(visitor, call_id, "connected")
    until(lambda: any(role == "agent" for role, _ in line.transcript()), seconds=40, what="the greeting")
    line.say("Bye.", {"say": "Goodbye!", "call": "end_call"})
    line.until_state("ended")


def recorded(line: Line) -> list[str]:
    """The ids of the function calls on record."""
    return [one["call"] for one in line.events("live_tool_call")]


def talk(line: Line, *, until_dead) -> None:
    """Ask for the link once the call is held, unless the worker dies before."""
    until(lambda: until_dead() or line.at_provider()["connections"] > 0, seconds=40, what="the connection or the death")
    until(
        lambda: until_dead() or ("agent", "Good evening!") in line.transcript(),
        seconds=40,
        what="the greeting or the death",
    )
    if not until_dead():
        line.say("The link, please.", TEXT, {"say": "It is on its way."})
