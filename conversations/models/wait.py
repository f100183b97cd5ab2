"""Waits: no directives are written while a tool's result is awaited."""

from __future__ import annotations

from django.db import models

from projects.common.translation import lazy
from tenancy.tenant_models import TenantForeignKey, TenantModel


class WaitOutcome(models.TextChoices):
    """The way a wait ended."""

    RESULT = "result", lazy("The tool's result came")
    FAILURE = "failure", lazy("The tool failed")
    TIMEOUT = "timeout", lazy("No result came in time")


class Wait(TenantModel):
    """One wait of a conversation. Open while `ended_at` is null and `until` is in the future, so every wait ends."""

    conversation = TenantForeignKey("conversations.Conversation", related_name="waits")
    turn = TenantForeignKey("conversations.Turn", null=True, related_name="+")
    effect_id = models.UUIDField(null=True, help_text="the effect whose end ends it; none for one that an event opened")
    reason = models.CharField(max_length=200)
    opened_at = models.DateTimeField()
    until = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=8, choices=WaitOutcome.choices, blank=True)
    late_at = models.DateTimeField(null=True, help_text="when the result came after all, after the wait had run out")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["organization", "effect_id"],
                condition=models.Q(effect_id__isnull=False),
                name="one_wait_per_effect",
            )
        ]
        indexes = [
            models.Index(
                fields=["organization", "conversation"], condition=models.Q(ended_at=None), name="wait_of_conversation"
            ),
            models.Index(fields=["until"], condition=models.Q(ended_at=None), name="wait_until"),
        ]

    def __str__(self) -> str:
        return f"{self.reason} ({self.outcome or 'open'})"
