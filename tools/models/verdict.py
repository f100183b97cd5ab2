"""Verdicts on replies."""

from __future__ import annotations

from django.db import models

from tenancy.tenant_models import DenseTenantModel


class Verdict(DenseTenantModel):
    """One tool's verdict on one reply, with its quote and the value of every condition."""

    conversation_id = models.UUIDField()
    turn_id = models.UUIDField()
    tool = models.CharField(max_length=120)
    fired = models.BooleanField()
    rule = models.CharField(max_length=20, blank=True)
    reason = models.CharField(max_length=300)
    quote = models.TextField(blank=True)
    conditions = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [
            models.Index(fields=["organization", "turn_id"], name="verdict_turn"),
            models.Index(fields=["organization", "conversation_id"], name="verdict_conversation"),
        ]
        ordering = ["created_at", "id"]

    def __str__(self) -> str:
        return f"{self.tool}: {'fired' if self.fired else self.rule or 'held back'}"
