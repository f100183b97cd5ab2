"""Makegood's own programs and their command lines."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from config.runner.program import Program

ROOT = Path(__file__).resolve().parents[2]
# Workers use no privilege of root. As root, Celery would warn at each start.
NO_ROOT_ADVICE = {"PYTHONWARNINGS": "ignore:You're running the worker with superuser privileges"}
WEB_NOISE = (
    r"^INFO(:    | uvicorn\.error) (Started server|Waiting for|Application |Uvicorn running|Shutting down"
    r"|Finished server).*"
)
WORKER_NOISE = r"^worker: Warm shutdown.*"
# `migrate` runs the system checks before anything starts. In each process they would take a second and ten megabytes.
CELERY = ("-q", "--skip-checks", "-A", "config")
WORKER = ("worker", "-P", "threads", "-c", "1", "--without-gossip", "--without-mingle", "--without-heartbeat")
# The lower priority gives the other processes half as much CPU again when CPU is short. With a higher value, replies
# come sooner, but throughput falls, because analyses wait while CPUs are idle.
WORK_NICENESS = 2


def web(*, host: str, port: int, env: Mapping[str, str], workers: int = 1) -> Program:
    """The web process (uvicorn), or a parent of `workers` such processes."""
    kind = ("--loop", "uvloop", "--http", "config.http_protocol:TimedProtocol", "--ws", "wsproto", "--no-access-log")
    # WebSockets carry phone calls, whose messages are sentences.
    sockets = ("--ws-max-size", "65536", "--ws-ping-interval", "10", "--ws-ping-timeout", "10")
    # Forwarded headers are read by config.trusted_proxies. An open stream would otherwise never let the process stop.
    options = (
        "--host",
        host,
        "--port",
        str(port),
        *kind,
        "--no-proxy-headers",
        "--timeout-graceful-shutdown",
        "3",
        *sockets,
    )
    many = ("--workers", str(workers)) if workers > 1 else ()
    command = ("uvicorn", "config.asgi:application", *options, *many)
    return replace(_ours("web", *command, env=env), noise=WEB_NOISE)


def reply_worker(*, env: Mapping[str, str], name: str = "replies") -> Program:
    """The worker for replies to customers, a process of its own so that nothing slow delays them."""
    return _worker("replies", name=name, env=env)


def work_worker(*, env: Mapping[str, str], name: str = "work") -> Program:
    """The worker for all other jobs, at a lower priority."""
    return replace(_worker("work", name=name, env=env), niceness=WORK_NICENESS)


def beat(*, data_dir: Path, env: Mapping[str, str]) -> Program:
    """The Celery scheduler. Workers sweep by themselves, so nothing depends on it."""
    schedule = str(data_dir / "beat-schedule")
    return _ours("beat", "celery", *CELERY, "beat", "-s", schedule, "--pidfile=", env=env)


def fork_server(*, socket: Path, env: Mapping[str, str]) -> Program:
    """The process that web, workers and beat are forked from, so that they share memory."""
    return _ours("forks", "config.runner.forkserver", str(socket), env={**env, **NO_ROOT_ADVICE})


def offline_model(*, port: int, env: Mapping[str, str]) -> Program:
    """The model that responds while no other is configured."""
    return _ours("model", "offline_model", "--port", str(port), env=env)


def offline_env(model_url: str) -> dict[str, str]:
    """The settings with which our processes use the offline model."""
    return {"OPENAI_BASE_URL": f"{model_url}/v1", "OPENAI_API_KEY": "offline", "MAKEGOOD_OFFLINE": "1"}


def offline_calls(*, port: int, env: Mapping[str, str]) -> Program:
    """The providers of calls and messages whose customer types, for the playground and the simulated phone."""
    return _ours("calls", "offline_model.realtime", "--port", str(port), env=env)


def offline_providers_env(url: str) -> dict[str, str]:
    """The settings with which our processes know these providers."""
    return {"MAKEGOOD_OFFLINE_CALLS": f"{url}/v1", "MAKEGOOD_OFFLINE_MESSENGERS": f"{url}/messengers"}


def _worker(queue: str, *, name: str, env: Mapping[str, str]) -> Program:
    options = (*CELERY, *WORKER, "-Q", queue, "-n", f"{name}@%h")
    return replace(_ours(queue, "celery", *options, env={**env, **NO_ROOT_ADVICE}), noise=WORKER_NOISE)


def _ours(name: str, module: str, *arguments: str, env: Mapping[str, str]) -> Program:
    return Program(
        name,
        (sys.executable, "-m", module, *arguments),
        env={**env, "PYTHONUNBUFFERED": "1", "MALLOC_ARENA_MAX": "2"},
        cwd=ROOT,
    )
