"""Subscribers of a project's events."""

from __future__ import annotations

from django.db import models

from projects.common.translation import lazy
from tenancy.tenant_models import TenantForeignKey, TenantModel


class SubscriptionTarget(models.TextChoices):
    """The way a subscriber receives events."""

    ENDPOINT = "endpoint", lazy("Endpoint: a signed POST to its URL")
    STREAM = "stream", lazy("Stream: a client reads the conversation's stream and acknowledges over the API")


class DeliveryState(models.TextChoices):
    """The result of the last attempt to deliver an event."""

    ACKNOWLEDGED = "acknowledged", lazy("Acknowledged")
    ACCEPTED = "accepted", lazy("Accepted: to be acknowledged later")
    FAILED = "failed", lazy("Failed")


class EventSubscription(TenantModel):
    """The subscriber of some events of a project, or of all events without a subscriber of their own.

    `events` are names of events; an empty list means all. `secrets` holds the encrypted signing secrets of an endpoint;
    they are write-only. The `last_…` fields describe the last attempt to deliver an event.
    """

    project = TenantForeignKey("projects.Project", related_name="event_subscriptions")
    target = models.CharField(max_length=10, choices=SubscriptionTarget.choices, default=SubscriptionTarget.ENDPOINT)
    url = models.CharField(max_length=2000, blank=True)
    events = models.JSONField(default=list, blank=True)
    is_enabled = models.BooleanField(default=True)
    secrets = models.TextField(blank=True, editable=False)
    last_event = models.CharField(max_length=120, blank=True)
    last_state = models.CharField(max_length=12, choices=DeliveryState.choices, blank=True)
    last_error = models.CharField(max_length=500, blank=True)
    last_attempt_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(target="stream", url="") | (models.Q(target="endpoint") & ~models.Q(url="")),
                name="only_endpoint_has_url",
            )
        ]
        indexes = [models.Index(fields=["organization", "project", "created_at"], name="event_subscription_project")]
        ordering = ["created_at", "id"]

    def __str__(self) -> str:
        return self.url or "the API's stream"
