"""A conversation: one customer, one channel, one line of messages."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from tenancy.tenant_models import DenseTenantModel, TenantForeignKey


class Channel(models.TextChoices):
    """Where the customer talks (T01)."""

    CHAT = "chat", "Chat"
    PHONE = "phone", "Phone"
    WEBCALL = "webcall", "Web call"
    TELEGRAM = "telegram", "Telegram"
    WHATSAPP = "whatsapp", "WhatsApp"
    SMS = "sms", "SMS"
    PORTAL = "portal", "Portal"
    API = "api", "API"


class ConversationStatus(models.TextChoices):
    OPEN = "open", "Open"
    ENDED = "ended", "Ended"
    TRANSFERRED = "transferred", "Transferred to a person"


class Conversation(DenseTenantModel):
    """The counters hand out gapless numbers under the row's lock; `directives_turn` says which turn wrote the directives.

    `follow_up_at` is when the agent writes again if nobody does before: any message and any turn clears it in its own
    transaction, so that a timer that is still set is one that nothing has overtaken (F2). `recovery` is why the
    conversation goes badly, while it does (T19); `correction` is what the agent said was done and wasn't, until a reply has
    put it right; `shopper` are the claims of a shopper whom the shop has signed in (W05). While there is an `operator`, the
    agent is silent (M9). `extracted_to` the last message that was looked through for todos.
    """

    project = TenantForeignKey("projects.Project", related_name="conversations", db_index=False)
    persona = TenantForeignKey("conversations.Persona", related_name="conversations")
    channel = models.CharField(max_length=10, choices=Channel.choices)
    status = models.CharField(max_length=12, choices=ConversationStatus.choices, default=ConversationStatus.OPEN)
    metadata = models.JSONField(default=dict)
    shopper = models.JSONField(null=True)
    directives = TenantForeignKey("conversations.Directives", models.PROTECT, null=True, related_name="+")
    directives_turn = models.PositiveIntegerField(default=0)
    summary = TenantForeignKey("conversations.Summary", models.PROTECT, null=True, related_name="+")
    follow_up_at = models.DateTimeField(null=True)
    follow_ups = models.PositiveSmallIntegerField(default=0)
    recovery = models.CharField(max_length=300, blank=True)
    correction = models.CharField(max_length=300, blank=True)
    extracted_to = models.PositiveIntegerField(default=0)
    last_event = models.PositiveIntegerField(default=0)
    last_message = models.PositiveIntegerField(default=0)
    last_turn = models.PositiveIntegerField(default=0)
    flag = models.CharField(max_length=300, blank=True, help_text="why staff should look")
    operator = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    operator_since = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [
            models.Index(fields=["organization", "project", "-updated_at"], name="conversation_recent"),
            models.Index(fields=["follow_up_at"], condition=Q(follow_up_at__isnull=False), name="conversation_timer"),
            # What fell silent and wasn't looked through for todos yet.
            models.Index(
                fields=["updated_at"],
                condition=Q(extracted_to__lt=models.F("last_message"), follow_up_at__isnull=True),
                name="conversation_silent",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.channel} {self.pk}"

    @property
    def is_test(self) -> bool:
        """True if it was opened in the playground, where staff play the customer."""
        return self.metadata.get("playground") is True
