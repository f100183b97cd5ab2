"""The supervisor with small programs: restart, order of the stop, and no leftover processes."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from config.runner.errors import StartError
from config.runner.log import ServiceLog
from config.runner.program import Program, _setpriv
from config.runner.supervisor import Supervisor, Tier
from tests.runner.conftest import eventually, is_running

pytestmark = pytest.mark.whole

ROOT = Path(__file__).resolve().parents[2]
# Prints the ids of its children: one ignores SIGTERM, one forks, one obeys.
SESSION = """
import asyncio, sys
from config.runner.log import ServiceLog
from config.runner.program import Program
from config.runner.supervisor import Tier, run_until_stopped

SCRIPTS = {
    "deaf": "trap '' TERM; echo $$; while :; do sleep 1; done",
    "forking": "sleep 600 & echo $!; echo $$; wait",
    "plain": "echo $$; exec sleep 600",
}

async def bring_up(supervisor):
    for name, script in SCRIPTS.items():
        program = Program(name, ("sh", "-c", script), stop_seconds=float(sys.argv[1]))
        supervisor.start(program, tier=Tier.STORES if name == "plain" else Tier.APPS)

asyncio.run(run_until_stopped(bring_up, log=ServiceLog(sys.stdout)))
"""


@dataclass(frozen=True)
class Session:
    process: subprocess.Popen[str]
    children: list[int]
    grandchild: int

    @property
    def running(self) -> list[int]:
        return [pid for pid in (*self.children, self.grandchild) if is_running(pid)]

    def wait(self) -> str:
        output, _ = self.process.communicate(timeout=20)
        return output


def start_session(*, stop_seconds: float) -> Session:
    process = subprocess.Popen(
        [sys.executable, "-c", SESSION, str(stop_seconds)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    said: dict[str, list[int]] = {}
    while sum(map(len, said.values())) < 4:
        _, name, _, pid = process.stdout.readline().split()
        said.setdefault(name, []).append(int(pid))
    grandchild, shell = said["forking"]
    session = Session(process, [*said["deaf"], shell, *said["plain"]], grandchild)
    assert len(session.running) == 4
    return session


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_every_process_even_a_deaf_one(number: signal.Signals) -> None:
    session = start_session(stop_seconds=0.5)
    session.process.send_signal(number)
    assert "deaf didn't stop within 0.5 s and was killed" in session.wait()
    assert session.process.returncode == 0
    assert session.running == []


def test_a_second_signal_kills_at_once() -> None:
    session = start_session(stop_seconds=600)
    session.process.send_signal(signal.SIGINT)
    assert session.process.stdout
    assert "Ctrl-C again" in session.process.stdout.readline()
    session.process.send_signal(signal.SIGINT)
    session.wait()
    assert session.running == []


@pytest.mark.skipif(not _setpriv(), reason="the kernel can't be asked to end orphans here")
def test_children_end_with_a_killed_supervisor() -> None:
    session = start_session(stop_seconds=600)
    session.process.kill()
    session.process.wait()
    try:
        eventually(lambda: not any(is_running(pid) for pid in session.children))
    finally:
        # Only the supervisor ends processes that a child forked. None of our programs forks.
        for pid in session.running:
            os.kill(pid, signal.SIGKILL)
        session.wait()


async def first_line(log: io.StringIO, word: str) -> str:
    async with asyncio.timeout(10):
        while True:
            for line in log.getvalue().splitlines():
                if word in line:
                    return line
            await asyncio.sleep(0.01)


async def test_a_killed_child_is_restarted_and_logged() -> None:
    text = io.StringIO()
    async with Supervisor(log=ServiceLog(text)) as supervisor:
        child = supervisor.start(Program("worker", ("sleep", "600")), tier=Tier.APPS)
        await supervisor.wait_ready(child, lambda: True, seconds=5)
        first = child.pid
        assert first
        os.kill(first, signal.SIGKILL)
        await first_line(text, "worker was killed by SIGKILL; restarting in 0.2 s")
        await supervisor.wait_ready(child, lambda: child.pid not in (None, first), seconds=5)


async def test_all_children_write_to_one_log_under_their_names() -> None:
    text = io.StringIO()
    async with Supervisor(log=ServiceLog(text)) as supervisor:
        supervisor.start(Program("one", ("sh", "-c", "echo to stdout; exec sleep 600")), tier=Tier.APPS)
        supervisor.start(Program("other", ("sh", "-c", "echo to stderr >&2; exec sleep 600")), tier=Tier.APPS)
        assert (await first_line(text, "to stdout")).endswith(" one      | to stdout")
        assert (await first_line(text, "to stderr")).endswith(" other    | to stderr")


async def test_apps_stop_before_the_stores_they_need() -> None:
    text = io.StringIO()
    script = "trap 'sleep 0.2; echo goodbye; exit' TERM; echo hello; while :; do sleep 0.02; done"
    async with Supervisor(log=ServiceLog(text)) as supervisor:
        for name, tier in (("redis", Tier.STORES), ("web", Tier.APPS)):
            supervisor.start(Program(name, ("sh", "-c", script)), tier=tier)
            await first_line(text, f"{name:<9}| hello")
    goodbyes = [line.split()[1] for line in text.getvalue().splitlines() if "goodbye" in line]
    assert goodbyes == ["web", "redis"]


async def test_a_child_that_keeps_dying_stops_the_start() -> None:
    async with Supervisor(log=ServiceLog(io.StringIO())) as supervisor:
        child = supervisor.start(Program("web", ("false",)), tier=Tier.APPS)
        with pytest.raises(StartError, match="web doesn't start"):
            await supervisor.wait_ready(child, lambda: False, seconds=1)


async def test_a_last_line_without_a_newline_is_logged() -> None:
    text = io.StringIO()
    async with Supervisor(log=ServiceLog(text)) as supervisor:
        supervisor.start(Program("web", ("printf", "last words")), tier=Tier.APPS)
        await first_line(text, "web      | last words")
