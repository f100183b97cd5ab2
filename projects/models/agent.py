"""Agent versions: every saved change is a new row, which provides the draft, the history and restore."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from projects.models.agent_config import AgentConfig, parse_config
from tenancy.tenant_models import TenantForeignKey, TenantModel


class AgentVersion(TenantModel):
    """One immutable version of an agent's settings.

    `is_draft`: saved without being published. Publishing a draft saves it again as a version that customers meet, with
    the publisher as its author.
    """

    project = TenantForeignKey("projects.Project", related_name="agent_versions")
    number = models.PositiveIntegerField()
    document = models.JSONField()
    author = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    note = models.CharField(max_length=200, blank=True)
    is_draft = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "number"], name="one_agent_version")]
        ordering = ["-number"]

    def __str__(self) -> str:
        return f"version {self.number}"

    @property
    def config(self) -> AgentConfig:
        """The validated document. Parsed once per process, because the row never changes."""
        return parse_config(self.pk, lambda: self.document)
