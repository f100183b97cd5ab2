"""Attributes: typed settings of a project or its organization."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from projects.common.translation import lazy
from tenancy.tenant_models import TenantForeignKey, TenantModel


class AttributeType(models.TextChoices):
    """The type of an attribute's value."""

    BOOL = "bool", lazy("True or False")
    STRING = "str", lazy("Text")
    ENUM = "enum", lazy("One of a fixed set")
    JSON = "json", "JSON"
    SECRET = "secret", lazy("Secret: stored encrypted, never shown again")


class Attribute(TenantModel):
    """One setting. A row without a project applies to the whole organization; a project's own row overrides it."""

    project = TenantForeignKey("projects.Project", null=True, blank=True, related_name="attributes")
    key = models.CharField(max_length=160)
    type = models.CharField(max_length=10, choices=AttributeType.choices)
    value = models.JSONField(null=True, blank=True)
    secret = models.TextField(blank=True, editable=False)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "project", "key"], name="one_attribute_per_project"),
            models.UniqueConstraint(
                fields=["organization", "key"], condition=Q(project=None), name="one_attribute_per_organization"
            ),
        ]
        ordering = ["key"]

    def __str__(self) -> str:
        return self.key
