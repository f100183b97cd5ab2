"""Summaries of the messages that prompts no longer carry."""

from __future__ import annotations

from django.db import models

from tenancy.tenant_models import TenantForeignKey, TenantModel


class Summary(TenantModel):
    """Everything up to message `until_seq`: a short text and the conversation's facts by field. Immutable."""

    conversation = TenantForeignKey("conversations.Conversation", related_name="summaries")
    until_seq = models.PositiveIntegerField()
    text = models.TextField()
    facts = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "conversation", "until_seq"], name="one_summary_per_seq")
        ]
        verbose_name_plural = "summaries"

    def __str__(self) -> str:
        return f"summary until {self.until_seq}"

    @property
    def as_text(self) -> str:
        """The text, followed by one `field: value` line per fact, as prompts show it."""
        return "\n".join([self.text, *(f"{field}: {value}" for field, value in self.facts.items())])
