"""The clock of PostgreSQL's machine is set by an hour while it works, with the library `faketime`."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from config.runner.embedded import EmbeddedServer
from config.runner.postgres import Postgres
from config.runner.program import Program
from jobs.models import Job
from tests.bypass_rls import bypass_rls
from tests.conversations.conftest import begin
from tests.crashes.invariants import check, settle
from tests.processes import ForkServer, ScriptedModel, until
from tests.services import services
from tests.wires.conftest import forget_connections

pytestmark = pytest.mark.slow

LIBRARY = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
HOUR = 3600


@dataclass(frozen=True, kw_only=True)
class SetPostgres(Postgres):
    """A server that reads its clock's difference from a file."""

    difference: Path

    def program(self) -> Program:
        program = super().program()
        faked = {
            "LD_PRELOAD": str(LIBRARY),
            "FAKETIME_TIMESTAMP_FILE": str(self.difference),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
        return replace(program, env={**(program.env or {}), **faked})


class Clock:
    """The clock of PostgreSQL's machine."""

    def __init__(self, difference: Path) -> None:
        self.difference = difference
        self.set(0)

    def set(self, seconds: int) -> None:
        """Set it by this much, compared with the true time."""
        draft = self.difference.with_suffix(".draft")
        draft.write_text(f"{seconds:+d}\n")
        draft.chmod(0o644)
        draft.rename(self.difference)


@pytest.fixture
def clock(database: None) -> Iterator[Clock]:
    if LIBRARY is None:
        pytest.skip("The library faketime isn't here: install the package faketime.")
    place = Path(tempfile.mkdtemp(prefix="makegood-clock-"))
    place.chmod(0o755)
    clock = Clock(place / "difference")
    before = services.postgres
    assert isinstance(before.service, Postgres)
    values = {name: getattr(before.service, name) for name in Postgres.__dataclass_fields__}
    forget_connections()
    before.stop()
    services.postgres = server = EmbeddedServer(SetPostgres(**values, difference=clock.difference), log=before.log)
    server.start()
    try:
        yield clock
    finally:
        forget_connections()
        server.stop()
        services.postgres = before
        before.start()


def is_stepped(seconds: int) -> bool:
    ahead = bypass_rls("select extract(epoch from clock_timestamp())")[0][0] - Decimal(time.time())
    return abs(ahead - seconds) < 60


def test_queued_work_goes_on_after_a_step_back(
    clock: Clock, tenant: Any, processes: ForkServer, model: ScriptedModel
) -> None:
    begin(tenant).say("Could you text me the opening hours?")
    clock.set(-HOUR)
    assert is_stepped(-HOUR)
    processes.worker()
    settle(tenant, seconds=30)
    check(tenant)


def test_the_work_of_a_dead_worker_goes_on_after_a_step_back(
    clock: Clock, tenant: Any, processes: ForkServer, model: ScriptedModel
) -> None:
    model.script("reply", times=1, ttft_ms=60_000)
    dead = processes.worker()
    begin(tenant).say("When do you open?")
    until(lambda: model.requests("reply"), what="the running reply")
    dead.kill()
    clock.set(-HOUR)
    processes.worker()
    settle(tenant, seconds=45)
    check(tenant)


def test_a_live_worker_keeps_its_work_after_a_step_forward(
    clock: Clock, tenant: Any, processes: ForkServer, model: ScriptedModel
) -> None:
    model.script("reply", times=1, ttft_ms=4000, text="We open at noon.")
    processes.worker()
    begin(tenant).say("When do you open?")
    until(lambda: model.requests("reply"), what="the running reply")
    time.sleep(1)
    clock.set(HOUR)
    assert is_stepped(HOUR)
    settle(tenant, seconds=30)
    check(tenant)
    with tenant.tx():
        assert Job.objects.get(lane="reply").attempts == 1
    assert len(model.requests("reply")) == 1
