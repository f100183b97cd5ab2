"""Tags that staff puts on conversations."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Lower

from projects.common.translation import lazy
from tenancy.tenant_models import TenantForeignKey, TenantModel


class TagColor(models.TextChoices):
    """The colors of the design, by the state they mean elsewhere."""

    GRAY = "mute", lazy("Gray")
    BLUE = "act", lazy("Blue")
    GREEN = "ok", lazy("Green")
    AMBER = "warn", lazy("Amber")
    RED = "bad", lazy("Red")


class Tag(TenantModel):
    """One tag of the project's list. Names differ by more than their case."""

    project = TenantForeignKey("projects.Project", related_name="tags")
    name = models.CharField(max_length=40)
    color = models.CharField(max_length=4, choices=TagColor.choices, default=TagColor.GRAY)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint("organization", "project", Lower("name"), name="one_tag_per_name")]
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class ConversationTag(TenantModel):
    """A tag on a conversation."""

    conversation = TenantForeignKey("conversations.Conversation", related_name="tag_rows", db_index=False)
    tag = TenantForeignKey(Tag, related_name="uses", db_index=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "conversation", "tag"], name="one_use_per_tag"),
        ]
        indexes = [models.Index(fields=["organization", "tag", "-conversation"], name="conversation_tagged")]

    def __str__(self) -> str:
        return f"{self.tag} since {self.created_at:%Y-%m-%d %H:%M}"
