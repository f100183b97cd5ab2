"""What a reply called while it was written: stored before anything acts on it, so that a crash asks nothing again."""

from __future__ import annotations

from django.db import models

from tenancy.tenant_models import TenantForeignKey, TenantModel


class TurnStep(TenantModel):
    """One hop of a turn: a model answered with calls. `number` counts from 1; `content` is what it said beside them."""

    turn = TenantForeignKey("conversations.Turn", related_name="steps")
    number = models.PositiveSmallIntegerField()
    content = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "turn", "number"], name="one_turn_step_per_number")
        ]
        ordering = ["number"]

    def __str__(self) -> str:
        return f"hop {self.number}"


class TurnCall(TenantModel):
    """One tool that a hop called, with its result as the model reads it; a call has one before the next hop is asked for.

    `effect` is what it did outside, none for a tool that only reads our own rows. `block` is what the widget shows, `signal`
    what the channel has to obey once the reply is sent.
    """

    step = TenantForeignKey(TurnStep, related_name="calls")
    index = models.PositiveSmallIntegerField()
    call_id = models.CharField(max_length=120)
    name = models.CharField(max_length=120)
    arguments_text = models.TextField(blank=True)
    arguments = models.JSONField(null=True)
    effect = TenantForeignKey("tools.Effect", null=True, related_name="turn_calls")
    result = models.TextField(blank=True)
    is_error = models.BooleanField(default=False)
    block = models.JSONField(null=True)
    signal = models.CharField(max_length=10, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "step", "index"], name="one_turn_call_per_index")
        ]
        ordering = ["index"]

    def __str__(self) -> str:
        return self.name
