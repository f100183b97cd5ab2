"""Promises of the agent and their outcomes."""

from __future__ import annotations

from django.db import models

from tenancy.tenant_models import TenantForeignKey, TenantModel


class PromiseState(models.TextChoices):
    OPEN = "open", "Open: it is not kept yet"
    KEPT = "kept", "Kept: it happened"
    BROKEN = "broken", "Broken: it did not happen, or no tool can do it"
    WITHDRAWN = "withdrawn", "Withdrawn: it was taken back, or no longer wanted"


class Promise(TenantModel):
    """One commitment found in a reply: its exact words, and the tool and effect that serve it, if any."""

    project_id = models.UUIDField()
    conversation_id = models.UUIDField()
    turn_id = models.UUIDField()
    message_id = models.UUIDField()
    quote = models.TextField()
    tool = models.CharField(max_length=120, blank=True, help_text="empty when no tool can serve it")
    effect = TenantForeignKey("tools.Effect", null=True, related_name="promises")
    due_at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=PromiseState.choices, default=PromiseState.OPEN)
    reason = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["organization", "turn_id"], name="promise_turn"),
            models.Index(fields=["organization", "effect"], name="promise_effect"),
            models.Index(fields=["organization", "conversation_id", "-created_at"], name="promise_conversation"),
            models.Index(fields=["organization", "project_id", "state", "-created_at"], name="promise_project"),
            models.Index(fields=["due_at"], condition=models.Q(state="open"), name="promise_due"),
            models.Index(fields=["closed_at"], condition=models.Q(state="broken"), name="promise_broken"),
        ]
        ordering = ["created_at", "id"]

    def __str__(self) -> str:
        return f"{self.quote[:60]} ({self.state})"
