"""The API of the booking book."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, ClassVar, TypedDict
from uuid import UUID

from django.http import Http404
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from projects.api.idempotency import idempotent
from projects.api.pagination import PAGED
from projects.api.serializers import StrictSerializer, TextField
from projects.api.typed_responses import Created, Page, TypedResponse
from projects.api.views import ProjectView
from projects.common.api_error import ApiError
from projects.common.phones import InvalidPhone, read_phone
from projects.common.presenters import Day, Id, Url
from projects.models import Project
from projects.models.key import Scope
from tools.models import Booking, BookingKind, BookingState, Resource, ResourceKind
from tools.services.bookings.booking_request import Wish
from tools.services.bookings.clock import read_clock, read_day, read_moment
from tools.services.bookings.codes import normal_code
from tools.services.bookings.finding import bookings_of, on_day, with_phone
from tools.services.bookings.formatting import BookingPayload, booking_data
from tools.services.bookings.opening import Opening
from tools.services.bookings.refusals import Closed, NoTime
from tools.services.bookings.resources import (
    LARGEST,
    LONGEST_SLOT,
    SHORTEST_SLOT,
    change_resource,
    create_resource,
    remove_resource,
)
from tools.services.bookings.search import config_of, new_search, sentences
from tools.services.bookings.services import Guest, book, cancel, move, where_it_is, who_is_met
from tools.services.signed_links import manage_url

STARTS_AT = "An ISO 8601 date and time; without an offset it is local to the project."


class BookingInput(StrictSerializer):
    starts_at = TextField(longest=40, help_text=STARTS_AT)
    party_size = serializers.IntegerField(min_value=1, max_value=LARGEST)
    kind = serializers.ChoiceField(choices=BookingKind.choices, default=BookingKind.BOOKING)
    resource = serializers.UUIDField(required=False)
    title = TextField(longest=200, allow_blank=True, default="")
    name = TextField(longest=200, allow_blank=True, default="")
    phone = TextField(longest=40, allow_blank=True, default="")
    email = serializers.EmailField(allow_blank=True, default="")
    notes = TextField(longest=2000, allow_blank=True, default="")


class BookingChange(StrictSerializer):
    starts_at = TextField(longest=40, required=False, help_text=STARTS_AT)
    party_size = serializers.IntegerField(min_value=1, max_value=LARGEST, required=False)
    resource = serializers.UUIDField(required=False)


class ResourceInput(StrictSerializer):
    name = TextField(longest=120)
    kind = serializers.ChoiceField(choices=ResourceKind.choices, default=ResourceKind.TABLE)
    capacity = serializers.IntegerField(min_value=1, max_value=LARGEST, default=2)
    slot_minutes = serializers.IntegerField(min_value=SHORTEST_SLOT, max_value=LONGEST_SLOT, default=90)
    is_active = serializers.BooleanField(default=True)


class ResourceChange(StrictSerializer):
    name = TextField(longest=120, required=False)
    kind = serializers.ChoiceField(choices=ResourceKind.choices, required=False)
    capacity = serializers.IntegerField(min_value=1, max_value=LARGEST, required=False)
    slot_minutes = serializers.IntegerField(min_value=SHORTEST_SLOT, max_value=LONGEST_SLOT, required=False)
    is_active = serializers.BooleanField(required=False)


class ShownBookingPayload(BookingPayload):
    """`manage_url` is the customer's own page of it."""

    manage_url: Url


class FreeTimesPayload(TypedDict):
    """Times are local to the project, like 2027-01-30T19:00: all of the day, and those near a time that was asked for."""

    date: Day
    free: bool
    words: str
    starts: list[str]
    near: list[str]
    later: list[str]


class ResourcePayload(TypedDict):
    id: Id
    name: str
    kind: Annotated[str, ResourceKind]
    capacity: int
    slot_minutes: int
    is_active: bool


class BookView(ProjectView):
    """A view of the project's book."""

    def booking(self, booking_id: UUID) -> Booking:
        found = bookings_of(self.project).filter(pk=booking_id).first()
        if found is None:
            raise Http404
        return found

    def shown(self, booking: Booking) -> ShownBookingPayload:
        return {**booking_data(booking, self.project), "manage_url": manage_url(booking)}

    def asked_day(self) -> date | None:
        text = self.request.query_params.get("date")
        try:
            return read_day(text) if text else None
        except NoTime as error:
            raise ApiError("invalid_date", str(error), field="date") from error


class Bookings(BookView):
    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.OPERATE}
    queries: ClassVar = {
        "GET": (
            OpenApiParameter("date", OpenApiTypes.DATE, description="those that start on this local day"),
            OpenApiParameter("phone", OpenApiTypes.STR, description="those under this number, however it is written"),
            OpenApiParameter("code", OpenApiTypes.STR, description="the one with this code, however it is written"),
            OpenApiParameter("state", OpenApiTypes.STR, enum=BookingState.values),
            *PAGED,
        )
    }

    @extend_schema(operation_id="bookings_list")
    def get(self, request: Request) -> TypedResponse[Page[ShownBookingPayload]]:
        """Bookings, by their start."""
        rows = bookings_of(self.project)
        if day := self.asked_day():
            rows = on_day(rows, self.project, day)
        if phone := request.query_params.get("phone"):
            rows = with_phone(rows, self.project, phone)
        if code := request.query_params.get("code"):
            rows = rows.filter(code=normal_code(code))
        if state := request.query_params.get("state"):
            rows = rows.filter(state=state)
        return self.page(rows, self.shown, ordering="starts_at")

    @extend_schema(operation_id="bookings_create", request=BookingInput)
    @idempotent
    def post(self, request: Request) -> Created[ShownBookingPayload]:
        """Book the smallest resource that fits. 409 with what is free instead, when it can't be."""
        data = self.valid(BookingInput)
        booking = book(
            self.project,
            Wish(party_size=data["party_size"], kind=data["kind"], resource_id=data.get("resource")),
            starts_at=moment_of(data["starts_at"], self.project),
            guest=Guest(name=data["name"], phone=self._phone(data["phone"]), email=data["email"]),
            now=timezone.now(),
            title=data["title"],
            notes=data["notes"],
        )
        return Created(self.shown(booking))

    def _phone(self, text: str) -> str:
        try:
            return read_phone(text, region=config_of(self.project).region) if text else ""
        except InvalidPhone as refusal:
            raise ApiError("invalid_phone", f"phone: {refusal.sentence}", field="phone") from refusal


class BookingDetail(BookView):
    scopes: ClassVar = {"GET": Scope.READ, "PATCH": Scope.OPERATE, "DELETE": Scope.OPERATE}

    @extend_schema(operation_id="bookings_read")
    def get(self, request: Request, booking_id: UUID) -> TypedResponse[ShownBookingPayload]:
        """One booking."""
        return TypedResponse(self.shown(self.booking(booking_id)))

    @extend_schema(operation_id="bookings_change", request=BookingChange)
    def patch(self, request: Request, booking_id: UUID) -> TypedResponse[ShownBookingPayload]:
        """Move it to another time, another number of people or another resource. A person whom it is with stays, and a room
        stays a room, unless another is named.
        """
        data, booking = self.valid(BookingChange), self.booking(booking_id)
        moved = move(
            booking,
            self.project,
            starts_at=moment_of(data["starts_at"], self.project) if "starts_at" in data else booking.starts_at,
            party_size=data.get("party_size", booking.party_size),
            resource_id=data.get("resource") or who_is_met(booking),
            place=where_it_is(booking),
            now=timezone.now(),
        )
        return TypedResponse(self.shown(moved))

    @extend_schema(operation_id="bookings_cancel")
    def delete(self, request: Request, booking_id: UUID) -> TypedResponse[ShownBookingPayload]:
        """Cancel it. The row stays, as cancelled."""
        return TypedResponse(self.shown(cancel(self.booking(booking_id), by="staff", now=timezone.now())))


class FreeTimes(BookView):
    scopes: ClassVar = {"GET": Scope.READ}
    queries: ClassVar = {
        "GET": (
            OpenApiParameter("date", OpenApiTypes.DATE, required=True, description="a local day"),
            OpenApiParameter("time", OpenApiTypes.STR, description="a local time like 19:00"),
            OpenApiParameter(
                "party_size",
                {"type": "integer", "minimum": 1, "maximum": LARGEST},
                description="how many people come; default 1",
            ),
            OpenApiParameter("kind", OpenApiTypes.STR, enum=BookingKind.values),
        )
    }

    @extend_schema(operation_id="bookings_free")
    def get(self, request: Request) -> TypedResponse[FreeTimesPayload]:
        """What is free on a day: every start, and near a time when one is asked for. 409 where it is closed."""
        day = self.asked_day()
        if day is None:
            raise ApiError("required", "date is required.", field="date")
        search = new_search(self.project, self._wish(), now=timezone.now())
        found = search.on(day, self._clock())
        return TypedResponse(
            {
                "date": day.isoformat(),
                "free": found.is_free,
                "words": sentences(found, today=search.today),
                "starts": [f"{start:%Y-%m-%dT%H:%M}" for start in search.starts_of(day)],
                "near": [f"{start:%Y-%m-%dT%H:%M}" for start in found.near],
                "later": [f"{start:%Y-%m-%dT%H:%M}" for start in found.later],
            }
        )

    def _wish(self) -> Wish:
        query = self.request.query_params
        size = query.get("party_size", "1")
        if not (size.isascii() and size.isdigit() and len(size) < 9 and 1 <= int(size) <= LARGEST):
            raise ApiError(
                "invalid_party_size", f"party_size must be a number from 1 to {LARGEST}.", field="party_size"
            )
        return Wish(party_size=int(size), kind=BookingKind(query.get("kind") or BookingKind.BOOKING))

    def _clock(self) -> Any:
        text = self.request.query_params.get("time")
        try:
            return read_clock(text) if text else None
        except NoTime as error:
            raise ApiError("invalid_time", str(error), field="time") from error


class Resources(BookView):
    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.CONFIGURE}
    queries: ClassVar = {"GET": PAGED}

    @extend_schema(operation_id="resources_list")
    def get(self, request: Request) -> TypedResponse[Page[ResourcePayload]]:
        """What can be booked, in the order it was made."""
        return self.page(Resource.objects.filter(project=self.project), resource_data, ordering="id")

    @extend_schema(operation_id="resources_create", request=ResourceInput)
    @idempotent
    def post(self, request: Request) -> Created[ResourcePayload]:
        """A new table, room or person."""
        return Created(resource_data(create_resource(self.project, **self.valid(ResourceInput))))


class ResourceDetail(BookView):
    scopes: ClassVar = {"GET": Scope.READ, "PATCH": Scope.CONFIGURE, "DELETE": Scope.CONFIGURE}

    @extend_schema(operation_id="resources_read")
    def get(self, request: Request, resource_id: UUID) -> TypedResponse[ResourcePayload]:
        """One resource."""
        return TypedResponse(resource_data(self._resource(resource_id)))

    @extend_schema(operation_id="resources_change", request=ResourceChange)
    def patch(self, request: Request, resource_id: UUID) -> TypedResponse[ResourcePayload]:
        """Change it, or switch it off. Bookings that stand keep their time and place."""
        changes = self.valid(ResourceChange)
        try:
            return TypedResponse(resource_data(change_resource(self._resource(resource_id), changes)))
        except Resource.DoesNotExist:
            raise Http404 from None

    @extend_schema(operation_id="resources_remove", responses={204: None})
    def delete(self, request: Request, resource_id: UUID) -> Response:
        """Remove one that was never booked. 409 for any other."""
        remove_resource(self._resource(resource_id))
        return Response(status=204)

    def _resource(self, resource_id: UUID) -> Resource:
        found = Resource.objects.filter(project=self.project, pk=resource_id).first()
        if found is None:
            raise Http404
        return found


def resource_data(resource: Resource) -> ResourcePayload:
    return {
        "id": str(resource.pk),
        "name": resource.name,
        "kind": resource.kind,
        "capacity": resource.capacity,
        "slot_minutes": resource.slot_minutes,
        "is_active": resource.is_active,
    }


def moment_of(text: str, project: Project) -> datetime:
    """The moment that a program gives. Raises ApiError for what is none, Closed for a time that the clocks skip."""
    try:
        given = read_moment(text)
    except NoTime as error:
        raise ApiError("invalid_starts_at", str(error), field="starts_at") from error
    if given.tzinfo:
        return given
    moment = Opening(config_of(project)).moment(given)
    if moment is None:
        raise Closed(f"The clocks skip {given:%H:%M} on that day.", field="starts_at")
    return moment
