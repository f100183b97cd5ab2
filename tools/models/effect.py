"""The one ledger of everything that tools do (design section 3)."""

from __future__ import annotations

from django.db import models

from projects.rows import TenantModel


class EffectState(models.TextChoices):
    """Where an effect stands."""

    PLANNED = "planned", "Planned: decided and stored, not begun"
    SENDING = "sending", "Sending: begun, the outcome isn't known yet"
    DONE = "done", "Done: it happened"
    FAILED = "failed", "Failed: it did not happen"
    UNKNOWN = "unknown", "Unknown: staff is asked whether it happened"
    HELD = "held", "Held: a repeat of something done already"
    CANCELLED = "cancelled", "Cancelled before it began"


class Effect(TenantModel):
    """One thing a tool does. `effect_key` comes from the stored plan, never from model text, and makes it happen once."""

    project_id = models.UUIDField()
    conversation_id = models.UUIDField(null=True)
    turn_id = models.UUIDField(null=True)
    effect_key = models.CharField(max_length=64)
    tool = models.CharField(max_length=120)
    kind = models.CharField(max_length=40)
    delivery = models.CharField(max_length=12)
    definition = models.JSONField(help_text="the tool as it was when this was planned")
    arguments = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=EffectState.choices, default=EffectState.PLANNED)
    attempts = models.PositiveSmallIntegerField(default=0)
    result = models.JSONField(null=True)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "effect_key"], name="one_effect_per_key")]
        indexes = [
            models.Index(fields=["organization", "turn_id"], name="effect_turn"),
            models.Index(fields=["organization", "conversation_id", "-created_at"], name="effect_conversation"),
            models.Index(fields=["organization", "project_id", "-created_at"], name="effect_project"),
        ]
        ordering = ["created_at", "id"]

    def __str__(self) -> str:
        return f"{self.tool} ({self.state})"
