"""The API of bookings."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from django.http import Http404
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from projects.api.idempotency import idempotent
from projects.api.pagination import PAGED
from projects.api.serializers import StrictSerializer, TextField
from projects.api.typed_responses import Created, Page, TypedResponse
from projects.api.views import ProjectView
from projects.common.api_error import Unprocessable
from projects.common.phones import InvalidPhone, read_phone
from projects.common.presenters import Url
from projects.models.key import Scope
from tools.models import Booking, BookingKind, BookingState
from tools.services.bookings.api.dates import DAY_SCHEMA, MOMENT, parse_start, requested_day
from tools.services.bookings.booking_request import BookingRequest
from tools.services.bookings.codes import normal_code
from tools.services.bookings.finding import bookings_of, on_day, with_phone
from tools.services.bookings.formatting import BookingPayload, booking_data
from tools.services.bookings.resources import LARGEST
from tools.services.bookings.search import config_of
from tools.services.bookings.services import Guest, book, cancel, move, person_id_of, resource_kind_of
from tools.services.signed_links import manage_url

STARTS_AT = "An ISO 8601 date and time; without an offset it is local to the project."


class BookingInput(StrictSerializer):
    starts_at = TextField(longest=40, form=MOMENT, help_text=STARTS_AT)
    party_size = serializers.IntegerField(min_value=1, max_value=LARGEST)
    kind = serializers.ChoiceField(choices=BookingKind.choices, default=BookingKind.BOOKING)
    resource = serializers.UUIDField(required=False)
    title = TextField(longest=200, allow_blank=True, default="")
    name = TextField(longest=200, allow_blank=True, default="")
    phone = TextField(longest=40, allow_blank=True, default="")
    email = serializers.EmailField(allow_blank=True, default="")
    notes = TextField(longest=2000, allow_blank=True, default="")


class BookingChange(StrictSerializer):
    starts_at = TextField(longest=40, form=MOMENT, required=False, help_text=STARTS_AT)
    party_size = serializers.IntegerField(min_value=1, max_value=LARGEST, required=False)
    resource = serializers.UUIDField(required=False)


class ShownBookingPayload(BookingPayload):
    """A booking with `manage_url`, the customer's own page for it."""

    manage_url: Url


class BookingView(ProjectView):
    """Base of the views of a project's bookings."""

    def booking(self, booking_id: UUID) -> Booking:
        found = bookings_of(self.project).filter(pk=booking_id).first()
        if found is None:
            raise Http404
        return found

    def shown(self, booking: Booking) -> ShownBookingPayload:
        return {**booking_data(booking, self.project), "manage_url": manage_url(booking)}


class Bookings(BookingView):
    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.OPERATE}
    queries: ClassVar = {
        "GET": (
            OpenApiParameter("date", DAY_SCHEMA, description="bookings that start on this local day"),
            OpenApiParameter("phone", OpenApiTypes.STR, description="bookings under this number, in any notation"),
            OpenApiParameter("code", OpenApiTypes.STR, description="the booking with this code, in any notation"),
            OpenApiParameter("state", OpenApiTypes.STR, enum=BookingState.values),
            *PAGED,
        )
    }

    @extend_schema(
        operation_id="bookings_list", responses={422: OpenApiResponse(description="That year has no such day.")}
    )
    def get(self, request: Request) -> TypedResponse[Page[ShownBookingPayload]]:
        """List bookings by start time."""
        rows = bookings_of(self.project)
        if day := requested_day(request):
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
        """Book the smallest resource that fits. Returns 409 with free alternatives if the time can't be booked."""
        data = self.valid(BookingInput)
        booking = book(
            self.project,
            BookingRequest(party_size=data["party_size"], kind=data["kind"], resource_id=data.get("resource")),
            starts_at=parse_start(data["starts_at"], self.project),
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
            raise Unprocessable("invalid_phone", f"phone: {refusal.sentence}", field="phone") from refusal


class BookingDetail(BookingView):
    scopes: ClassVar = {"GET": Scope.READ, "PATCH": Scope.OPERATE, "DELETE": Scope.OPERATE}

    @extend_schema(operation_id="bookings_read")
    def get(self, request: Request, booking_id: UUID) -> TypedResponse[ShownBookingPayload]:
        """Retrieve a booking."""
        return TypedResponse(self.shown(self.booking(booking_id)))

    @extend_schema(operation_id="bookings_change", request=BookingChange)
    def patch(self, request: Request, booking_id: UUID) -> TypedResponse[ShownBookingPayload]:
        """Change the time, the party size or the resource. Unless another resource is named, a booking with a person
        stays with that person, and a room stays a room.
        """
        data, booking = self.valid(BookingChange), self.booking(booking_id)
        moved = move(
            booking,
            self.project,
            starts_at=parse_start(data["starts_at"], self.project) if "starts_at" in data else booking.starts_at,
            party_size=data.get("party_size", booking.party_size),
            resource_id=data.get("resource") or person_id_of(booking),
            resource_kind=resource_kind_of(booking),
            now=timezone.now(),
        )
        return TypedResponse(self.shown(moved))

    @extend_schema(operation_id="bookings_cancel")
    def delete(self, request: Request, booking_id: UUID) -> TypedResponse[ShownBookingPayload]:
        """Cancel a booking. The row is kept with the state `cancelled`."""
        return TypedResponse(self.shown(cancel(self.booking(booking_id), by="staff", now=timezone.now())))
