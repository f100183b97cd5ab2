"""Workers killed in the middle of a call: another one takes it over, and no function call runs twice."""

from __future__ import annotations

import pytest

from tests.conversations.calls.conftest import Line
from tests.conversations.calls.test_web_calls import answered, report, start
from tests.conversations.widget.conftest import Visitor, place_widget
from tests.processes import ForkServer, until
from tools.models import Effect

pytestmark = pytest.mark.short_leases

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


@pytest.mark.parametrize("label", LABELS)
def test_a_killed_workers_call_is_taken_over(label: str, line: Line, processes: ForkServer) -> None:
    """It reaches its end, with one result for the function call and one effect."""
    doomed = processes.worker(queues="replies", crash_at=f"{label}:1")
    line.ring({"say": "Good evening!"})
    talk(line, until_dead=lambda: not doomed.is_alive)
    doomed.wait()
    processes.worker()
    line.until_connected()
    until(lambda: line.call().state == "live", seconds=40, what="the takeover")
    # A call that is on record gets its result from the new worker; any other was lost, and the caller asks again.
    if "call_p" not in recorded(line):
        line.say("The link, please.", TEXT, {"say": "It is on its way."})
    until(lambda: "call_p" in line.at_provider()["outputs"], seconds=40, what="the result")
    line.say("Bye.", {"say": "Goodbye!", "call": "end_call"})
    line.until_state("ended")
    assert recorded(line).count("call_p") == 1
    with line.tenant.tx():
        assert Effect.objects.filter(tool="send_portal_link").count() == 1
    assert line.verbs().count("hangup") == 1


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
