"""The tool caller's analysis of a reply, step by step."""

from __future__ import annotations

from django.db import models

from tenancy.tenant_models import DenseTenantModel, TenantForeignKey


class Analysis(DenseTenantModel):
    """One run of the tool caller over one reply.

    `steps` is a list of `{"number", "name", "group", "held"}` in the order they ran. While `finished_at` is null, some
    tag groups still have to be ranked: decisions made so far are stored and being acted on, and a resumed run reads the
    remaining work from here.
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
        return f"analysis, {self.created_at:%Y-%m-%d %H:%M}"
