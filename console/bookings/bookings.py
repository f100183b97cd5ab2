"""Staff pages for bookings: day view, booking, new booking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Any, cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_http_methods, require_POST

from console.bookings.board import board_of
from console.bookings.days import days_around
from console.bookings.forms import BookingForm, WhenForm
from console.layout import shell_context
from console.parameters import UnknownFilter
from console.timestamps import full_day, long_day, short_date
from projects.common.phones import normalize_phone, readable_phone
from projects.common.stored_sentences import translated
from projects.models import Project, User
from projects.models.key import Scope
from projects.models.permissions import Entry, enter_project
from tenancy.scope import tenant_tx
from tools.models import Booking, BookingKind, BookingState, Resource
from tools.services.bookings.booking_request import BookingRequest, display_order
from tools.services.bookings.clock import read_day
from tools.services.bookings.codes import normal_code
from tools.services.bookings.date_words import time_words
from tools.services.bookings.finding import bookings_of
from tools.services.bookings.opening import Opening
from tools.services.bookings.refusals import InvalidTime, Unbookable
from tools.services.bookings.search import config_of
from tools.services.bookings.services import book, cancel, move
from tools.services.calendar.sync_status import sync_status_of
from tools.services.signed_links import manage_url

FOUND = 50
LONGEST_SEARCH = 100


@dataclass(frozen=True)
class Desk:
    """A project's bookings at the time of the request."""

    entry: Entry
    now: datetime

    @property
    def project(self) -> Project:
        return self.entry.project

    @property
    def opening(self) -> Opening:
        return Opening(config_of(self.project))

    @property
    def today(self) -> date:
        return self.opening.local(self.now).date()

    def tx(self) -> Any:
        return tenant_tx(self.project.organization.pk)

    @cached_property
    def resources(self) -> list[Resource]:
        return sorted(Resource.objects.filter(project=self.project), key=display_order)

    @property
    def active_resources(self) -> list[Resource]:
        return [row for row in self.resources if row.is_active]


@dataclass(frozen=True)
class Line:
    """A booking in a list."""

    booking: Booking
    day: str
    time: str
    until: str
    phone: str
    is_cancelled: bool
    is_over: bool


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def bookings(request: HttpRequest, project_slug: str) -> HttpResponse:
    """Show a day as board and list; POST creates a booking."""
    desk = _enter(request, project_slug, verb=Scope.OPERATE if request.method == "POST" else Scope.READ)
    with desk.tx():
        form = _form(request, desk) if desk.entry.may(Scope.OPERATE) else None
        if form is not None and request.method == "POST" and form.is_valid() and (made := _book(desk, form)):
            messages.success(
                request, gettext("Booked: %(made)s, code %(code)s.") % {"made": _named(made, desk), "code": made.code}
            )
            return redirect(f"{reverse('bookings', args=[project_slug])}?day={form.cleaned_data['date'].isoformat()}")
        context = _day(request, desk)
    shown = form if form is not None and (request.method == "POST" or "new" in request.GET) else None
    return render(request, "bookings/day.html", {**shell_context(request, desk.entry), **context, "form": shown})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def booking(request: HttpRequest, project_slug: str, booking_id: UUID) -> HttpResponse:
    """Show a booking; POST moves it."""
    desk = _enter(request, project_slug, verb=Scope.OPERATE if request.method == "POST" else Scope.READ)
    with desk.tx():
        row = _find(desk, booking_id)
        form = _when(request, desk, row)
        if request.method == "POST" and form.is_valid() and (moved := _move(desk, row, form)):
            messages.success(request, gettext("Booking moved: %(moved)s.") % {"moved": _named(moved, desk)})
            return redirect("booking", project_slug, booking_id)
        shown = _one(desk, _find(desk, booking_id), form)
    return render(request, "bookings/one.html", {**shell_context(request, desk.entry), **shown})


@login_required
@require_POST
def cancel_booking(request: HttpRequest, project_slug: str, booking_id: UUID) -> HttpResponse:
    """Cancel a booking as staff."""
    desk = _enter(request, project_slug, verb=Scope.OPERATE)
    with desk.tx():
        row = _find(desk, booking_id)
        try:
            cancel(row, by="staff", now=desk.now)
        except Unbookable as error:
            messages.error(request, error.message)
        else:
            messages.success(request, gettext("Booking canceled. The customer was not notified."))
    return redirect("booking", project_slug, booking_id)


def _enter(request: HttpRequest, slug: str, *, verb: Scope) -> Desk:
    return Desk(entry=enter_project(cast(User, request.user), slug, verb=verb), now=timezone.now())


def _find(desk: Desk, booking_id: UUID) -> Booking:
    found = bookings_of(desk.project).filter(pk=booking_id).first()
    if found is None:
        raise Http404
    return found


def _form(request: HttpRequest, desk: Desk) -> BookingForm:
    """The new-booking form, prefilled from the query string."""
    data = request.POST if request.method == "POST" else None
    initial = {
        "date": _asked_day(request, desk).isoformat(),
        "time": request.GET.get("at", "")[:5],
        "resource": request.GET.get("resource", "")[:36],
        "party_size": 2,
    }
    return BookingForm(data, initial=initial, opening=desk.opening, resources=desk.active_resources)


def _book(desk: Desk, form: BookingForm) -> Booking | None:
    """The new booking, or None with an error on the form."""
    data = form.cleaned_data
    wish = BookingRequest(party_size=data["party_size"], resource_id=form.resource_id)
    try:
        return book(desk.project, wish, starts_at=form.starts_at, guest=form.guest, now=desk.now, notes=data["notes"])
    except Unbookable as error:
        form.add_error(None, error.message)
        return None


def _when(request: HttpRequest, desk: Desk, row: Booking) -> WhenForm:
    local = desk.opening.local(row.starts_at)
    initial = {
        "date": local.date().isoformat(),
        "time": time_words(local),
        "party_size": row.party_size,
        "resource": str(row.resource_id),
    }
    data = request.POST if request.method == "POST" else None
    return WhenForm(data, initial=initial, opening=desk.opening, resources=desk.active_resources)


def _move(desk: Desk, row: Booking, form: WhenForm) -> Booking | None:
    """The moved booking, or None with an error on the form."""
    size = form.cleaned_data["party_size"]
    try:
        return move(
            row,
            desk.project,
            starts_at=form.starts_at,
            party_size=size,
            resource_id=form.resource_id,
            now=desk.now,
        )
    except Unbookable as error:
        form.add_error(None, error.message)
        return None


def _day(request: HttpRequest, desk: Desk) -> dict[str, Any]:
    day, words = _asked_day(request, desk), read_words(request.GET)
    resources, opening = desk.resources, desk.opening
    whole = opening.day_span(day)
    rows = list(bookings_of(desk.project).filter(starts_at__lt=whole.ends_at, ends_at__gt=whole.starts_at))
    confirmed = [row for row in rows if row.state == BookingState.CONFIRMED]
    board = board_of(day, opening=opening, resources=_shown(resources, confirmed), bookings=confirmed, now=desk.now)
    hours = opening.hours_of(day)
    return {
        "day": day.isoformat(),
        "day_words": _day_words(day, desk),
        "is_today": day == desk.today,
        "days": days_around(day, opening=opening, today=desk.today, is_past_shown=True),
        "hours": gettext("Open %(hours)s") % {"hours": ", ".join(f"{opens}–{closes}" for opens, closes in hours)}
        if hours
        else gettext("Closed"),
        "resources": resources,
        "has_active": any(one.is_active for one in resources),
        "board": board,
        "lines": [_line(row, desk) for row in rows],
        "count": len(confirmed),
        "people": _people(sum(row.party_size for row in confirmed)),
        "words": words,
        "found": _search(desk, words) if words else None,
    }


def _shown(resources: Sequence[Resource], confirmed: Sequence[Booking]) -> list[Resource]:
    """Active resources, plus inactive ones that have bookings on this day."""
    booked = {row.resource_id for row in confirmed}
    return [one for one in resources if one.is_active or one.pk in booked]


def _search(desk: Desk, words: str) -> list[Line]:
    """Bookings matching a name, phone number, e-mail address or code, latest first."""
    rows = bookings_of(desk.project).filter(search_filter(desk.project, words)).order_by("-starts_at")[:FOUND]
    return [_line(row, desk) for row in rows]


def search_filter(project: Project, words: str) -> Q:
    """Bookings with this name, phone number, e-mail address or code."""
    phone = normalize_phone(words, region=config_of(project).region)
    return Q(name__icontains=words) | Q(code=normal_code(words)) | Q(phone=phone) | Q(email__iexact=words)


def _one(desk: Desk, row: Booking, form: WhenForm) -> dict[str, Any]:
    local = desk.opening.local(row.starts_at)
    return {
        "line": _line(row, desk),
        "booking": row,
        "form": form,
        "people": _people(row.party_size),
        "day": local.date().isoformat(),
        "is_meeting": row.kind == BookingKind.MEETING,
        "may_change": row.state == BookingState.CONFIRMED and row.starts_at > desk.now,
        "manage_url": manage_url(row),
        "calendar": sync_status_of(row),
        "made": _stamp(row.created_at, desk),
        "cancelled": _stamp(row.cancelled_at, desk) if row.cancelled_at else "",
    }


def _line(row: Booking, desk: Desk) -> Line:
    local = desk.opening.local(row.starts_at)
    return Line(
        booking=row,
        day=_day_words(local.date(), desk),
        time=time_words(local),
        until=time_words(desk.opening.local(row.ends_at)),
        phone=readable_phone(row.phone),
        is_cancelled=row.state == BookingState.CANCELLED,
        is_over=row.ends_at <= desk.now,
    )


def _day_words(day: date, desk: Desk) -> str:
    """Friday 27 November; with the year if it is not the current one."""
    return long_day(day) if day.year == desk.today.year else full_day(day)


def _people(number: int) -> str:
    return ngettext("%(number)s person", "%(number)s people", number) % {"number": number}


def _stamp(moment: datetime, desk: Desk) -> str:
    """21 Nov 2026, 10:30"""
    local = desk.opening.local(moment)
    return f"{short_date(local)}, {local:%H:%M}"


def _named(row: Booking, desk: Desk) -> str:
    line, name = _line(row, desk), row.name or gettext("a guest")
    return f"{name}, {line.day}, {line.time}, {_people(row.party_size)}, {row.resource.name}"


def _asked_day(request: HttpRequest, desk: Desk) -> date:
    """The day in the query string or the submitted form; today by default. Raises UnknownFilter."""
    if asked := read_asked_day(request.GET):
        return asked
    try:
        return read_day(request.POST.get("date", ""))
    except InvalidTime:
        return desk.today


def read_asked_day(parameters: QueryDict) -> date | None:
    """The parameter `day`, None without it. Raises UnknownFilter."""
    text = parameters.get("day", "")
    try:
        return read_day(text) if text else None
    except InvalidTime as error:
        raise UnknownFilter(translated(str(error))) from error


def read_words(parameters: QueryDict) -> str:
    """The words of a search."""
    return parameters.get("q", "").replace("\x00", "").strip()[:LONGEST_SEARCH]
