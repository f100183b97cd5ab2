"""Custom tools and their versions."""

from __future__ import annotations

from django.db import models

from tenancy.tenant_models import TenantForeignKey, TenantModel


class CustomTool(TenantModel):
    """The current version of a custom tool. Every save is a new version; a removed tool keeps its versions.

    `secrets` holds the encrypted signing secret and secret headers of a webhook; they are write-only.
    """

    project = TenantForeignKey("projects.Project", related_name="custom_tools")
    name = models.CharField(max_length=64)
    definition = models.JSONField()
    version = models.PositiveIntegerField(default=1)
    is_enabled = models.BooleanField(default=True)
    is_removed = models.BooleanField(default=False)
    secrets = models.TextField(blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "project", "name"], name="one_custom_tool_per_name")
        ]
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class CustomToolVersion(TenantModel):
    """A saved version of a tool and its author. Immutable."""

    tool = TenantForeignKey(CustomTool, related_name="versions")
    number = models.PositiveIntegerField()
    definition = models.JSONField()
    is_enabled = models.BooleanField(default=True)
    is_removed = models.BooleanField(default=False)
    author_id = models.UUIDField(null=True, help_text="the member who saved it; none for an API key")
    saved_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "tool", "number"], name="one_version_per_number")
        ]
        ordering = ["-number"]

    def __str__(self) -> str:
        return f"version {self.number}"
