"""Sources: a project's connections to external services."""

from __future__ import annotations

from django.db import models

from tenancy.tenant_models import TenantForeignKey, TenantModel


class Source(TenantModel):
    """A connection to an external service. Its `secret` is encrypted and write-only."""

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
