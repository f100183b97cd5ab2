"""Messages of a conversation."""

from __future__ import annotations

from django.db import models

from projects.common.translation import lazy
from tenancy.tenant_models import DenseTenantModel, TenantForeignKey


class MessageRole(models.TextChoices):
    USER = "user", lazy("Customer")
    AGENT = "agent", lazy("Agent")
    OPERATOR = "operator", lazy("Operator")
    SYSTEM = "system", lazy("System")


class Message(DenseTenantModel):
    """One message. `seq` is gapless within the conversation; `author` is the operator's name as shown to the customer.

    `attachments` describes the files that were sent with it; their contents are rows of Attachment.
    """

    conversation = TenantForeignKey("conversations.Conversation", related_name="messages", db_index=False)
    turn = TenantForeignKey("conversations.Turn", null=True, related_name="messages")
    seq = models.PositiveIntegerField()
    role = models.CharField(max_length=10, choices=MessageRole.choices)
    author = models.CharField(max_length=80, blank=True)
    content = models.TextField()
    blocks = models.JSONField(default=list)
    attachments = models.JSONField(default=list, db_default=models.Value([], models.JSONField()))
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "conversation", "seq"], name="one_message_per_seq")
        ]
        # For the analytics.
        indexes = [
            models.Index(
                fields=["organization", "conversation"],
                condition=models.Q(role=MessageRole.OPERATOR),
                name="message_operator",
            )
        ]
        ordering = ["seq"]

    def __str__(self) -> str:
        return f"{self.role} {self.seq}"
