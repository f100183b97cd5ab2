"""A turn: a customer's message, the reply, and the flows that follow."""

from __future__ import annotations

from django.db import models

from tenancy.tenant_models import DenseTenantModel, TenantForeignKey

# The error of a turn that a colleague answers in place of the agent.
TAKEN_OVER = "A colleague took the conversation over."


class TurnStatus(models.TextChoices):
    QUEUED = "queued", "Queued: the reply waits for a worker"
    REPLYING = "replying", "Replying: the model writes"
    DONE = "done", "Done: the reply is sent"
    FAILED = "failed", "Failed: the customer was told so"
    SUPERSEDED = "superseded", "Superseded: a newer message took over; its turn answers both"


class Freshness(models.TextChoices):
    """Which directives the reply had."""

    NONE = "none", "None yet"
    FRESH = "fresh", "Fresh: of the turn before"
    STALE = "stale", "Stale: of an earlier turn"
    WAITING = "waiting", "Waiting: a tool's result was awaited"


class Origin(models.TextChoices):
    """Why there is a turn."""

    MESSAGE = "message", "The customer wrote"
    URGENT = "urgent", "An urgent message made the agent speak"
    FOLLOW_UP = "follow_up", "The customer was silent for long enough"


class Turn(DenseTenantModel):
    """`seq` counts without gaps within the conversation. `partial` keeps what a superseded reply had written.

    `working_hours` is {"open", "reason"} at the reply's start, `refused` the observer's readings that could not be kept:
    [{"field", "value", "reason"}]. The quality is from 1 to 10, empty where it isn't scored.
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
        """Whether a colleague took the conversation over before there was a reply."""
        return self.reply_id is None and self.error == TAKEN_OVER

    def __str__(self) -> str:
        return f"turn {self.seq} ({self.status})"
