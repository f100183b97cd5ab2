"""Invitations by e-mail. The link is shown once, and only its digest is stored."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils import timezone

from projects.models.organization import Role
from tenancy.tenant_models import TenantModel

LIFETIME = timedelta(days=7)


class Invitation(TenantModel):
    """An invitation of an address with a role. `digest` is the SHA-256 of the link's token."""

    email = models.EmailField("e-mail")
    role = models.CharField(max_length=10, choices=Role.choices)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    invited_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, editable=False, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(editable=False)
    emailed_at = models.DateTimeField(null=True, editable=False)
    accepted_at = models.DateTimeField(null=True, editable=False)
    revoked_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "organization",
                Lower("email"),
                condition=Q(accepted_at=None, revoked_at=None),
                name="one_open_invitation",
            )
        ]
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.email} ({self.role})"

    @property
    def is_expired(self) -> bool:
        return self.expires_at <= timezone.now()

    @staticmethod
    def make_token() -> str:
        """A new token: `mgi_`, which lets logs redact it, and 43 characters encoding 256 random bits."""
        return f"mgi_{secrets.token_urlsafe(32)}"

    @staticmethod
    def digest_of(token: str) -> str:
        return hashlib.sha256(token.encode()).hexdigest()
