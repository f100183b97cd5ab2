"""No double bookings: many concurrent guests, on separate connections and in separate processes."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from uuid import UUID

import pytest
from django.db import connections

from projects.models import Project
from tenancy.scope import tenant_tx
from tests.processes import Child, ForkServer, until
from tests.tools.bookings.conftest import ADA, NOW, Bookings, rome
from tests.tools.bookings.guest import GO
from tools.models import Booking, BookingState
from tools.services.bookings.booking_request import BookingRequest
from tools.services.bookings.refusals import Unbookable
from tools.services.bookings.services import Cause, book, cancel, move

EVENING = rome(27, "19:00")
MANY = 12


def try_to_book(organization_id: UUID, project_id: UUID, request: BookingRequest, *, cause: Cause | None = None) -> str:
    """Book as one of many concurrent guests, and return the table or the error code. Uses its own connection."""
    try:
        with tenant_tx(organization_id):
            project = Project.objects.select_related("agent_version").get(pk=project_id)
            booking = book(project, request, starts_at=EVENING, guest=ADA, now=NOW, cause=cause)
            return booking.resource.name if cause is None else str(booking.pk)
    except Unbookable as error:
        return error.code
    finally:
        connections.close_all()


def at_once(work: list) -> list:
    """Run all functions at the same moment, each in a thread."""
    together = Barrier(len(work))

    def begin(one):
        together.wait()
        return one()

    with ThreadPoolExecutor(len(work)) as pool:
        return list(pool.map(begin, work))


def test_concurrent_guests_get_exactly_the_free_tables(bookings: Bookings) -> None:
    bookings.stock(("One", "table", 2, 90), ("Two", "table", 2, 90), ("Three", "table", 4, 90))
    place = (bookings.tenant.organization.pk, bookings.tenant.project.pk)
    got = at_once([lambda: try_to_book(*place, BookingRequest(party_size=2))] * MANY)
    assert Counter(got) == {"One": 1, "Two": 1, "Three": 1, "taken": MANY - 3}


@pytest.fixture
def guests(bookings: Bookings, _fork_server: ForkServer) -> list[Child]:
    """Two processes, ready to book the same evening."""
    place = {"organization": str(bookings.tenant.organization.pk), "project": str(bookings.tenant.project.pk)}
    moments = {"starts_at": EVENING.isoformat(), "now": NOW.isoformat()}
    guests = [_fork_server.start("guest", **place, **moments) for _ in range(2)]
    until(lambda: all(said(guest) == ["ready"] for guest in guests), what="both guests, ready")
    return guests


def said(guest: Child) -> list[str]:
    return guest.log.read_text().split()


def test_only_one_of_two_processes_gets_the_last_table(bookings: Bookings, guests: list[Child]) -> None:
    bookings.stock(("Only", "table", 2, 90))
    for guest in guests:
        guest.signal(GO)
    for guest in guests:
        guest.wait()
    assert Counter(said(guest)[-1] for guest in guests) == {"Only": 1, "taken": 1}


def test_concurrent_attempts_at_one_effect_make_one_booking(bookings: Bookings) -> None:
    """A worker assumed dead, and the one that took over."""
    place, cause = (bookings.tenant.organization.pk, bookings.tenant.project.pk), Cause(effect_id=bookings.effect())
    assert len(set(at_once([lambda: try_to_book(*place, BookingRequest(party_size=4), cause=cause)] * 4))) == 1
    with bookings.tenant.tx():
        assert Booking.objects.count() == 1


def test_concurrent_changes_never_overlap(bookings: Bookings) -> None:
    """Eight threads work on three tables; afterwards, no two bookings of a table overlap."""
    bookings.stock(("One", "table", 2, 90), ("Two", "table", 2, 60), ("Three", "table", 4, 120))

    def work(seed: int) -> None:
        chance = random.Random(seed)
        try:
            for _ in range(12):
                _do_something(bookings, chance)
        finally:
            connections.close_all()

    at_once([lambda seed=seed: work(seed) for seed in range(8)])
    with bookings.tenant.tx():
        standing = list(Booking.objects.filter(state=BookingState.CONFIRMED).order_by("resource_id", "starts_at"))
        assert Booking.objects.exists()  # By chance, the last ones are all canceled now and then.
    for one, next_one in itertools.pairwise(standing):
        assert one.resource_id != next_one.resource_id or one.ends_at <= next_one.starts_at


def _do_something(bookings: Bookings, chance: random.Random) -> None:
    at = EVENING + timedelta(minutes=15 * chance.randrange(10))
    try:
        with bookings.tenant.tx():
            project, mine = bookings.project, list(Booking.objects.filter(state=BookingState.CONFIRMED))
            if not mine or chance.random() < 0.6:
                book(project, BookingRequest(chance.choice([1, 2, 4])), starts_at=at, guest=ADA, now=NOW)
            elif chance.random() < 0.7:
                move(chance.choice(mine), project, starts_at=at, party_size=chance.choice([1, 2, 4]), now=NOW)
            else:
                cancel(chance.choice(mine), by="staff", now=NOW)
    except Unbookable:
        pass
