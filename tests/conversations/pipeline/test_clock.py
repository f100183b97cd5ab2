"""Workers with a wrong or jumping clock fire timers correctly: only the database's clock counts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import libfaketime
import pytest
from django.utils import timezone

from conversations.models import FollowUp
from tests.conftest import Tenant
from tests.conversations.pipeline.conftest import Talk, begin, configure
from tests.conversations.pipeline.test_timers import expire_timer, states, turns
from tests.crashes.invariants import check, settle
from tests.processes import ScriptedModel, until

pytestmark = pytest.mark.whole

WORKER = ["-m", "celery", "-q", "-A", "config", "worker", "-P", "threads", "-c", "2", "-Q", "replies,work"]
SetClock = Callable[[str], None]


@pytest.fixture
def set_clock(tmp_path: Path, database: None, model: ScriptedModel) -> Iterator[SetClock]:
    """A worker whose clock is off by the last value set; it starts an hour ahead."""
    offset = tmp_path / "offset"
    offset.write_text("+1h")
    env = {
        **os.environ,
        **libfaketime.get_reload_information()[1],
        "OPENAI_BASE_URL": model.base_url,
        "MAKEGOOD_SWEEP_SECONDS": "0.25",
        "FAKETIME_TIMESTAMP_FILE": str(offset),
        "FAKETIME_NO_CACHE": "1",
        "DONT_FAKE_MONOTONIC": "1",
    }
    with (tmp_path / "worker.log").open("wb") as log:
        worker = subprocess.Popen([sys.executable, *WORKER], env=env, stdout=log, stderr=log)
        yield lambda words: offset.write_text(words) and None
        worker.kill()
        worker.wait()


@pytest.fixture
def without_quiet_hours(tenant: Tenant) -> Tenant:
    configure(tenant, quiet_hours=None)
    return tenant


def fire(talk: Talk) -> float:
    """Let the conversation's timer expire in two seconds. Returns how many seconds late it fired."""
    already = len(states(talk.tenant))
    expire_timer(talk, seconds=-2)
    until(lambda: len(states(talk.tenant)) > already, what="the follow-up")
    fired_by = timezone.now()
    with talk.tenant.tx():
        due_at = FollowUp.objects.get(conversation=talk.conversation).due_at
    settle(talk.tenant)
    return (fired_by - due_at).total_seconds()


def test_a_worker_with_a_wrong_clock_fires_each_timer_once_and_on_time(without_quiet_hours, set_clock) -> None:
    begin(without_quiet_hours, external_id="warm-up").exchange("Hello")
    for clock in ("+1h", "-1h", "-55m"):
        set_clock(clock)
        talk = begin(without_quiet_hours, external_id=clock)
        assert 0 <= fire(talk) < 5
        assert turns(talk) == ["follow_up"]
    check(without_quiet_hours)
