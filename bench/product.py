"""Starts the whole product for a measurement: its own PostgreSQL and Redis, web, two workers, and the model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import aiohttp

from bench.processes import cpu_seconds, memory_bytes
from config.runner import programs
from config.runner.embedded import EmbeddedServices
from config.runner.forking import CAN_FORK, request_fork
from config.runner.ports import free_port
from config.runner.program import Program

ROOT = Path(__file__).resolve().parent.parent
READY_SECONDS = 60

# Fixed answers: a reply of 40 words and three structured answers.
REPLY = " ".join(["word"] * 39) + " end."
ANSWERS: dict[str, dict[str, Any]] = {
    "reply": {"text": REPLY},
    "observer": {"json": {"facts": [], "quality": None}},
    "thoughts": {
        "json": {
            "scenario": "1, Book a table",
            "step": "1.1, Ask for a phone number",
            "goal": "Learn the number.",
            "instructions": ["Ask for the number."],
            "to_collect": ["phone"],
            "known": [],
            "tools_pending": [],
            "avoid": [],
        }
    },
    "detect": {"json": {"verdicts": []}},
}


def connections() -> aiohttp.TCPConnector:
    """Connections of a client, as many as it needs. An idle one is closed before the server closes it, so that nothing is
    sent on a connection that is being closed.
    """
    return aiohttp.TCPConnector(limit=0, keepalive_timeout=3)


@dataclass(frozen=True)
class Product:
    """A running product: its address and key, the processes to measure, their environment, and the demo's login."""

    base_url: str
    api_key: str
    model_url: str
    pids: dict[str, int]
    env: Mapping[str, str]
    login: Mapping[str, str]

    def cpu_s(self) -> dict[str, float]:
        """CPU seconds so far, by process."""
        named = self.pids.values()
        return {name: cpu_seconds(pid, without=named) for name, pid in self.pids.items()}

    def memory_bytes(self) -> dict[str, int]:
        """Memory by process; the processes of PostgreSQL are one."""
        named = self.pids.values()
        return {name: memory_bytes(pid, without=named) for name, pid in self.pids.items()}

    def call(self, path: str, body: dict[str, Any] | None = None, *, base_url: str = "") -> dict[str, Any]:
        """Call the API: GET, or POST with a body. `base_url` selects another web process than the first."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{base_url or self.base_url}/api/v1{path}", data=data)  # noqa: S310  # our own server
        request.add_header("Authorization", f"Bearer {self.api_key}")
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            return dict(json.load(answer))

    def tell_model(self, path: str, body: Any) -> None:
        """Configure the model through its own HTTP endpoint."""
        post(f"{self.model_url}{path}", body)

    def model_log(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self.model_url}/log", timeout=10) as answer:  # noqa: S310  # our own model
            return dict(json.load(answer))


@contextmanager
def running_product(
    *,
    ttft_ms: float,
    through: Callable[[Program], Program] | None = None,
    data_dir: str | Path | None = None,
    **settings: str,
) -> Iterator[Product]:
    """Start everything, load the demo, and script the model; stop everything at the end.

    With `through`, web and workers run as the programs it returns, started separately. The data stays in `data_dir`, or
    is removed at the end. `settings` are added to the environment of web and workers.
    """
    with ExitStack() as stack:
        services = stack.enter_context(EmbeddedServices(Path(data_dir) if data_dir else None, durable=True))
        web_port, model_port = free_port(), free_port()
        model_url = f"http://127.0.0.1:{model_port}"
        env = {
            **os.environ,
            **services.env,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "OPENAI_BASE_URL": f"{model_url}/v1",
            "OPENAI_API_KEY": "bench",
            "MAKEGOOD_OFFLINE": "1",
            "MAKEGOOD_LOG_LEVEL": "WARNING",
            **settings,
        }
        model = start(stack, programs.offline_model(port=model_port, env=env))
        login = _demo(env)
        apps = (
            programs.web(host="127.0.0.1", port=web_port, env=env),
            programs.reply_worker(env=env),
            programs.work_worker(env=env),
        )
        if CAN_FORK and not through:
            pids = _fork(stack, apps, env=env)
        else:
            pids = {app.name: start(stack, through(app) if through else app).pid for app in apps}
        pids |= {"postgresql": services.postgres.pid, "redis": services.redis.pid, "model": model.pid}
        product = Product(f"http://127.0.0.1:{web_port}", login["api_key"], model_url, pids, env, login)
        await_address(f"{product.base_url}/healthz")
        await_address(f"{model_url}/healthz")
        script(product, ttft_ms=ttft_ms)
        yield product


def script(product: Product, *, ttft_ms: float, **answers: dict[str, Any]) -> None:
    """Script fixed answers, some replaced by `answers`, and a fixed time to the first token."""
    product.tell_model("/reset", {})
    scripted = {**ANSWERS, **answers}
    product.tell_model("/script", [{"skill": skill, "times": 0, **answer} for skill, answer in scripted.items()])
    product.tell_model("/latency", {"ttft_ms": ttft_ms, "gap_ms": 0})


def post(url: str, body: Any) -> None:
    request = urllib.request.Request(url, data=json.dumps(body).encode(), method="POST")  # noqa: S310  # our own servers
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=10):  # noqa: S310
        pass


def start(stack: ExitStack, program: Program) -> subprocess.Popen[bytes]:
    """Run another program until the stack ends."""
    process = subprocess.Popen(program.argv(), **program.popen_options())
    stack.callback(process.wait)
    stack.callback(process.terminate)
    return process


def _fork(stack: ExitStack, apps: Iterable[Program], *, env: dict[str, str]) -> dict[str, int]:
    """Start the programs as bin/serve does, from a fork server, which is one of the processes."""
    socket = Path(stack.enter_context(TemporaryDirectory())) / "forks"
    pids = {"forks": start(stack, programs.fork_server(socket=socket, env=env)).pid}
    while not socket.exists():
        time.sleep(0.05)
    for app in apps:
        told = stack.enter_context(request_fork(app, server=socket, output=sys.stdout.fileno()).makefile())
        pid = pids[app.name] = int(told.readline())
        stack.callback(told.readline)
        stack.callback(os.kill, pid, signal.SIGTERM)
    return pids


def _demo(env: dict[str, str]) -> dict[str, str]:
    manage = [sys.executable, str(ROOT / "manage.py")]
    subprocess.run([*manage, "migrate", "-v", "0"], env=env, check=True)
    loaded = subprocess.run([*manage, "demo", "--json"], env=env, check=True, stdout=subprocess.PIPE)
    return dict(json.loads(loaded.stdout))


def await_address(url: str) -> None:
    """Wait until the address answers. Raises OSError after a minute."""
    give_up_at = time.monotonic() + READY_SECONDS
    while True:
        try:
            with urllib.request.urlopen(url, timeout=2):  # noqa: S310  # our own servers
                return
        except OSError:
            if time.monotonic() > give_up_at:
                raise
            time.sleep(0.1)
