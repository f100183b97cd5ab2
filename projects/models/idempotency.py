"""Stored responses of idempotent requests."""

from __future__ import annotations

from django.db import models

from tenancy.tenant_models import TenantForeignKey, TenantModel


class IdempotentRequest(TenantModel):
    """The first response to a key, kept for a day. `body_hash` covers method, path and body."""

    project = TenantForeignKey("projects.Project", related_name="+")
    key = models.CharField(max_length=255)
    body_hash = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    answer = models.JSONField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "project", "key"], name="one_idempotent_request")
        ]
