"""Internal notes of staff in conversations, and the members they mention."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from tenancy.tenant_models import TenantForeignKey, TenantModel


class Note(TenantModel):
    """A note for colleagues. Customers never see it, and no prompt contains it. `author_name` outlasts the account."""

    conversation = TenantForeignKey("conversations.Conversation", related_name="internal_notes", db_index=False)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    author_name = models.CharField(max_length=200)
    content = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["organization", "conversation", "id"], name="note_of_conversation")]
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.author_name} {self.created_at:%Y-%m-%d %H:%M}"


class Mention(TenantModel):
    """A member whom a note mentions. Without `read_at`, the conversation is in that member's list."""

    note = TenantForeignKey(Note, related_name="mentions", db_index=False)
    conversation = TenantForeignKey("conversations.Conversation", related_name="+", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    read_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "note", "user"], name="one_mention_per_note")]
        indexes = [
            models.Index(
                fields=["organization", "user", "conversation"], condition=Q(read_at=None), name="mention_unread"
            ),
            models.Index(fields=["organization", "conversation"], name="mention_conversation"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} in {self.note_id}"
