"""KEY DIRECTIVES: the agent's instructions for its next reply."""

from __future__ import annotations

from django.db import models

from tenancy.tenant_models import DenseTenantModel, TenantForeignKey


class Directives(DenseTenantModel):
    """One immutable version of a conversation's directives, written after a turn by the thoughts flow only."""

    conversation = TenantForeignKey("conversations.Conversation", related_name="all_directives")
    turn = TenantForeignKey("conversations.Turn", related_name="+", db_index=False)
    version = models.PositiveIntegerField()
    document = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "turn"], name="one_directives_per_turn")]
        verbose_name_plural = "directives"

    def __str__(self) -> str:
        return f"directives v{self.version}"
