"""A project with a calendar on a real CalDAV server, and a fixed clock, as in tests/tools/bookings."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import pytest

from jobs.models import Job
from projects.connections.integration_types import KINDS
from projects.connections.integrations import SourceEdit, connect_source
from projects.models import Project, Source
from tests.conftest import Tenant
from tests.lane_runs import run_lanes
from tests.tools.bookings.conftest import Bookings, bookings, business, stranger, tenant
from tests.tools.calendar.radicale import PASSWORD, USER, Calendar, Radicale, radicale
from tests.tools.calendar.scripted import ScriptedCalendar
from tools.models import Booking, Effect
from tools.services.bookings.opening import Opening
from tools.services.bookings.search import config_of

__all__ = ["bookings", "business", "stranger", "tenant"]

CALDAV = KINDS["caldav"]


@pytest.fixture(scope="session")
def caldav_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Radicale]:
    with radicale(tmp_path_factory.mktemp("radicale")) as server:
        yield server


@pytest.fixture
def local(settings: Any) -> None:
    """Allow calendars on this machine."""
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]


@pytest.fixture
def calendar(caldav_server: Radicale, local: None, bookings: Bookings) -> Iterator[Calendar]:
    """An empty calendar, connected to the project."""
    made = caldav_server.calendar()
    connect(bookings.tenant, made.url)
    yield made
    forget(bookings.tenant)


@pytest.fixture
def scripted(local: None, bookings: Bookings) -> Iterator[ScriptedCalendar]:
    """A server with scripted responses, connected to the project."""
    with ScriptedCalendar() as server:
        connect(bookings.tenant, server.url)
        yield server
    forget(bookings.tenant)


def connect(tenant: Tenant, url: str, *, password: str = PASSWORD, user: str = USER) -> Source:
    with tenant.tx():
        edit = SourceEdit({"url": url, "user": user}, password)
        return connect_source(tenant.project, CALDAV, edit, by=tenant.owner)


def forget(tenant: Tenant) -> None:
    with tenant.tx():
        Source.objects.filter(kind="caldav").delete()
        Job.objects.filter(lane="calendar").delete()


def source_of(tenant: Tenant) -> Source:
    with tenant.tx():
        return Source.objects.get(kind="caldav")


def open_day(tenant: Tenant) -> date:
    """A future day, by the real clock, on which the business is open at noon and in the evening."""
    with tenant.tx():
        project = Project.objects.select_related("agent_version").get(pk=tenant.project.pk)
    return next(Opening(config_of(project)).open_days(date.today() + timedelta(days=1), within=10))  # noqa: DTZ011


def write(lane: str = "calendar") -> None:
    """Run every due calendar job in this process."""
    run_lanes(lane)


def told_of(bookings: Bookings, booking: Booking) -> Effect:
    """Return the booking's latest calendar effect."""
    with bookings.tenant.tx():
        row = Booking.objects.get(pk=booking.pk)
        return Effect.objects.get(pk=row.calendar_effect_id)
