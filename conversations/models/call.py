"""Calls that Makegood answers itself: by phone, or from a browser."""

from __future__ import annotations

from django.db import models

from projects.common.translation import lazy
from tenancy.tenant_models import TenantForeignKey, TenantModel


class CallState(models.TextChoices):
    RINGING = "ringing", lazy("Ringing")
    ANSWERING = "answering", lazy("Being answered")
    LIVE = "live", lazy("Live")
    TRANSFERRED = "transferred", lazy("Transferred")
    ENDED = "ended", lazy("Ended")
    REJECTED = "rejected", lazy("Not taken")
    FAILED = "failed", lazy("Failed")


# States of a call that has a keeper.
OPEN_STATES = (CallState.RINGING, CallState.ANSWERING, CallState.LIVE)


class Call(TenantModel):
    """One call at a provider. `external_id` is the provider's, and makes a repeated webhook the same call.

    `caller` is in E.164, empty if withheld; a caller can forge it. `reason` says why it ended or wasn't taken. `gaps`
    counts the times that nobody held the control connection while the call went on.

    A call from a browser keeps the browser's SDP `offer` until the provider has answered it, and the `answer` for the
    browser. `connected_at` is when the browser's audio was connected. `usage` counts the realtime model's tokens by kind:
    `audio_in`, `text_in`, `cached_in` and of that `cached_audio_in`, `audio_out`, `text_out`; `cost` is theirs in USD, if
    their prices are known.
    """

    project = TenantForeignKey("projects.Project", related_name="calls", db_index=False)
    conversation = TenantForeignKey("conversations.Conversation", related_name="calls")
    provider = models.CharField(max_length=20)
    external_id = models.CharField(max_length=200)
    caller = models.CharField(max_length=40, blank=True)
    called = models.CharField(max_length=40, blank=True)
    state = models.CharField(max_length=12, choices=CallState.choices, default=CallState.RINGING)
    reason = models.CharField(max_length=300, blank=True)
    transferred_to = models.CharField(max_length=40, blank=True)
    gaps = models.PositiveSmallIntegerField(default=0)
    offer = models.TextField(blank=True, default="")
    answer = models.TextField(blank=True, default="")
    connected_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    usage = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()))
    answered_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["organization", "project", "provider", "external_id"], name="one_call_per_external_id"
            )
        ]
        indexes = [models.Index(fields=["organization", "project", "-created_at"], name="call_recent")]
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"call, {self.created_at:%Y-%m-%d %H:%M}"
