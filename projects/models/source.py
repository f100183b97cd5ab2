"""Where a project's tools get their data from, and what they send by (D24)."""

from __future__ import annotations

from django.db import models

from tenancy.tenant_models import TenantForeignKey, TenantModel


class Source(TenantModel):
    """One connection of a project to a service outside. Its `secret` is encrypted JSON: written, never read back."""

    project = TenantForeignKey("projects.Project", related_name="sources")
    kind = models.CharField(max_length=40)
    settings = models.JSONField(default=dict, blank=True)
    secret = models.TextField(blank=True, editable=False)
    is_enabled = models.BooleanField(default=True)
    needs_reauth = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "project", "kind"], name="one_source_per_kind")]
        ordering = ["kind"]

    def __str__(self) -> str:
        return self.kind
