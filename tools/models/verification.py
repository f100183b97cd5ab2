"""Verification of a customer's identity."""

from __future__ import annotations

from django.db import models

from tenancy.tenant_models import TenantForeignKey, TenantModel


class Verification(TenantModel):
    """Proof of a customer's identity in one conversation. `method` is `basic` or `code`."""

    project = TenantForeignKey("projects.Project", related_name="verifications")
    persona_id = models.UUIDField()
    conversation_id = models.UUIDField()
    method = models.CharField(max_length=8)
    verified_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [
            models.Index(fields=["organization", "persona_id", "-verified_at"], name="verification_recent"),
            models.Index(fields=["organization", "conversation_id"], name="verification_conversation"),
        ]
        ordering = ["-verified_at"]

    def __str__(self) -> str:
        return f"{self.method} at {self.verified_at}"


class VerificationCode(TenantModel):
    """A one-time code sent to a customer, stored as a hash. It ends by use, by expiry, or after too many wrong tries."""

    project = TenantForeignKey("projects.Project", related_name="verification_codes")
    persona_id = models.UUIDField()
    conversation_id = models.UUIDField()
    effect_id = models.UUIDField(null=True)
    digest = models.CharField(max_length=64, editable=False)
    sent_by = models.CharField(max_length=5, help_text="sms or email")
    tries = models.PositiveSmallIntegerField(default=0)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [
            models.Index(fields=["organization", "persona_id", "-created_at"], name="code_recent"),
            models.Index(fields=["organization", "conversation_id"], name="code_conversation"),
            models.Index(fields=["organization", "effect_id"], name="code_effect"),
        ]
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"code by {self.sent_by}"
