"""The chat widget on a business's own website."""

from __future__ import annotations

import secrets

from django.contrib.postgres.fields import ArrayField
from django.db import models

from tenancy.tenant_models import TenantForeignKey, TenantModel


def make_widget_key() -> str:
    """A public key: it identifies the project, and grants no access."""
    return f"pk_{secrets.token_urlsafe(18)}"


class Widget(TenantModel):
    """A project's widget, accepted on `origins` only. `shopper_secret` is the encrypted key of the shop's identity
    tokens.
    """

    project = TenantForeignKey("projects.Project", related_name="widgets")
    public_key = models.CharField(max_length=40, unique=True, editable=False, default=make_widget_key)
    origins = ArrayField(models.CharField(max_length=255), default=list, blank=True)
    theme = models.JSONField(default=dict, blank=True)
    shopper_secret = models.TextField(blank=True, editable=False)
    is_enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "project"], name="one_widget_per_project")]

    def __str__(self) -> str:
        return self.public_key
