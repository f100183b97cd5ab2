"""Voice sessions: the state of a live call as reported by its voice bridge."""

from __future__ import annotations

from django.db import models

from tenancy.tenant_models import TenantForeignKey, TenantModel


class VoiceSession(TenantModel):
    """The last reported state of one call whose voice runs elsewhere. Changed under the conversation's lock.

    `heard_at` is the time of the last report, `speaking_since` when the caller started speaking. `applied` is the
    number of the last update the realtime model received, `given_directives` the newest directives among them.
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
        return f"voice session, {self.created_at:%Y-%m-%d %H:%M}"
