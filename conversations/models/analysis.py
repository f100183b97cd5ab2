"""What AnalyzeConversation did after a reply: its nine steps, and what each held (N04)."""

from __future__ import annotations

from django.db import models

from tenancy.tenant_models import DenseTenantModel, TenantForeignKey


class Analysis(DenseTenantModel):
    """One run of the tool caller over one reply.

    `steps` is [{"number", "name", "group", "held"}], in the source's order. While `finished_at` is null, tools of one tag
    are still to be ranked: what was decided is stored and at work, and a run that goes on reads the rest here.
    """

    conversation = TenantForeignKey("conversations.Conversation", related_name="analyses")
    turn = TenantForeignKey("conversations.Turn", related_name="analyses", db_index=False)
    steps = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "turn"], name="one_analysis_per_turn")]
        verbose_name_plural = "analyses"

    def __str__(self) -> str:
        return f"analysis of {self.turn_id}"
