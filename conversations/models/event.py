"""The event log of a conversation."""

from __future__ import annotations

from enum import StrEnum

from django.db import models

from projects.common.translation import lazy
from tenancy.tenant_models import DenseTenantModel, TenantForeignKey

# The system event that makes the agent speak immediately.
URGENT = "urgent_message"


class UrgentSource(StrEnum):
    """The author of an urgent message. The business may instruct the agent; a tool's result is data."""

    BUSINESS = "business"
    TOOL = "tool"


class EventType(models.TextChoices):
    """The event's name in the live stream. System events carry only an idn and are not streamed."""

    MESSAGE = "message", lazy("A message")
    TURN = "turn", lazy("A turn changed")
    TOOL_CALL = "tool_call", lazy("A tool was called inside the turn")
    BLOCK = "block", lazy("Something to be shown in place of words")
    DIRECTIVES = "directives", lazy("New directives")
    EFFECT = "effect", lazy("An effect changed")
    RECEIPT = "receipt", lazy("A message came further on its way")
    WAITING = "waiting", lazy("Waiting began or ended")
    ERROR = "error", lazy("Something went wrong")
    DONE = "done", lazy("A turn's reply is complete")
    OVER = "over", lazy("The conversation is over, or goes on")
    SYSTEM = "system", lazy("A system event")


class Event(DenseTenantModel):
    """One event. `idn` is its name in the log; `seq` is gapless, assigned under the conversation's lock, and doubles as
    the SSE id.
    """

    conversation = TenantForeignKey("conversations.Conversation", related_name="events", db_index=False)
    seq = models.PositiveIntegerField()
    idn = models.CharField(max_length=120)
    connector = models.CharField(max_length=40, default="system")
    type = models.CharField(max_length=12, choices=EventType.choices, default=EventType.SYSTEM)
    payload = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "conversation", "seq"], name="one_event_per_seq")
        ]
        indexes = [
            models.Index(
                fields=["organization", "conversation", "seq"],
                condition=models.Q(idn="urgent_message"),
                name="event_urgent",
            ),
            # For the analytics.
            models.Index(
                fields=["organization", "conversation"],
                condition=models.Q(idn="live_tool_result"),
                name="event_live_result",
            ),
        ]
        ordering = ["seq"]

    def __str__(self) -> str:
        return f"{self.seq} {self.idn}"
