"""The fork server: output, exit codes and the end of its processes."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO

import pytest

from config.runner.forking import request_fork
from config.runner.log import ServiceLog
from config.runner.program import Program
from config.runner.supervisor import Supervisor, Tier
from tests.runner.conftest import eventually, is_running

pytestmark = pytest.mark.whole

# The server without its imports, which take seconds.
SERVER = """
import sys
from pathlib import Path
from config.runner.forkserver import ForkServer, listen, run
with listen(Path(sys.argv[1])) as listener:
    order = ForkServer(listener).serve()
run(order)
"""
CHILD = """
import os, sys, time
print(sys.argv[1:], os.getsid(0) == os.getpid(), open("/proc/self/comm").read().strip(), flush=True)
if sys.argv[1] == "sleep":
    time.sleep(600)
sys.exit(int(sys.argv[1]))
"""


def environment(folder: Path) -> dict[str, str]:
    """The environment in which our modules and the child's can be imported."""
    return {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{Path.cwd()}"}


class Forks:
    """A fork server, and the output files of its processes."""

    def __init__(self, folder: Path) -> None:
        (folder / "forked_child.py").write_text(CHILD)
        self._folder = folder
        self._socket = folder / "forks"
        command = [sys.executable, "-c", SERVER, str(self._socket)]
        self.server = subprocess.Popen(command, env=environment(folder))
        self._open = ExitStack()
        eventually(self._socket.exists)

    def fork(self, argument: str, *, module: str = "forked_child", niceness: int = 0) -> tuple[TextIO, Path]:
        """Request a process with this argument. Returns the server's lines about it, and its output file."""
        output = self._folder / f"{argument}.log"
        program = Program("web", (sys.executable, "-m", module, argument), niceness=niceness)
        with output.open("w") as file, request_fork(program, server=self._socket, output=file.fileno()) as connection:
            return self._open.enter_context(connection.makefile()), output

    def stop(self) -> None:
        self._open.close()
        self.server.kill()
        self.server.wait()


@pytest.fixture
def forks(tmp_path: Path) -> Iterator[Forks]:
    forks = Forks(tmp_path)
    yield forks
    forks.stop()


def test_a_forked_process_behaves_like_a_started_one(forks: Forks) -> None:
    """Its arguments, session, output, name and exit code."""
    told, output = forks.fork("7")
    pid, code = told.readlines()
    assert (int(pid) > 0, int(code)) == (True, 7)
    assert output.read_text() == "['7'] True mg-web\n"


def test_the_signal_that_ends_a_forked_process_is_reported(forks: Forks) -> None:
    told, _ = forks.fork("sleep")
    os.kill(int(told.readline()), signal.SIGTERM)
    assert int(told.readline()) == -signal.SIGTERM


def test_a_forked_process_has_its_priority(forks: Forks) -> None:
    """Its session has the same priority, where the kernel schedules by session."""
    told, _ = forks.fork("sleep", niceness=3)
    pid, ours = int(told.readline()), os.getpriority(os.PRIO_PROCESS, 0)
    assert os.getpriority(os.PRIO_PROCESS, pid) == ours + 3
    group = Path(f"/proc/{pid}/autogroup")
    assert not group.exists() or group.read_text().rstrip().endswith("nice 3")


def test_a_started_process_has_its_priority() -> None:
    program = Program("web", (sys.executable, "-c", "import os; print(os.nice(0))"), niceness=3)
    printed = subprocess.run(program.argv(), capture_output=True, text=True, check=True).stdout
    assert int(printed) == os.getpriority(os.PRIO_PROCESS, 0) + 3


def test_forked_processes_end_with_a_killed_server(forks: Forks) -> None:
    told, _ = forks.fork("sleep")
    pid = int(told.readline())
    forks.server.kill()
    assert told.readline() == ""
    eventually(lambda: not is_running(pid))


def test_a_process_that_fails_to_start_does_not_affect_others(forks: Forks) -> None:
    failed, _ = forks.fork("1", module="no_such_module")
    assert int(failed.readlines()[1]) == 1
    told, _ = forks.fork("0")
    assert int(told.readlines()[1]) == 0


async def test_processes_of_a_killed_server_are_restarted_with_it(tmp_path: Path) -> None:
    (tmp_path / "forked_child.py").write_text(CHILD)
    socket = tmp_path / "forks"
    server = Program("forks", (sys.executable, "-c", SERVER, str(socket)), env=environment(tmp_path))
    web = Program("web", (sys.executable, "-m", "forked_child", "sleep"), fork_server=socket)
    log = io.StringIO()
    async with Supervisor(log=ServiceLog(log)) as supervisor:
        forks = supervisor.start(server, tier=Tier.FORKS)
        await supervisor.wait_ready(forks, socket.exists, seconds=30)
        child = supervisor.start(web, tier=Tier.APPS)
        await supervisor.wait_ready(child, lambda: "mg-web" in log.getvalue(), seconds=30)
        first = child.pid
        os.kill(forks.pid or 0, signal.SIGKILL)
        await supervisor.wait_ready(child, lambda: log.getvalue().count("mg-web") == 2, seconds=30)
        assert child.pid != first
    assert "web was killed by SIGKILL" in log.getvalue()
