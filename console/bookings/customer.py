"""The customer's booking page: anyone with the signed link can view, move or cancel the booking."""

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
from django.utils.translation import get_language, get_language_from_request, gettext, override
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from console.bookings.days import days_around
from projects.api.throttling import seconds_to_wait
from projects.common.addresses import client_address
from projects.models import Project
from tenancy.scope import tenant_tx
from tools.models import Booking, BookingKind, BookingState
from tools.services.bookings.booking_request import BookingRequest
from tools.services.bookings.clock import read_day, read_moment
from tools.services.bookings.date_words import time_words
from tools.services.bookings.opening import Opening, Span
from tools.services.bookings.refusals import InvalidTime, Unbookable
from tools.services.bookings.search import HORIZON_DAYS, config_of, new_search
from tools.services.bookings.services import cancel, move, person_id_of, resource_kind_of
from tools.services.bookings.translations import is_english, language_of, long_day, moment, month_day, people
from tools.services.calendar.availability import CalendarView, check_calendar
from tools.services.signed_links import BookingTarget, read_booking_token

# How long a link keeps working after its booking has ended.
LINK_GRACE = timedelta(days=1)
VIEWS_PER_MINUTE, CHANGES_PER_MINUTE = 90, 10
LARGEST_PARTY = 20


@dataclass(frozen=True)
class Opened:
    """A booking opened through its link, with its project."""

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


@dataclass(frozen=True)
class SlotQuery:
    """Day and party size for which to show free times."""

    day: date
    people: int


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def own_booking(request: HttpRequest, token: str) -> HttpResponse:
    """Show the booking of a link; POST moves or cancels it. 404 for an invalid link, 410 once the booking is over."""
    if wait := seconds_to_wait(f"own_booking:{client_address(request)}", per_minute=VIEWS_PER_MINUTE):
        return _slow_down(request, wait)
    place = read_booking_token(token)
    if place is None:
        return _answer(request, "gone.html", status=404)
    if request.method == "POST":
        return _change(request, token, place)
    with tenant_tx(place.organization_id):
        opened = _open(place)
        language = _language(request, opened)
    with override(language):
        return _show(request, token, opened)


def _show(request: HttpRequest, token: str, opened: Opened) -> HttpResponse:
    if opened.booking.ends_at + LINK_GRACE < opened.now:
        return _answer(request, "over.html", {"business": config_of(opened.project).business_name}, status=410)
    asked = _asked(request, opened)
    busy = _busy(opened, asked.day) if opened.may_change else ()
    with tenant_tx(opened.organization_id):
        context = _context(opened, asked, busy)
    return _answer(request, "own.html", {**context, "token": token})


def _change(request: HttpRequest, token: str, place: BookingTarget) -> HttpResponse:
    if wait := seconds_to_wait(f"own_booking:{place.booking_id}", per_minute=CHANGES_PER_MINUTE):
        return _slow_down(request, wait)
    with tenant_tx(place.organization_id):
        language = _language(request, _open(place))
    with override(language):
        try:
            confirmation = _cancel(place) if request.POST.get("do") == "cancel" else _move(request, place)
            messages.success(request, confirmation)
        except Unbookable as error:
            messages.error(request, _why(error, gettext("That’s no longer available. Choose another time.")))
        except InvalidTime:
            messages.error(request, gettext("Choose a time."))
    return redirect("own_booking", token)


def _why(error: Unbookable, translated: str) -> str:
    """The reason in English, or its generic translation."""
    return error.message if is_english() else translated


def _move(request: HttpRequest, place: BookingTarget) -> str:
    with tenant_tx(place.organization_id):
        opened = _open(place)
    size = request.POST.get("people", "")
    number = int(size) if size.isascii() and size.isdigit() and len(size) < 4 else opened.booking.party_size
    start = read_moment(request.POST.get("starts_at", ""))
    if start.tzinfo is None:
        raise InvalidTime("The page's times have a zone.")
    busy = _busy(opened, opened.opening.local(start).date())
    with tenant_tx(place.organization_id):
        moved = move(
            opened.booking,
            opened.project,
            starts_at=start,
            party_size=max(number, 1),
            resource_id=person_id_of(opened.booking),
            resource_kind=resource_kind_of(opened.booking),
            now=opened.now,
            busy=busy,
        )
    when = moment(opened.opening.local(moved.starts_at), today=opened.today)
    return gettext("Booking moved: %(when)s, %(people)s.") % {"when": when, "people": people(moved.party_size)}


def _cancel(place: BookingTarget) -> str:
    with tenant_tx(place.organization_id):
        opened = _open(place)
        cancel(opened.booking, by="customer", now=opened.now)
    return gettext("Booking canceled.")


def _busy(opened: Opened, day: date) -> Sequence[Span]:
    """Busy times of the connected calendar; empty if it doesn't answer. Call outside a transaction."""
    view: CalendarView = async_to_sync(check_calendar)(opened, day=day)
    return view.busy


def _open(place: BookingTarget) -> Opened:
    """Load the booking, inside the tenant's transaction. Raises Http404 if it no longer exists."""
    booking = Booking.objects.select_related("resource").filter(pk=place.booking_id).first()
    if booking is None:
        raise Http404
    project = Project.objects.select_related("agent_version").get(pk=booking.project_id)
    return Opened(booking=booking, project=project, now=timezone.now())


def _asked(request: HttpRequest, opened: Opened) -> SlotQuery:
    """Day and party size from the query string; defaults to those of the booking."""
    size = request.GET.get("people", "")
    try:
        day = read_day(request.GET.get("day", ""))
    except InvalidTime:
        day = opened.starts.date()
    last = opened.today + timedelta(days=HORIZON_DAYS)
    is_size = size.isascii() and size.isdigit() and len(size) < 4 and 1 <= int(size) <= LARGEST_PARTY
    return SlotQuery(day=min(max(day, opened.today), last), people=int(size) if is_size else opened.booking.party_size)


def _context(opened: Opened, asked: SlotQuery, busy: Sequence[Span]) -> dict[str, Any]:
    booking, config = opened.booking, config_of(opened.project)
    return {
        "booking": booking,
        "business": config.business_name,
        "starts_on": opened.starts.date(),
        "date": month_day(opened.starts.date(), today=opened.today),
        "time": time_words(opened.starts),
        "iso": opened.starts.isoformat(),
        "people": people(booking.party_size),
        "zone": config.timezone.replace("_", " "),
        "is_cancelled": booking.state == BookingState.CANCELLED,
        "may_change": opened.may_change,
        **(_free(opened, asked, busy) if opened.may_change else {}),
    }


def _free(opened: Opened, asked: SlotQuery, busy: Sequence[Span]) -> dict[str, Any]:
    """The day strip, and the free times of the selected day."""
    return {
        "asked": asked,
        "looked_at": long_day(asked.day, today=opened.today),
        "days": days_around(asked.day, opening=opened.opening, today=opened.today),
        "sizes": range(1, max(LARGEST_PARTY, asked.people) + 1),
        **_times(opened, asked, busy),
    }


def _times(opened: Opened, asked: SlotQuery, busy: Sequence[Span]) -> dict[str, Any]:
    booking, nothing = opened.booking, gettext("Nothing is free on this day. Try another day or fewer people.")
    wish = BookingRequest(
        party_size=asked.people,
        kind=BookingKind(booking.kind),
        resource_id=person_id_of(booking),
        resource_kind=resource_kind_of(booking),
    )
    try:
        search = new_search(opened.project, wish, now=opened.now, excluding=opened.booking.pk, busy=busy)
    except Unbookable as error:
        return {"times": [], "why": _why(error, nothing)}
    starts = search.free_starts(asked.day)
    is_same = asked.people == opened.booking.party_size
    times = [
        {"iso": start.isoformat(), "text": time_words(start), "is_own": is_same and start == opened.starts}
        for start in starts
    ]
    return {"times": times, "why": "" if times else nothing}


def _slow_down(request: HttpRequest, wait: float) -> HttpResponse:
    response = _answer(request, "slow.html", status=429)
    response["Retry-After"] = str(math.ceil(wait))
    return response


def _language(request: HttpRequest, opened: Opened) -> str:
    """The customer's language. Call inside the tenant's transaction."""
    return language_of(opened.booking, asked=get_language_from_request(request))


def _answer(
    request: HttpRequest, template: str, context: dict[str, Any] | None = None, *, status: int = 200
) -> HttpResponse:
    """Render in the active language; without a context, in the browser's."""
    with override(get_language() if context else get_language_from_request(request)):
        response = render(request, f"bookings/own/{template}", context, status=status)
    response["X-Robots-Tag"] = "noindex, nofollow"
    return response
