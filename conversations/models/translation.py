"""Translations of messages, for staff."""

from __future__ import annotations

from django.db import models

from tenancy.tenant_models import TenantForeignKey, TenantModel


class MessageTranslation(TenantModel):
    """A message in another language, as the model translated it once. `language` is a code such as `de`."""

    message = TenantForeignKey("conversations.Message", related_name="translations", db_index=False)
    language = models.CharField(max_length=8)
    content = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "message", "language"], name="one_translation_per_language")
        ]

    def __str__(self) -> str:
        return f"{self.message_id} in {self.language}"
