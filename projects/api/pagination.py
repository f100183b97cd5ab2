"""Keyset pagination: `{"results": […], "next": url or null}`, stable while rows are added."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db.models import Field, Model, Q, QuerySet
from drf_spectacular.types import OpenApiTypes
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
# Query parameters of every list.
PAGED = (
    OpenApiParameter(
        "limit", {"type": "integer", "minimum": 1, "maximum": MAX_PAGE_SIZE}, description="Rows per page."
    ),
    OpenApiParameter("cursor", OpenApiTypes.STR, description="From `next`."),
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

    def paginate(self, queryset: QuerySet[M], request: Request, *, ordering: str) -> list[M]:
        """The rows of the requested page. Raises ApiError for an invalid limit or cursor."""
        limit = _limit(request)
        sign = "-" if ordering.startswith("-") else ""
        rows = _after_cursor(queryset, request, ordering=ordering).order_by(ordering, f"{sign}id")
        found = list(rows[: limit + 1])
        self._next = _next_url(request, last=found[limit - 1], ordering=ordering) if len(found) > limit else None
        return found[:limit]

    def get_paginated_response(self, data: list[P]) -> TypedResponse[Page[P]]:
        return TypedResponse({"results": data, "next": self._next})


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
    cursor = request.query_params.get("cursor")
    if cursor is None:
        return queryset
    column, comparison = ordering.lstrip("-"), "lt" if ordering.startswith("-") else "gt"
    try:
        last_id, _, text = urlsafe_b64decode(cursor).decode().partition(" ")
        value = _field(queryset.model, column).to_python(text)
        tie = Q(**{column: value, f"id__{comparison}": _field(queryset.model, "id").to_python(last_id)})
    except (ValueError, ValidationError) as error:
        raise ApiError(
            "invalid_cursor", "cursor is not valid. Use the one from next, or leave it out.", field="cursor"
        ) from error
    return queryset.filter(Q(**{f"{column}__{comparison}": value}) | tie)


def _next_url(request: Request, *, last: Model, ordering: str) -> str:
    value = getattr(last, ordering.lstrip("-"))
    text = value.isoformat() if isinstance(value, datetime) else str(value)
    cursor = urlsafe_b64encode(f"{last.pk} {text}".encode()).decode()
    return replace_query_param(_request_url(request), "cursor", cursor)


def _request_url(request: Request) -> str:
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
