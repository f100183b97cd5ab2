"""Keyset pagination: `{"results": […], "next": url or null}`, stable while rows are added."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.db.models import CharField, DateTimeField, Field, IntegerField, Model, Q, QuerySet, TextField
from drf_spectacular.utils import OpenApiParameter
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.settings import api_settings
from rest_framework.utils.urls import replace_query_param

from projects.api.typed_responses import Page, TypedResponse
from projects.common.api_error import ApiError

MAX_PAGE_SIZE = 200
# Ids are ordered by time (uuid7).
NEWEST_FIRST = "-id"
# The last row's id and, unless the list is sorted by it, its column's value in hexadecimal digits. Any such text is a
# position in any list, so that the document can say which cursors are valid.
CURSOR = re.compile(r"^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\.([0-9a-f]*))?$", re.ASCII)
LONGEST_CURSOR = 4_000
FIRST_MOMENT = datetime(1970, 1, 1, tzinfo=UTC)
LAST_MOMENT = datetime(9999, 12, 30, tzinfo=UTC)
MAX_INTEGER = 2**31 - 1
# Query parameters of every list.
PAGED = (
    OpenApiParameter(
        "limit", {"type": "integer", "minimum": 1, "maximum": MAX_PAGE_SIZE}, description="Rows per page."
    ),
    OpenApiParameter(
        "cursor",
        {"type": "string", "maxLength": LONGEST_CURSOR, "pattern": CURSOR.pattern},
        description="From `next`.",
    ),
)

# The same for a list that is always one page, so that a client reads every list alike.
UNPAGED = tuple(
    OpenApiParameter(one.name, one.type, description="Accepted as by every list. This one is always one page.")
    for one in PAGED
)

M = TypeVar("M", bound=Model)
P = TypeVar("P")


class Pages(BasePagination):
    """Keyset pagination by one column, then by id: no row is repeated or skipped while others are added.

    `?limit=` is the page size, up to 200; `?cursor=` comes from `next`. A view's `ordering` names the column, `-id` by
    default.
    """

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        return self.paginate(queryset, request, ordering=getattr(view, "ordering", NEWEST_FIRST))

    def paginate(self, queryset: QuerySet[M] | list[M], request: Request, *, ordering: str) -> list[M]:
        """The rows of the requested page, of a query or of a list in that order. Raises ApiError for an invalid limit or
        cursor.
        """
        limit = _limit(request)
        sign = "-" if ordering.startswith("-") else ""
        if isinstance(queryset, list):
            found = _rest_of(queryset, request)[: limit + 1]
        else:
            rows = _after_cursor(queryset, request, ordering=ordering).order_by(ordering, f"{sign}id")
            found = list(rows[: limit + 1])
        self._next = _next_url(request, last=found[limit - 1], ordering=ordering) if len(found) > limit else None
        return found[:limit]

    def get_paginated_response(self, data: list[P]) -> TypedResponse[Page[P]]:
        return TypedResponse({"results": data, "next": self._next})


def check_page(request: Request) -> None:
    """Check `limit` and `cursor` for a list that is always one page. Raises ApiError."""
    _limit(request)
    given_cursor(request)


def _limit(request: Request) -> int:
    requested = request.query_params.get("limit")
    if requested is None:
        return int(api_settings.PAGE_SIZE or MAX_PAGE_SIZE)
    if not (
        requested.isascii() and requested.isdigit() and len(requested) < 6 and 1 <= int(requested) <= MAX_PAGE_SIZE
    ):
        raise ApiError("invalid_limit", f"limit must be a number between 1 and {MAX_PAGE_SIZE}.", field="limit")
    return int(requested)


def _after_cursor(queryset: QuerySet[M], request: Request, *, ordering: str) -> QuerySet[M]:
    given = given_cursor(request)
    if given is None:
        return queryset
    comparison = "lt" if ordering.startswith("-") else "gt"
    column = ordering.lstrip("-")
    if column == "id":
        return queryset.filter(**{f"id__{comparison}": given[1]})
    value = _value_of(given[2] or "", field=_field(queryset.model, column))
    tie = Q(**{column: value, f"id__{comparison}": given[1]})
    return queryset.filter(Q(**{f"{column}__{comparison}": value}) | tie)


def _rest_of(rows: list[M], request: Request) -> list[M]:
    """The rows after the cursor's; none if that has gone."""
    given = given_cursor(request)
    if given is None:
        return rows
    ids = [row.pk for row in rows]
    last = UUID(given[1])
    return rows[ids.index(last) + 1 :] if last in ids else []


def given_cursor(request: Request) -> re.Match[str] | None:
    """The cursor of the request: the last row's id, and a column's value in digits. Raises ApiError for an invalid one."""
    cursor = request.query_params.get("cursor")
    if cursor is None:
        return None
    found = CURSOR.fullmatch(cursor) if len(cursor) <= LONGEST_CURSOR else None
    if found is None:
        message = "cursor is not valid. Use the one from next, or leave it out."
        raise ApiError("invalid_cursor", message, field="cursor")
    return found


def _digits_of(value: Any) -> str:
    """A column's value as hexadecimal digits."""
    if isinstance(value, datetime):
        value = (value - FIRST_MOMENT) // timedelta(microseconds=1)
    return format(max(0, value), "x") if isinstance(value, int) else str(value).encode().hex()


def _value_of(digits: str, *, field: Field[Any, Any]) -> Any:
    """The inverse of `_digits_of`, for any digits: numbers and times are capped, and text is cut to valid text."""
    if isinstance(field, CharField | TextField):
        return bytes.fromhex(digits[: len(digits) // 2 * 2]).decode(errors="ignore").replace("\0", "")
    number = int(digits[-16:] or "0", 16)
    if isinstance(field, DateTimeField):
        most = (LAST_MOMENT - FIRST_MOMENT) // timedelta(microseconds=1)
        return FIRST_MOMENT + timedelta(microseconds=min(number, most))
    if isinstance(field, IntegerField):
        return min(number, MAX_INTEGER)
    raise TypeError(f"{field} can't be the ordering of a list.")


def _next_url(request: Request, *, last: Model, ordering: str) -> str:
    column = ordering.lstrip("-")
    cursor = str(last.pk) if column == "id" else f"{last.pk}.{_digits_of(getattr(last, column))}"
    return with_cursor(request_url(request), cursor)


def with_cursor(url: str, cursor: str) -> str:
    """The URL of the page after a cursor."""
    return replace_query_param(url, "cursor", cursor)


def request_url(request: Request) -> str:
    """The request's URL. At the public host this is the public URL, because a proxy that terminates TLS forwards plain
    http.
    """
    if request.get_host() == urlsplit(settings.BASE_URL).netloc:
        return f"{settings.BASE_URL}{request.get_full_path()}"
    return request.build_absolute_uri()


def _field(model: type[Model], name: str) -> Field[Any, Any]:
    field = model._meta.get_field(name)
    if not isinstance(field, Field):
        raise TypeError(f"{model.__name__}.{name} is not a column.")
    return field
