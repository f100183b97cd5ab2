"""Follow-ups: the outcome of each expired timer."""

from __future__ import annotations

from django.db import models

from projects.common.translation import lazy
from tenancy.tenant_models import TenantForeignKey, TenantModel


class FollowUpState(models.TextChoices):
    FIRED = "fired", lazy("Fired: the agent wrote again")
    MISSED = "missed", lazy("Missed: it ran out during an outage, too long ago to write now")


class FollowUp(TenantModel):
    """One expired timer. Immutable. `generation` is the number of the conversation's last message at that time and is
    unique per conversation.
    """

    conversation = TenantForeignKey("conversations.Conversation", related_name="all_follow_ups")
    generation = models.PositiveIntegerField()
    due_at = models.DateTimeField()
    state = models.CharField(max_length=8, choices=FollowUpState.choices)
    turn = TenantForeignKey("conversations.Turn", null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["organization", "conversation", "generation"], name="one_follow_up_per_generation"
            )
        ]

    def __str__(self) -> str:
        return f"follow-up {self.generation} ({self.state})"
