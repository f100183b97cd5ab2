"""A live call, as far as whoever carries its voice reports of it (T28)."""

from __future__ import annotations

from django.db import models

from tenancy.tenant_models import TenantForeignKey, TenantModel


class VoiceSession(TenantModel):
    """The voice of one call runs elsewhere: this is what it has told of itself, changed under its conversation's lock.

    `heard_at` is when it reported last, `speaking_since` since when the caller speaks. `applied` is the number of the last
    update that the voice's model was given, `given_directives` are the newest of them.
    """

    conversation = TenantForeignKey("conversations.Conversation", related_name="voice_sessions", db_index=False)
    heard_at = models.DateTimeField()
    speaking_since = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    applied = models.PositiveIntegerField(default=0)
    given_directives = TenantForeignKey("conversations.Directives", models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "conversation"], name="one_voice_session_per_conversation")
        ]

    def __str__(self) -> str:
        return f"voice of {self.conversation_id}"
