"""Real processes for tests: the offline model, workers and web processes, killed by SIGKILL."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def until(condition: Callable[[], Any], *, seconds: float = 60, what: str | Callable[[], str] = "the condition") -> Any:
    """Poll until the condition is true, and return its value. `what` names it when it did not come true."""
    ends_at = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > ends_at:
            name = what if isinstance(what, str) else what()
            raise AssertionError(f"{name} did not come true within {seconds} s")
        time.sleep(0.02)
    return found


@dataclass
class ScriptedModel:
    """The offline model in its own process, scripted over HTTP."""

    url: str
    is_faulty: bool = False

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    def script(self, skill: str, **step: Any) -> None:
        """Queue one answer or fault for a skill."""
        self.is_faulty = self.is_faulty or "fault" in step
        self._post("/script", {"skill": skill, **step})

    def script_all(self, *steps: dict[str, Any]) -> None:
        """Queue several answers at once."""
        self._post("/script", {"steps": steps})

    def script_tool(self, name: str, arguments: dict[str, Any], *, asked: str, told: str, reply: str) -> None:
        """Let every reply to `asked` call a tool, and say `reply` once the tool has answered with `told`.

        A second attempt gets the steps of the first.
        """
        self.script_all(
            {"skill": "reply", "times": 0, "match": told, "text": reply},
            {"skill": "reply", "times": 0, "match": asked, "tool_calls": [{"name": name, "arguments": arguments}]},
        )

    def latency(self, *, ttft_ms: float = 0, gap_ms: float = 0) -> None:
        self._post("/latency", {"ttft_ms": ttft_ms, "gap_ms": gap_ms})

    def reset(self) -> None:
        """Forget the script, the log and the latency."""
        self.is_faulty = False
        self._post("/reset", {})

    def log(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self.url}/log", timeout=10) as answer:
            return json.load(answer)

    def requests(self, skill: str | None = None) -> list[dict[str, Any]]:
        return [request for request in self.log()["requests"] if skill in (None, request["skill"])]

    def _post(self, path: str, body: dict[str, Any]) -> None:
        request = urllib.request.Request(f"{self.url}{path}", data=json.dumps(body).encode(), method="POST")
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=10):
            pass


@contextmanager
def offline_model(*, host: str = "127.0.0.1") -> Iterator[ScriptedModel]:
    port = free_port()
    command = [sys.executable, "-m", "offline_model", "--host", host, "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT)
    model = ScriptedModel(url=f"http://{host}:{port}")
    try:
        until(lambda: _answers(port, host=host), what="the offline model's port")
        yield model
    finally:
        process.kill()
        process.wait()


@dataclass
class Child:
    """A forked process, referred to by a descriptor, since its number may be reused once it has ended."""

    pid: int
    log: Path

    def __post_init__(self) -> None:
        self._end = select.poll()
        try:
            self._descriptor = os.pidfd_open(self.pid)
        except ProcessLookupError:
            self._descriptor = -1
        else:
            self._end.register(self._descriptor, select.POLLIN)

    def __del__(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)

    @property
    def is_alive(self) -> bool:
        return self._descriptor >= 0 and not self._end.poll(0)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        until(lambda: not self.is_alive, what=f"the end of process {self.pid}")

    def signal(self, number: int) -> None:
        if self.is_alive:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._descriptor, number)

    def wait(self, *, seconds: float = 60) -> None:
        until(
            lambda: not self.is_alive,
            seconds=seconds,
            what=f"the end of process {self.pid}; {self.log.read_text()[-2000:]}",
        )


class ForkServer:
    """Forks workers, web processes and clients from one process that has everything loaded (`tests.fork_server`)."""

    def __init__(self, directory: Path, *, env: dict[str, str], end_leases: Callable[[], None]) -> None:
        self.lease_seconds: float | None = None
        self._end_leases = end_leases
        self._directory = directory
        self._children: list[Child] = []
        self._workers: list[Child] = []
        self._standing: Child | None = None
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.fork_server"],
            cwd=ROOT,
            env={**os.environ, **env},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline().strip() == "ready"

    def start(self, kind: str, *, crash_at: str = "", env: Mapping[str, str] | None = None, **arguments: Any) -> Child:
        log = self._directory / f"{kind}-{len(self._children)}.log"
        # A process of an earlier test may have written to it.
        log.write_bytes(b"")
        order = {
            "kind": kind,
            "arguments": arguments,
            "env": {"CRASH_AT": crash_at, **(env or {})},
            "lease_seconds": self.lease_seconds,
            "log": str(log),
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        child = Child(pid=int(self._process.stdout.readline()), log=log)
        self._children.append(child)
        return child

    def worker(
        self,
        *,
        queues: str = "replies,work",
        crash_at: str = "",
        env: Mapping[str, str] | None = None,
        address: str = "",
    ) -> Child:
        """Start a worker, which may know the product's `address`. In a test with short leases, expire the leases of earlier
        workers if all of them are dead.
        """
        if self.lease_seconds and self._workers and not any(worker.is_alive for worker in self._workers):
            self._end_leases()
        worker = self.start("worker", crash_at=crash_at, env=env, queues=queues, address=address)
        self._workers.append(worker)
        return worker

    def standing_worker(self) -> Child:
        """A worker for all lanes: the one that the previous test left running, or a new one."""
        if self._standing is None or not self._standing.is_alive:
            self._standing = self.worker()
        return self._standing

    def web(
        self, *, crash_at: str = "", env: Mapping[str, str] | None = None, port: int = 0, knows_address: bool = False
    ) -> tuple[Child, str]:
        """Start a web process, which is the product's own address if it `knows_address`."""
        port = port or free_port()
        child = self.start("web", crash_at=crash_at, env=env, port=port, knows_address=knows_address)
        until(lambda: _answers(port), what=f"the web process; {child.log.read_text()[-2000:]}")
        return child, f"http://127.0.0.1:{port}"

    def logs(self) -> str:
        """The ends of the logs of all processes of the test."""
        return "\n".join(f"{child.log.name}: {child.log.read_text()[-2000:]}" for child in self._children)

    def kill_children(self, *, leave_standing: bool = False) -> None:
        left = [child for child in self._children if leave_standing and child is self._standing]
        for child in self._children:
            if child not in left:
                child.kill()
        self._children, self._workers = left, [*left]

    def stop(self) -> None:
        self.kill_children()
        self._process.kill()
        self._process.communicate()


def _answers(port: int, *, host: str = "127.0.0.1") -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex((host, port)) == 0
