"""The processes of docs/deploy.md, started by its own commands."""

from __future__ import annotations

import http.client
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
import redis
from celery.beat import PersistentScheduler
from kombu import Queue

from config.celery import app
from config.runner.run import program_of, read_arguments
from conversations.models import Conversation, Message, MessageRole
from conversations.turns.services import Posted, post_message
from jobs import wakeups
from tests.conftest import Tenant
from tests.processes import ScriptedModel, free_port, until
from tests.runner.commands import ROOT, get, running
from tests.todos.executor.conftest import Runs
from todos.models import TodoStatus

pytestmark = pytest.mark.whole

PAGE = ROOT / "docs" / "deploy.md"
SECTION = re.compile(r"^### 3\. Start the processes\n.*?^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
WEB, REPLIES, WORK, BEAT = "bin/run web", "bin/run replies", "bin/run work", "bin/run beat"


def documented(part: str) -> str:
    """The page's command that contains `part`."""
    found = SECTION.search(PAGE.read_text())
    assert found is not None
    [command] = [line for line in found[1].splitlines() if part in line]
    return command


def replaced(command: str, old: str, new: str) -> str:
    assert command.count(old) == 1, command
    return command.replace(old, new)


def answers_ping(node: str) -> bool:
    return any(name.startswith(f"{node}@") for reply in app.control.ping(timeout=0.5) for name in reply)


def queued_tasks() -> list[str]:
    """Take the names of the tasks that wait for a work worker."""
    with app.connection_for_read() as broker, broker.channel() as channel:
        messages = iter(Queue("work", channel=channel, no_ack=True).get, None)
        return [message.headers["task"] for message in messages]


def lose(*command: object) -> None:
    raise redis.ConnectionError


def has_reply(tenant: Tenant, posted: Posted) -> bool:
    assert posted.turn is not None
    with tenant.tx():
        return Message.objects.filter(turn_id=posted.turn.pk, role=MessageRole.AGENT).exists()


def ends_by_term(process: subprocess.Popen[bytes]) -> bool:
    process.send_signal(signal.SIGTERM)
    return process.wait(timeout=60) in (0, -signal.SIGTERM)


def test_every_documented_command_is_started_here() -> None:
    found = SECTION.search(PAGE.read_text())
    assert found is not None
    assert found[1].splitlines() == [documented(part) for part in (WEB, REPLIES, WORK, BEAT)]


def test_the_web_process_serves_and_ends_by_term_with_an_open_stream(
    tenant: Tenant, conversation: Conversation, tmp_path: Path
) -> None:
    port = free_port()
    command = replaced(documented(WEB), "--port 8000", f"--port {port}")
    with running(command, log=tmp_path / "log") as process:
        until(lambda: get(port, "/healthz") or process.poll() is not None, what="the web process")
        statuses = [get(port, "/healthz"), get(port, "/account/login/"), get(port, "/api/v1/tools", **tenant.headers)]
        assert statuses == [200, 200, 200], (tmp_path / "log").read_text()
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
            connection.request("GET", f"/api/v1/conversations/{conversation.pk}/events", headers=tenant.headers)
            with closing(connection.getresponse()) as stream:
                assert stream.status == 200
                assert ends_by_term(process)
    assert get(port, "/healthz") == 0


def test_beat_creates_its_directory(tmp_path: Path) -> None:
    directory = tmp_path / "not" / "there"
    program_of(read_arguments(["beat"]), env={"MAKEGOOD_DATA": str(directory)})
    assert directory.is_dir()


def test_a_process_without_servers_is_refused_in_one_sentence(tmp_path: Path) -> None:
    env = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    run = subprocess.run([ROOT / "bin" / "run", "work"], env=env, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr == "bin/run: Set DATABASE_URL: bin/run uses your own servers. bin/serve brings its own.\n"


@contextmanager
def ready_worker(part: str, *, log: Path, **env: str) -> Iterator[subprocess.Popen[bytes]]:
    """A documented worker that has reported ready. It never sweeps, so it learns of new work by messages only."""
    with running(documented(part), log=log, MAKEGOOD_SWEEP_SECONDS="3600", **env) as process:
        until(lambda: answers_ping(part.removeprefix("bin/run ")) or process.poll() is not None, what="the worker")
        assert process.poll() is None, log.read_text()
        yield process


def test_the_worker_for_replies_answers_a_message(
    tenant: Tenant, conversation: Conversation, model: ScriptedModel, tmp_path: Path
) -> None:
    alive = tmp_path / "alive"
    urls = {"OPENAI_BASE_URL": model.base_url, "MAKEGOOD_ALIVE_FILE": str(alive)}
    with ready_worker(REPLIES, log=tmp_path / "log", **urls) as process:
        with tenant.tx():
            message = post_message(conversation.pk, "Hello")
        until(lambda: has_reply(tenant, message), what="the reply")
        assert alive.exists()
        assert ends_by_term(process)


@pytest.mark.requirement("L13")
def test_beats_task_starts_an_approved_todo_whose_hint_was_lost(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # The project's mail server is on this machine.
    with ready_worker(WORK, log=tmp_path / "log", MAKEGOOD_OUTBOUND_ALLOW="127.0.0.1") as process:
        with monkeypatch.context() as outage:
            outage.setattr(wakeups, "publish", lose)
            todo = runs.approved(runs.frozen())
        app.send_task("execute_todos_job")
        until(lambda: runs.now(todo).status == TodoStatus.COMPLETED, what="the end of the todo")
        assert ends_by_term(process)


def test_beat_sends_its_tasks(tenant: Tenant, tmp_path: Path) -> None:
    """Both are due at its start, as after a pause."""
    schedule = tmp_path / "new" / "beat-schedule"
    schedule.parent.mkdir()
    app.loader.import_default_modules()
    scheduler = PersistentScheduler(app=app, schedule_filename=str(schedule))
    for entry in scheduler.schedule.values():
        entry.last_run_at = datetime(2020, 1, 1, tzinfo=UTC)
    scheduler.close()
    queued_tasks()
    sent: set[str] = set()
    with running(documented(BEAT), log=tmp_path / "log", MAKEGOOD_DATA=str(schedule.parent)) as process:
        until(lambda: sent.update(queued_tasks()) or len(sent) == 2 or process.poll() is not None, what="both tasks")
        assert sent == {"sweep", "execute_todos_job"}, (tmp_path / "log").read_text()
        assert ends_by_term(process)
