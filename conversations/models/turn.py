"""Turns: a customer's message, the agent's reply and the flows that follow it."""

from __future__ import annotations

from django.db import models

from projects.common.translation import lazy
from tenancy.tenant_models import DenseTenantModel, TenantForeignKey

# The error of a turn that an operator answers in place of the agent.
TAKEN_OVER = "A colleague took the conversation over."


class TurnStatus(models.TextChoices):
    QUEUED = "queued", lazy("Queued: the reply waits for a worker")
    REPLYING = "replying", lazy("Replying: the model writes")
    DONE = "done", lazy("Done: the reply is sent")
    FAILED = "failed", lazy("Failed: the customer was told so")
    SUPERSEDED = "superseded", lazy("Superseded: a newer message took over; its turn answers both")


class Freshness(models.TextChoices):
    """The age of the directives that a reply used."""

    NONE = "none", lazy("None yet")
    FRESH = "fresh", lazy("Fresh: of the turn before")
    STALE = "stale", lazy("Stale: of an earlier turn")
    WAITING = "waiting", lazy("Waiting: a tool's result was awaited")


class Origin(models.TextChoices):
    """The trigger of a turn."""

    MESSAGE = "message", lazy("The customer wrote")
    URGENT = "urgent", lazy("An urgent message made the agent speak")
    FOLLOW_UP = "follow_up", lazy("The customer was silent for long enough")


class Turn(DenseTenantModel):
    """One turn. `seq` is gapless within the conversation; `partial` is the text a superseded reply had produced.

    `working_hours` is `{"open", "reason"}` at the start of the reply. `refused` lists observed values that failed
    validation, as `{"field", "value", "reason"}`. `quality_score` is 1 to 10, or null if the turn is not scored.
    """

    conversation = TenantForeignKey("conversations.Conversation", related_name="turns", db_index=False)
    seq = models.PositiveIntegerField()
    origin = models.CharField(max_length=10, choices=Origin.choices, default=Origin.MESSAGE)
    status = models.CharField(max_length=12, choices=TurnStatus.choices, default=TurnStatus.QUEUED)
    superseded_by = TenantForeignKey("conversations.Turn", null=True, related_name="supersedes")
    message = TenantForeignKey("conversations.Message", null=True, related_name="+")
    reply = TenantForeignKey("conversations.Message", null=True, related_name="+")
    partial = models.TextField(blank=True)
    directives_used = TenantForeignKey("conversations.Directives", null=True, related_name="+")
    freshness = models.CharField(max_length=8, choices=Freshness.choices, default=Freshness.NONE)
    working_hours = models.JSONField(null=True)
    refused = models.JSONField(default=list)
    quality_score = models.PositiveSmallIntegerField(null=True)
    quality_reason = models.CharField(max_length=300, blank=True)
    tools_called = models.BooleanField(default=False)
    error = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    first_token_at = models.DateTimeField(null=True)
    replied_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "conversation", "seq"], name="one_turn_per_seq")]
        ordering = ["seq"]

    @property
    def is_taken_over(self) -> bool:
        """True if an operator took the conversation over before the agent replied."""
        return self.reply_id is None and self.error == TAKEN_OVER

    def __str__(self) -> str:
        return f"turn {self.seq} ({self.status})"
