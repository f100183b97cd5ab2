"""The CSV of bookings: of a day, of a search, or all."""

from __future__ import annotations

from datetime import date
from typing import Any

from django.db.models import Q, QuerySet
from django.http import QueryDict

from console.bookings.bookings import read_asked_day, read_words, search_filter
from console.csv_export import Batch, CsvList, page_by_id
from projects.models import Project
from projects.models.permissions import Entry
from tools.models import Booking
from tools.services.bookings.finding import bookings_of
from tools.services.bookings.opening import Opening
from tools.services.bookings.search import config_of


def read_bookings(entry: Entry, parameters: QueryDict, after: Any) -> Batch[Booking]:
    """The bookings that match the search, or those of the day; all without either."""
    return page_by_id(_narrowed(entry.project, parameters), after)


def _narrowed(project: Project, parameters: QueryDict) -> QuerySet[Booking]:
    rows = bookings_of(project)
    if words := read_words(parameters):
        return rows.filter(search_filter(project, words))
    day = read_asked_day(parameters)
    return rows.filter(_on(project, day)) if day else rows


def _on(project: Project, day: date) -> Q:
    """The bookings that the page of the day shows."""
    span = Opening(config_of(project)).day_span(day)
    return Q(starts_at__lt=span.ends_at, ends_at__gt=span.starts_at)


BOOKINGS: CsvList[Booking] = CsvList(
    name="bookings",
    columns={
        "Code": lambda row: row.code,
        "State": lambda row: row.get_state_display(),
        "Kind": lambda row: row.get_kind_display(),
        "Starts": lambda row: row.starts_at,
        "Ends": lambda row: row.ends_at,
        "Resource": lambda row: row.resource.name,
        "Name": lambda row: row.name,
        "Phone": lambda row: row.phone,
        "E-mail": lambda row: row.email,
        "People": lambda row: row.party_size,
        "Title": lambda row: row.title,
        "Notes": lambda row: row.notes,
        "Created": lambda row: row.created_at,
        "Canceled": lambda row: row.cancelled_at,
        "Canceled by": lambda row: row.cancelled_by,
        "Booking ID": lambda row: row.pk,
        "Conversation ID": lambda row: row.conversation_id,
    },
    read=read_bookings,
)
