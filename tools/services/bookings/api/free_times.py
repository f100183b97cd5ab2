"""The API of free times."""

from __future__ import annotations

from typing import ClassVar, TypedDict

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request

from projects.api.openapi_types import pattern_schema
from projects.api.typed_responses import TypedResponse
from projects.api.views import ProjectView
from projects.common.api_error import ApiError
from projects.common.presenters import Day
from projects.models.key import Scope
from tools.models import BookingKind
from tools.services.bookings.api.dates import CLOCK, DAY_SCHEMA, requested_day, requested_time
from tools.services.bookings.booking_request import BookingRequest
from tools.services.bookings.resources import LARGEST
from tools.services.bookings.search import describe_result, new_search


class FreeTimesPayload(TypedDict):
    """Local times such as 2027-01-30T19:00: `starts` are all free times of the day, `near` those closest to the
    requested time.
    """

    date: Day
    free: bool
    words: str
    starts: list[str]
    near: list[str]
    later: list[str]


class FreeTimes(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ}
    queries: ClassVar = {
        "GET": (
            OpenApiParameter("date", DAY_SCHEMA, required=True, description="a local day"),
            OpenApiParameter("time", pattern_schema(CLOCK), description="a local time like 19:00"),
            OpenApiParameter(
                "party_size",
                {"type": "integer", "minimum": 1, "maximum": LARGEST},
                description="how many people come; default 1",
            ),
            OpenApiParameter("kind", OpenApiTypes.STR, enum=BookingKind.values),
        )
    }

    @extend_schema(
        operation_id="bookings_free",
        responses={
            409: OpenApiResponse(description="The business is closed, or nothing can be booked like that."),
            422: OpenApiResponse(description="That year has no such day."),
        },
    )
    def get(self, request: Request) -> TypedResponse[FreeTimesPayload]:
        """List the free start times of a day, and those near a requested time. Returns 409 if the business is closed."""
        day = requested_day(request)
        if day is None:
            raise ApiError("required", "date is required.", field="date")
        search = new_search(self.project, self._booking_request(), now=timezone.now())
        found = search.on(day, requested_time(request))
        return TypedResponse(
            {
                "date": day.isoformat(),
                "free": found.is_free,
                "words": describe_result(found, today=search.today),
                "starts": [f"{start:%Y-%m-%dT%H:%M}" for start in search.free_starts(day)],
                "near": [f"{start:%Y-%m-%dT%H:%M}" for start in found.near],
                "later": [f"{start:%Y-%m-%dT%H:%M}" for start in found.later],
            }
        )

    def _booking_request(self) -> BookingRequest:
        query = self.request.query_params
        size = query.get("party_size", "1")
        if not (size.isascii() and size.isdigit() and len(size) < 9 and 1 <= int(size) <= LARGEST):
            raise ApiError(
                "invalid_party_size", f"party_size must be a number from 1 to {LARGEST}.", field="party_size"
            )
        return BookingRequest(party_size=int(size), kind=BookingKind(query.get("kind") or BookingKind.BOOKING))
