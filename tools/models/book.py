"""The booking book: resources and their bookings."""

from __future__ import annotations

from django.db import models

from projects.common.translation import lazy
from tenancy.tenant_models import TenantForeignKey, TenantModel


class ResourceKind(models.TextChoices):
    """Kinds of resources. Bookings prefer a table or room, meetings a person."""

    TABLE = "table", lazy("Table")
    ROOM = "room", lazy("Room")
    PERSON = "person", lazy("Person")


class Resource(TenantModel):
    """A table, room or person that holds one booking at a time. `capacity` is the number of people it takes."""

    project = TenantForeignKey("projects.Project", related_name="resources")
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=20, choices=ResourceKind.choices, default=ResourceKind.TABLE)
    capacity = models.PositiveSmallIntegerField(default=2)
    slot_minutes = models.PositiveSmallIntegerField(default=90)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "project", "name"], name="one_resource_per_name")
        ]
        ordering = ["capacity", "name"]

    def __str__(self) -> str:
        return self.name


class BookingState(models.TextChoices):
    CONFIRMED = "confirmed", lazy("Confirmed")
    CANCELLED = "cancelled", lazy("Cancelled")


class BookingKind(models.TextChoices):
    BOOKING = "booking", lazy("Booking")
    MEETING = "meeting", lazy("Meeting")


class Booking(TenantModel):
    """A reservation of one resource. `effect_id` and `cancel_effect_id` make a tool's booking and cancellation
    idempotent.
    """

    project_id = models.UUIDField()
    resource = TenantForeignKey(Resource, related_name="bookings")
    conversation_id = models.UUIDField(null=True)
    persona_id = models.UUIDField(null=True)
    effect_id = models.UUIDField(null=True)
    code = models.CharField(max_length=12)
    kind = models.CharField(max_length=12, choices=BookingKind.choices, default=BookingKind.BOOKING)
    title = models.CharField(max_length=200, blank=True)
    name = models.CharField(max_length=200, blank=True)
    phone = models.CharField(max_length=40, blank=True)
    email = models.CharField(max_length=254, blank=True)
    party_size = models.PositiveSmallIntegerField(default=1)
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    notes = models.TextField(blank=True)
    state = models.CharField(max_length=10, choices=BookingState.choices, default=BookingState.CONFIRMED)
    created_at = models.DateTimeField(auto_now_add=True)
    cancelled_at = models.DateTimeField(null=True)
    cancelled_by = models.CharField(max_length=20, blank=True, help_text="customer, staff or agent")
    cancel_effect_id = models.UUIDField(null=True)
    calendar_effect_id = models.UUIDField(null=True, help_text="what last told the connected calendar of it")
    calendar_url = models.CharField(max_length=2200, blank=True, help_text="where its event stands, if it does")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "project_id", "code"], name="one_booking_per_code"),
            models.UniqueConstraint(
                fields=["organization", "effect_id"],
                condition=models.Q(effect_id__isnull=False),
                name="one_booking_per_effect",
            ),
            models.UniqueConstraint(
                fields=["organization", "cancel_effect_id"],
                condition=models.Q(cancel_effect_id__isnull=False),
                name="one_cancelled_booking_per_effect",
            ),
            models.CheckConstraint(condition=models.Q(ends_at__gt=models.F("starts_at")), name="booking_has_length"),
        ]
        indexes = [
            models.Index(fields=["organization", "resource", "starts_at"], name="booking_resource"),
            models.Index(fields=["organization", "project_id", "starts_at"], name="booking_project"),
            models.Index(fields=["organization", "persona_id"], name="booking_persona"),
            models.Index(fields=["organization", "conversation_id"], name="booking_conversation"),
        ]
        ordering = ["starts_at", "id"]

    def __str__(self) -> str:
        return f"{self.code} ({self.state})"
