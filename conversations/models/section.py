"""Prompt sections written by tools."""

from __future__ import annotations

from django.db import models

from tenancy.tenant_models import TenantForeignKey, TenantModel


class PromptSection(TenantModel):
    """A named section that a tool's after-action adds to the reply prompts of one conversation."""

    conversation = TenantForeignKey("conversations.Conversation", related_name="prompt_sections")
    name = models.CharField(max_length=80)
    content = models.TextField()
    effect_id = models.UUIDField(null=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "conversation", "name"], name="one_prompt_section_per_name")
        ]
        indexes = [models.Index(fields=["organization", "effect_id"], name="prompt_section_effect")]
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
