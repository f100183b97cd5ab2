"""Conversations: one customer, one channel, one sequence of messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from projects.common.translation import lazy
from tenancy.tenant_models import DenseTenantModel, TenantForeignKey


class Channel(models.TextChoices):
    """The channel a customer uses."""

    CHAT = "chat", lazy("Chat")
    PHONE = "phone", lazy("Phone")
    WEBCALL = "webcall", lazy("Web call")
    TELEGRAM = "telegram", "Telegram"
    WHATSAPP = "whatsapp", "WhatsApp"
    SMS = "sms", "SMS"
    EMAIL = "email", lazy("E-mail")
    PORTAL = "portal", lazy("Portal")
    API = "api", "API"


class ConversationStatus(models.TextChoices):
    OPEN = "open", lazy("Open")
    ENDED = "ended", lazy("Ended")
    TRANSFERRED = "transferred", lazy("Transferred to a person")


# Conversations in which staff play the customer. They are in no figure.
IS_TEST = Q(metadata__playground=True)


def _inbox_index(name: str, column: str, *fields: str) -> models.Index:
    """A partial index of the few conversations that have a `column`."""
    return models.Index(
        fields=["organization", "project", *fields], condition=Q(**{f"{column}__isnull": False}), name=name
    )


INBOX_INDEXES = (
    _inbox_index("conversation_assigned", "assignee", "assignee", "-updated_at"),
    _inbox_index("conversation_operated", "operator", "operator", "-updated_at"),
    _inbox_index("conversation_snoozed", "snoozed_until", "snoozed_until"),
    _inbox_index("conversation_returned", "returned_at", "returned_at"),
    _inbox_index("conversation_closed", "closed_at", "-closed_at"),
    _inbox_index("conversation_rated", "rating", "rating", "-updated_at"),
)


def is_test(metadata: Mapping[str, Any]) -> bool:
    """True for the metadata of a test conversation, where staff play the customer."""
    return metadata.get("playground") is True


class Conversation(DenseTenantModel):
    """A conversation between one customer and the agent on one channel.

    The `last_*` counters hand out gapless numbers under the row lock.

    * `directives_turn`: number of the turn that wrote the current directives.
    * `follow_up_at`: when the agent writes again if nobody else does first. Any new message or turn clears it in the
      same transaction, so a timer that is still set has not been overtaken.
    * `recovery`: why the conversation is going badly; empty otherwise.
    * `correction`: what the agent wrongly reported as done, until a reply corrects it.
    * `shopper`: the identity claims of a shopper signed in by the shop.
    * `begun_as_id`: the merged customer under whose `external_id` it was begun. A browser that knows this identifier sees
      these conversations only, not those of the customer it was merged into.
    * `visitor`: the address range, hashed, of a widget's anonymous visitor; empty for customers the business knows.
    * `operator`: while set, the agent is silent.
    * `assignee`: the member who looks after it in the inbox, whether or not they have taken it over.
    * `snoozed_until`: out of the inbox until then. Once it has passed, the conversation counts as returned.
    * `returned_at`: when it came back from a snooze, until somebody deals with it.
    * `closed_at`: when staff closed it. A new message of the customer reopens it.
    * `extracted_to`: last message that was scanned for todos.
    * `archived_at`: when its transcript was moved into an ArchivedTranscript, until it goes on.
    * `rating`: the customer's stars, 1 to 5, with `rating_comment`. `rated_to` is the last message before the rating: a
      conversation that continues and ends again is rated again, and the newer rating counts.
    """

    project = TenantForeignKey("projects.Project", related_name="conversations", db_index=False)
    persona = TenantForeignKey("conversations.Persona", related_name="conversations")
    channel = models.CharField(max_length=10, choices=Channel.choices)
    status = models.CharField(max_length=12, choices=ConversationStatus.choices, default=ConversationStatus.OPEN)
    metadata = models.JSONField(default=dict)
    shopper = models.JSONField(null=True)
    begun_as_id = models.UUIDField(null=True)
    visitor = models.CharField(max_length=16, blank=True, default="", db_default="")
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
    assignee = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    snoozed_until = models.DateTimeField(null=True)
    returned_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)
    rating = models.PositiveSmallIntegerField(null=True)
    rating_comment = models.CharField(max_length=1000, blank=True, default="", db_default="")
    rated_at = models.DateTimeField(null=True)
    rated_to = models.PositiveIntegerField(default=0, db_default=0)
    archived_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [
            models.Index(fields=["organization", "project", "-updated_at"], name="conversation_recent"),
            models.Index(fields=["follow_up_at"], condition=Q(follow_up_at__isnull=False), name="conversation_timer"),
            models.Index(fields=["organization", "project"], condition=IS_TEST, name="conversation_test"),
            models.Index(
                fields=["organization", "project"],
                condition=Q(status=ConversationStatus.TRANSFERRED),
                name="conversation_transferred",
            ),
            *INBOX_INDEXES,
            # Silent conversations that have not been scanned for todos yet.
            models.Index(
                fields=["updated_at"],
                condition=Q(extracted_to__lt=models.F("last_message"), follow_up_at__isnull=True),
                name="conversation_silent",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.channel}, {self.created_at:%Y-%m-%d %H:%M}"

    @property
    def is_over(self) -> bool:
        """True if a tool ended the conversation or staff closed it, until the customer writes again."""
        return self.status == ConversationStatus.ENDED or self.closed_at is not None

    @property
    def is_test(self) -> bool:
        """True if the conversation was opened in the playground, where staff play the customer."""
        return is_test(self.metadata)

    @property
    def tests_draft(self) -> bool:
        """True if it is a test of the draft of the agent's settings."""
        return self.is_test and self.metadata.get("draft") is True
