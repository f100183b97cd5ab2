"""Messages of a conversation."""

from __future__ import annotations

from django.db import models

from tenancy.tenant_models import DenseTenantModel, TenantForeignKey


class MessageRole(models.TextChoices):
    USER = "user", "Customer"
    AGENT = "agent", "Agent"
    OPERATOR = "operator", "Operator"
    SYSTEM = "system", "System"


class Message(DenseTenantModel):
    """One message. `seq` is gapless within the conversation; `author` is the operator's name as shown to the customer."""

    conversation = TenantForeignKey("conversations.Conversation", related_name="messages", db_index=False)
    turn = TenantForeignKey("conversations.Turn", null=True, related_name="messages")
    seq = models.PositiveIntegerField()
    role = models.CharField(max_length=10, choices=MessageRole.choices)
    author = models.CharField(max_length=80, blank=True)
    content = models.TextField()
    blocks = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "conversation", "seq"], name="one_message_per_seq")
        ]
        ordering = ["seq"]

    def __str__(self) -> str:
        return f"{self.role} {self.seq}"
