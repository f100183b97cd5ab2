"""Stored responses of idempotent requests."""

from __future__ import annotations

from django.db import models

from tenancy.tenant_models import TenantForeignKey, TenantModel


class IdempotentRequest(TenantModel):
    """The first response to a caller's key, kept for a day. `body_hash` covers method, path and body.

    `caller` is the API key, member or visitor, as `Caller.identity` names it.
    """

    project = TenantForeignKey("projects.Project", related_name="+")
    caller = models.CharField(max_length=80, db_default="", editable=False)
    key = models.CharField(max_length=255)
    body_hash = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    answer = models.JSONField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "project", "caller", "key"], name="one_idempotent_request")
        ]
