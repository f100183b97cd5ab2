"""Organizations (tenants), their members and their projects."""

from __future__ import annotations

import secrets
from uuid import UUID

from django.conf import settings
from django.db import models
from django.utils.text import slugify

from projects.common.translation import lazy
from tenancy.ids import uuid7
from tenancy.tenant_models import TenantForeignKey, TenantModel

SLUG_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"


class Role(models.TextChoices):
    """A member's role."""

    OWNER = "owner", lazy("Owner: full access, including other owners")
    ADMIN = "admin", lazy("Admin: configures agents, members and keys")
    OPERATOR = "operator", lazy("Operator: talks to customers, approves and resolves")
    VIEWER = "viewer", lazy("Viewer: read-only access")


class Organization(models.Model):
    """A tenant."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(max_length=120)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class Member(TenantModel):
    """A user's membership in an organization. `developer_tools` opens the console's pages for developers; the role still
    decides what the member may do there, and what the API allows.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices)
    developer_tools = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "user"], name="one_membership")]

    def __str__(self) -> str:
        return f"{self.user} ({self.role})"


class Project(TenantModel):
    """A project: one agent with its own settings and data."""

    name = models.CharField(max_length=120)
    # The random suffix keeps URLs from revealing which names are taken.
    slug = models.CharField(max_length=60, unique=True, editable=False)
    agent_version = TenantForeignKey(
        "projects.AgentVersion", models.PROTECT, null=True, editable=False, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name

    @staticmethod
    def make_slug(name: str) -> str:
        """A slug such as `da-nello-7k2m9x`."""
        tail = "".join(secrets.choice(SLUG_ALPHABET) for _ in range(6))
        return f"{slugify(name)[:50] or 'project'}-{tail}"


def lock_project(project_id: UUID) -> None:
    """Lock a project for the rest of the transaction. Raises Project.DoesNotExist.

    Changes to what a project has with unique names or in a limited number take this lock, so they are made one at a time.
    Rows that refer to the project can be added meanwhile.
    """
    Project.objects.select_for_update(no_key=True).get(pk=project_id)
