"""The bytes that a project stores."""

from __future__ import annotations

from django.db import models

from projects.common.translation import lazy
from tenancy.tenant_models import DenseTenantModel, TenantForeignKey


class StoredKind(models.TextChoices):
    """The contents that count as storage."""

    MESSAGES = "messages", lazy("Messages")
    ATTACHMENTS = "attachments", lazy("Attachments")
    ARTICLES = "articles", lazy("Knowledge")


class StoredBytes(DenseTenantModel):
    """A part of the bytes of a project's contents of one kind. The parts add up to the whole; a part may be negative.

    Triggers of the tables change it in the transaction that writes or deletes a row. The `slot` keeps concurrent
    transactions from waiting for each other.
    """

    project = TenantForeignKey("projects.Project", related_name="+", db_index=False)
    kind = models.CharField(max_length=12, choices=StoredKind.choices)
    slot = models.PositiveSmallIntegerField()
    bytes = models.BigIntegerField()

    class Meta:
        verbose_name_plural = "stored bytes"
        constraints = [
            models.UniqueConstraint(fields=["organization", "project", "kind", "slot"], name="one_storage_per_slot")
        ]

    def __str__(self) -> str:
        return f"{self.bytes:,} bytes of {self.kind}"
