"""Web processes killed in the middle of a call by text: the next one goes on, and nothing is said or done twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from jobs.models import Job
from offline_model.relay import caller as caller_module
from offline_model.relay.caller import Caller
from tests.conversations.calls.relay.conftest import GREETING, Line
from tests.processes import Child, ForkServer, ScriptedModel, until
from tools.models import Effect

LABELS = ["relay.taken", "relay.heard", "relay.stored", "relay.cut", "relay.ending", "relay.ended"]
LINK, SENT, SEVEN = (
    "The link, please.",
    "It is on its way.",
    "We have a table at seven, and another one at half past nine.",
)


@pytest.fixture(autouse=True)
def _steady_leases(processes: ForkServer) -> None:
    """A pause of a loaded machine is no gap: a living process keeps its call, and the next connection takes a dead one's."""
    processes.lease_seconds = 30


@dataclass
class Doomed:
    """A web process that dies at its label, and is started again by what waits for its caller."""

    processes: ForkServer
    process: Child
    line: Line
    caller: Caller

    def until(self, condition: Callable[[], Any], *, what: str, again: Callable[[], None] | None = None) -> None:
        """Wait for a condition. If the process dies first, start the next one, and do `again` what was lost."""

        def is_met() -> bool:
            if condition():
                return True
            if not self.process.is_alive:
                self.process, _ = self.processes.web(
                    knows_address=True, port=int(self.line.base_url.rpartition(":")[2])
                )
                if again is not None:
                    again()
            return False

        until(is_met, seconds=60, what=lambda: f"{what} in {self.caller}, {self.line.transcript()}")


@pytest.mark.parametrize("label", LABELS)
def test_a_killed_web_process_loses_no_call(
    label: str, line: Line, processes: ForkServer, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call reaches its end with every word that was stored once, one effect, and one gap."""
    # A loaded machine takes its time to start the next process.
    monkeypatch.setattr(caller_module, "RETRY_SECONDS", 60.0)
    web, line.base_url = processes.web(crash_at=f"{label}:1", knows_address=True)
    processes.worker()
    model.script("reply", tool_calls=[{"name": "send_portal_link", "arguments": {}}])
    model.script("reply", text=SENT)
    caller = line.dial(plays=False)
    doomed = Doomed(processes, web, line, caller)
    doomed.until(lambda: caller.said and caller.said[-1] == GREETING, what="the greeting")

    def ask() -> None:
        until_connected(caller)
        if ("user", LINK) not in line.transcript():
            line.loop.run(caller.say(LINK))

    ask()
    doomed.until(lambda: was_said(doomed, SENT), what="the answer", again=ask)
    model.script("reply", text=SEVEN)
    line.loop.run(caller.say("And a table?"))
    doomed.until(lambda: was_said(doomed, SEVEN), what="the offer")
    line.loop.run(caller.interrupt("We have a table at seven,"))
    cut = ("agent", "We have a table at seven, —")
    # The process that dies of it may still hold the connection for a moment.
    gaps = int(label not in ("relay.ending", "relay.ended"))
    doomed.until(lambda: cut in line.transcript() and line.call().gaps == gaps, what="the cut")
    model.script("reply", text="Goodbye!", tool_calls=[{"name": "end_call", "arguments": {}}])
    until_connected(caller)
    line.loop.run(caller.say("Bye."))
    doomed.until(lambda: caller.said[-1] == "Goodbye!" or caller.state == "over", what="the goodbye")
    # In the next session, too, the agent's voice ends.
    caller.plays = True
    if caller.state == "connected":
        line.loop.run(caller.finish_playing())
    doomed.until(lambda: caller.state == "over", what="the end")
    assert line.call().state == "ended"
    words = [one for one in line.transcript() if one[0] != "system"]
    expected = [("agent", GREETING), ("user", LINK), ("agent", SENT), ("user", "And a table?"), cut]
    assert words == [*expected, ("user", "Bye."), ("agent", "Goodbye!")]
    assert line.call().gaps == int(label != "relay.ended")
    with line.tenant.tx():
        assert Effect.objects.filter(tool="send_portal_link").count() == 1
        assert Job.objects.get(lane="call").state == "done"


def was_said(doomed: Doomed, text: str) -> bool:
    """True if the whole message was written and reached the caller. A caller who speaks before interrupts it."""
    has_reached = doomed.caller.said[-1] == text and not doomed.caller._is_in_cycle
    return has_reached and ("agent", text) in doomed.line.transcript()


def until_connected(caller: Caller) -> None:
    until(lambda: caller.state == "connected" and caller._socket is not None, seconds=40, what="the connection")
