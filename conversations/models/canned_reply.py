"""Canned replies: texts that staff inserts into an answer."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower

from tenancy.tenant_models import TenantForeignKey, TenantModel


class CannedReply(TenantModel):
    """A text with fields such as `{{customer.name}}`. A deleted one stays for a while, so that it can be restored."""

    project = TenantForeignKey("projects.Project", related_name="canned_replies", db_index=False)
    name = models.CharField(max_length=40)
    content = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "organization", "project", Lower("name"), condition=Q(deleted_at=None), name="one_canned_reply_per_name"
            )
        ]
        ordering = ["name"]
        verbose_name_plural = "canned replies"

    def __str__(self) -> str:
        return self.name
