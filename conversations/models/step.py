"""Tool steps of a turn, stored before any of their calls run so that a restart never asks the model again."""

from __future__ import annotations

from django.db import models

from tenancy.tenant_models import TenantForeignKey, TenantModel

# Tools that look a question up in the knowledge base.
SEARCHES = ("search_knowledge", "query_knowledge")


class TurnStep(TenantModel):
    """One model response that contained tool calls. `number` counts from 1; `content` is the text beside the calls."""

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
    """One tool call of a step, with the result shown to the model. Every call is finished before the next step is
    requested.

    `effect` is null for tools that only read our own data. `result` is for the model; `said` is what the customer may read
    of it if no model words it. `block` is rendered by the widget; `signal` is executed by
    the channel after the reply is sent.
    """

    step = TenantForeignKey(TurnStep, related_name="calls")
    index = models.PositiveSmallIntegerField()
    call_id = models.CharField(max_length=120)
    name = models.CharField(max_length=120)
    arguments_text = models.TextField(blank=True)
    arguments = models.JSONField(null=True)
    effect = TenantForeignKey("tools.Effect", null=True, related_name="turn_calls")
    result = models.TextField(blank=True)
    said = models.TextField(blank=True, db_default="")
    is_error = models.BooleanField(default=False)
    block = models.JSONField(null=True)
    signal = models.CharField(max_length=10, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "step", "index"], name="one_turn_call_per_index")
        ]
        indexes = [
            # For the analytics.
            models.Index(
                fields=["organization", "step"], condition=models.Q(name__in=SEARCHES), name="turn_call_search"
            )
        ]
        ordering = ["index"]

    def __str__(self) -> str:
        return self.name
