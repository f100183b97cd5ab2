"""A worker is killed (SIGKILL) while writing to the calendar; another takes over, and there is one event."""

from __future__ import annotations

import pytest

from jobs.models import Job, State
from tests.conftest import Tenant, make_tenant
from tests.processes import ForkServer, until
from tests.tools.bookings.conftest import Bookings
from tests.tools.calendar.conftest import connect, told_of
from tests.tools.calendar.radicale import Radicale
from tests.tools.calendar.test_event_sync import to_come
from tools.models import EffectState
from tools.services.calendar.event import event_uid

pytestmark = pytest.mark.short_leases


@pytest.fixture
def tenant(database: None) -> Tenant:
    return make_tenant("Nello")


@pytest.mark.parametrize("label", ["calendar.sending_pre_bytes", "calendar.response_pre_commit"])
def test_a_killed_write_ends_in_one_event(
    bookings: Bookings, processes: ForkServer, caldav_server: Radicale, local: None, label: str
) -> None:
    """Killed before the first byte, and after a response that was not recorded."""
    calendar = caldav_server.calendar()
    connect(bookings.tenant, calendar.url)
    doomed = processes.worker(crash_at=f"{label}:1")
    booking = to_come(bookings)
    doomed.wait()
    assert len(calendar.events()) == (1 if label == "calendar.response_pre_commit" else 0)
    assert told_of(bookings, booking).state == EffectState.SENDING
    processes.worker()
    until(lambda: told_of(bookings, booking).state == EffectState.DONE, what="the writing by another worker")
    assert [event["UID"] for event in calendar.events()] == [event_uid(booking)]
    assert told_of(bookings, booking).attempts == 2
    with bookings.tenant.tx():
        assert not Job.objects.filter(lane="calendar", state=State.FAILED).exists()
