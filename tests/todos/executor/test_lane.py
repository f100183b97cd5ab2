"""The tasks that wake workers and that beat schedules."""

from __future__ import annotations

import pytest

from config.celery import app
from jobs.lanes import lane_of, lane_of_task


@pytest.mark.requirement("L13")
def test_the_wakeup_task_has_its_documented_name() -> None:
    assert lane_of("todo").task_name == "execute_todo"
    assert lane_of_task("execute_todo") is lane_of("todo")


@pytest.mark.requirement("L13")
def test_beat_checks_for_approved_todos_every_30_seconds() -> None:
    app.loader.import_default_modules()
    tick = app.conf.beat_schedule["execute_todos_job"]
    assert (tick["task"], tick["schedule"]) == ("execute_todos_job", 30.0)
    assert tick["task"] in app.tasks
