"""Django's commands as steps of a start: progress, noise and refusals."""

from __future__ import annotations

import asyncio
import io
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from config.runner.errors import StartError
from config.runner.log import ServiceLog
from config.runner.manage import MIGRATE_NOISE, count_migrations, run_manage
from config.runner.program import Program
from tests.runner.conftest import eventually, is_running

pytestmark = pytest.mark.whole

MIGRATED = """
print("Migrations to apply: 2\\nOperations to perform:\\n  Apply all migrations: jobs\\nRunning migrations:")
print("  Applying jobs.0001_initial... OK\\n  Applying jobs.0002_more... OK\\na warning")
"""


def command(script: str) -> Program:
    """A fake `manage.py migrate`."""
    return Program("migrate", (sys.executable, "-c", script), env=os.environ, noise=MIGRATE_NOISE)


def test_migrations_are_counted() -> None:
    shown: list[str] = []
    asyncio.run(run_manage(command(MIGRATED), log=ServiceLog(io.StringIO()), on_line=count_migrations(shown.append)))
    assert shown == ["1/2", "2/2"]


def test_only_unexpected_lines_are_logged() -> None:
    stream = io.StringIO()
    lines = asyncio.run(run_manage(command(MIGRATED), log=ServiceLog(stream)))
    assert len(lines) == 7
    assert [line[9:] for line in stream.getvalue().splitlines()] == ["migrate  | a warning"]


@pytest.mark.parametrize("error", ["CommandError", "django.core.exceptions.ImproperlyConfigured"])
def test_a_refusal_is_shown_as_its_message_only(error: str) -> None:
    script = f"import sys; print('{error}: Use an empty database.', file=sys.stderr); sys.exit(1)"
    with pytest.raises(StartError, match=r"^Use an empty database\.$"):
        asyncio.run(run_manage(command(script), log=ServiceLog(io.StringIO())))


def test_any_other_failure_names_the_command() -> None:
    with pytest.raises(StartError, match=r"^manage\.py migrate failed: ZeroDivisionError: division by zero$"):
        asyncio.run(run_manage(command("1 / 0"), log=ServiceLog(io.StringIO())))


def test_a_command_runs_without_the_fork_server_if_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("config.runner.forking.RETRY_SECONDS", 0.1)
    program = replace(command("print('by itself')"), fork_server=tmp_path / "gone")
    assert asyncio.run(run_manage(program, log=ServiceLog(io.StringIO()))) == ["by itself"]


def test_a_canceled_command_is_killed(tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    script = f"import os, time; open({str(noted)!r}, 'w').write(str(os.getpid())); time.sleep(600)"

    async def cancel() -> None:
        running = asyncio.create_task(run_manage(command(script), log=ServiceLog(io.StringIO())))
        await asyncio.to_thread(eventually, lambda: noted.exists() and noted.read_text())
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(cancel())
    assert not is_running(int(noted.read_text()))
