"""API keys, shown once and stored as digests."""

from __future__ import annotations

import hashlib
import secrets

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from projects.common.translation import lazy
from tenancy.tenant_models import TenantForeignKey, TenantModel


class Scope(models.TextChoices):
    """A permission of an API key, or of a member's role."""

    READ = "read", lazy("Look at conversations, tools and ledgers")
    CONVERSE = "converse", lazy("Open conversations and post messages")
    CONFIGURE = "configure", lazy("Change attributes and tools")
    OPERATE = "operate", lazy("Approve todos, resolve effects, run jobs again")
    OWNER = "owner", lazy("Change the limits of the organization")


class ApiKey(TenantModel):
    """A project's API key. `digest` is the SHA-256 of the whole key, `prefix` its non-secret beginning."""

    project = TenantForeignKey("projects.Project", related_name="api_keys")
    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=16, editable=False)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    scopes = ArrayField(models.CharField(max_length=10, choices=Scope.choices))
    throttled = models.BooleanField(default=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, editable=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, editable=False, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @property
    def is_usable(self) -> bool:
        """True if the key is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > timezone.now())

    @staticmethod
    def make_secret() -> str:
        """A new key: `mg_`, 8 characters that identify it, and 43 characters encoding 256 random bits."""
        return f"mg_{secrets.token_hex(4)}_{secrets.token_urlsafe(32)}"

    @staticmethod
    def digest_of(secret: str) -> str:
        return hashlib.sha256(secret.encode()).hexdigest()
