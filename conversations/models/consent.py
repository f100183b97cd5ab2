"""Changes of customers' consents."""

from __future__ import annotations

from django.db import models

from conversations.models.persona import Persona
from projects.common.translation import lazy
from tenancy.tenant_models import TenantForeignKey, TenantModel


class ConsentKind(models.TextChoices):
    """Kinds of consent."""

    SMS = "sms", lazy("Texts")
    EMAIL = "email", lazy("E-mails")
    CALL = "call", lazy("Calls")
    RECORDING = "recording", lazy("Recordings")


class ConsentSource(models.TextChoices):
    """The origin of a change."""

    CUSTOMER = "customer", lazy("the customer's words")
    STAFF = "staff", lazy("staff")
    API = "api", lazy("the API")
    CHANNEL = "channel", lazy("the channel")


class ConsentChange(TenantModel):
    """A consent that was given or withdrawn.

    `recipient` is the number in digits or the lower-case address that the customer had then, or "". The newest change
    at a recipient holds for every customer who uses it. Changes outlive the conversation that `conversation_id` names.
    """

    project = TenantForeignKey("projects.Project", related_name="+")
    persona = TenantForeignKey(Persona, related_name="consent_changes")
    kind = models.CharField(max_length=10, choices=ConsentKind.choices)
    is_given = models.BooleanField()
    quote = models.CharField(max_length=500, blank=True)
    source = models.CharField(max_length=10, choices=ConsentSource.choices)
    conversation_id = models.UUIDField(null=True)
    message_id = models.UUIDField(null=True)
    recipient = models.CharField(max_length=254, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["organization", "project", "kind", "recipient", "-created_at"],
                name="consent_of_recipient",
            ),
            models.Index(fields=["organization", "persona", "-created_at"], name="consent_of_persona"),
        ]
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.kind} {'given' if self.is_given else 'withdrawn'}"
