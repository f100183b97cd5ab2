"""The customer's page of one booking: whoever has its signed link sees it, moves it or cancels it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, cast
from uuid import UUID

from asgiref.sync import async_to_sync
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language_from_request, override
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from console.bookings.days import days_around
from projects.api.throttling import seconds_to_wait
from projects.models import Project
from tenancy.scope import tenant_tx
from tools.models import Booking, BookingKind, BookingState
from tools.services.bookings.booking_request import Wish, phrase
from tools.services.bookings.clock import read_day, read_moment
from tools.services.bookings.date_words import time_words
from tools.services.bookings.opening import Opening, Span
from tools.services.bookings.refusals import NoTime, Unbookable
from tools.services.bookings.search import HORIZON_DAYS, config_of, new_search
from tools.services.bookings.services import cancel, move, where_it_is, who_is_met
from tools.services.bookings.translations import OwnWords, best_of, language_of
from tools.services.calendar.availability import View, look
from tools.services.signed_links import BookingPlace, read_booking_token

# A link stands so long after its booking has ended.
STANDS = timedelta(days=1)
LOOKS_PER_MINUTE, CHANGES_PER_MINUTE = 90, 10
LARGEST_PARTY = 20


@dataclass(frozen=True)
class Opened:
    """A booking that someone came to by its link, and the business that it is at."""

    booking: Booking
    project: Project
    now: datetime

    @property
    def organization_id(self) -> UUID:
        return cast(UUID, self.project.organization_id)

    @property
    def project_id(self) -> UUID:
        return self.project.pk

    @property
    def timezone(self) -> str:
        return config_of(self.project).timezone

    @property
    def at(self) -> datetime:
        return self.now

    @property
    def opening(self) -> Opening:
        return Opening(config_of(self.project))

    @property
    def today(self) -> date:
        return self.opening.local(self.now).date()

    @property
    def starts(self) -> datetime:
        return self.opening.local(self.booking.starts_at)

    @property
    def may_change(self) -> bool:
        return self.booking.state == BookingState.CONFIRMED and self.booking.starts_at > self.now

    @property
    def noun(self) -> str:
        """What it is, in one word: table, appointment, meeting."""
        return phrase(Wish(kind=BookingKind(self.booking.kind)), [self.booking.resource])


@dataclass(frozen=True)
class Asked:
    """The day and the number of people that the customer looks at free times for."""

    day: date
    people: int


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def own_booking(request: HttpRequest, token: str) -> HttpResponse:
    """The booking behind a link; a POST moves or cancels it. 404 for what we never signed, 410 once it is long over."""
    if wait := seconds_to_wait(f"own_booking:{request.META.get('REMOTE_ADDR', '')}", per_minute=LOOKS_PER_MINUTE):
        return _slow_down(request, wait)
    place = read_booking_token(token)
    if place is None:
        return _answer(request, "gone.html", {}, status=404, own=_before_all(request))
    if request.method == "POST":
        return _change(request, token, place)
    with tenant_tx(place.organization_id):
        opened = _open(place)
        own = _words(request, opened)
    if opened.booking.ends_at + STANDS < opened.now:
        return _answer(request, "over.html", {"business": own.business}, status=410, own=own)
    asked = _asked(request, opened)
    busy = _busy(opened, asked.day) if opened.may_change else ()
    with tenant_tx(place.organization_id):
        context = _context(opened, asked, busy, own=own)
    return _answer(request, "own.html", {**context, "token": token}, own=own)


def _change(request: HttpRequest, token: str, place: BookingPlace) -> HttpResponse:
    if wait := seconds_to_wait(f"own_booking:{place.booking_id}", per_minute=CHANGES_PER_MINUTE):
        return _slow_down(request, wait)
    with tenant_tx(place.organization_id):
        own = _words(request, _open(place))
    try:
        said = _cancel(place, own) if request.POST.get("do") == "cancel" else _move(request, place, own)
        messages.success(request, said)
    except Unbookable as error:
        messages.error(request, own.said(error.message, "refused"))
    except NoTime:
        messages.error(request, own.words["choose"])
    return redirect("own_booking", token)


def _move(request: HttpRequest, place: BookingPlace, own: OwnWords) -> str:
    with tenant_tx(place.organization_id):
        opened = _open(place)
    size = request.POST.get("people", "")
    number = int(size) if size.isascii() and size.isdigit() and len(size) < 4 else opened.booking.party_size
    moment = read_moment(request.POST.get("starts_at", ""))
    if moment.tzinfo is None:
        raise NoTime("The page's times have a zone.")
    busy = _busy(opened, opened.opening.local(moment).date())
    with tenant_tx(place.organization_id):
        moved = move(
            opened.booking,
            opened.project,
            starts_at=moment,
            party_size=max(number, 1),
            resource_id=who_is_met(opened.booking),
            place=where_it_is(opened.booking),
            now=opened.now,
            busy=busy,
        )
    when = own.moment(opened.opening.local(moved.starts_at), today=opened.today)
    return own.filled("moved", when=when, people=own.people(moved.party_size))


def _cancel(place: BookingPlace, own: OwnWords) -> str:
    with tenant_tx(place.organization_id):
        opened = _open(place)
        cancel(opened.booking, by="customer", now=opened.now)
    return own.words["is_cancelled"]


def _busy(opened: Opened, day: date) -> Sequence[Span]:
    """When the business's own calendar is taken. No transaction may be open; without an answer the book goes alone."""
    view: View = async_to_sync(look)(opened, day=day)
    return view.busy


def _open(place: BookingPlace) -> Opened:
    """In the tenant's transaction. Raises Http404 for a booking that is no more."""
    booking = Booking.objects.select_related("resource").filter(pk=place.booking_id).first()
    if booking is None:
        raise Http404
    project = Project.objects.select_related("agent_version").get(pk=booking.project_id)
    return Opened(booking=booking, project=project, now=timezone.now())


def _asked(request: HttpRequest, opened: Opened) -> Asked:
    """What the address asks for; anything else is the booking's own day and number."""
    size = request.GET.get("people", "")
    try:
        day = read_day(request.GET.get("day", ""))
    except NoTime:
        day = opened.starts.date()
    last = opened.today + timedelta(days=HORIZON_DAYS)
    is_size = size.isascii() and size.isdigit() and len(size) < 4 and 1 <= int(size) <= LARGEST_PARTY
    return Asked(day=min(max(day, opened.today), last), people=int(size) if is_size else opened.booking.party_size)


def _context(opened: Opened, asked: Asked, busy: Sequence[Span], *, own: OwnWords) -> dict[str, Any]:
    booking, config = opened.booking, config_of(opened.project)
    return {
        "booking": booking,
        "business": config.business_name,
        "starts_on": opened.starts.date(),
        "date": own.month_day(opened.starts.date(), today=opened.today),
        "time": time_words(opened.starts),
        "iso": opened.starts.isoformat(),
        "people": own.people(booking.party_size),
        "zone": own.filled("zone", zone=config.timezone.replace("_", " ")),
        "is_cancelled": booking.state == BookingState.CANCELLED,
        "may_change": opened.may_change,
        **(_free(opened, asked, busy, own=own) if opened.may_change else {}),
    }


def _free(opened: Opened, asked: Asked, busy: Sequence[Span], *, own: OwnWords) -> dict[str, Any]:
    """The days to choose from, and the free times of the one that is looked at."""
    return {
        "asked": asked,
        "free_on": own.filled("free_on", day=own.day(asked.day, today=opened.today)),
        "days": days_around(asked.day, opening=opened.opening, today=opened.today),
        "sizes": range(1, max(LARGEST_PARTY, asked.people) + 1),
        **_times(opened, asked, busy, own=own),
    }


def _times(opened: Opened, asked: Asked, busy: Sequence[Span], *, own: OwnWords) -> dict[str, Any]:
    booking = opened.booking
    wish = Wish(
        party_size=asked.people,
        kind=BookingKind(booking.kind),
        resource_id=who_is_met(booking),
        place=where_it_is(booking),
    )
    try:
        search = new_search(opened.project, wish, now=opened.now, without=opened.booking.pk, busy=busy)
    except Unbookable as error:
        return {"times": [], "why": own.said(error.message, "nothing")}
    starts = search.starts_of(asked.day)
    is_same = asked.people == opened.booking.party_size
    times = [
        {"iso": start.isoformat(), "text": time_words(start), "is_own": is_same and start == opened.starts}
        for start in starts
    ]
    return {"times": times, "why": "" if times else own.words["nothing"]}


def _slow_down(request: HttpRequest, wait: float) -> HttpResponse:
    response = _answer(request, "slow.html", {}, status=429, own=_before_all(request))
    response["Retry-After"] = str(math.ceil(wait))
    return response


def _words(request: HttpRequest, opened: Opened) -> OwnWords:
    """The page's words for the booking's customer, in the tenant's transaction."""
    language = language_of(opened.booking, asked=get_language_from_request(request))
    return OwnWords(language, config_of(opened.project).business_name, noun=opened.noun)


def _before_all(request: HttpRequest) -> OwnWords:
    """The words for somebody of whom nothing is known."""
    return OwnWords(best_of(get_language_from_request(request)))


def _answer(
    request: HttpRequest, template: str, context: dict[str, Any], *, own: OwnWords, status: int = 200
) -> HttpResponse:
    # The days and months, too.
    with override(own.language):
        said = {"own": own, "words": own.words}
        response = render(request, f"bookings/own/{template}", {**context, **said}, status=status)
    response["X-Robots-Tag"] = "noindex, nofollow"
    return response
