"""Promises of the agent and their outcomes."""

from __future__ import annotations

from django.db import models

from projects.common.translation import lazy
from tenancy.tenant_models import TenantForeignKey, TenantModel


class PromiseState(models.TextChoices):
    OPEN = "open", lazy("Open: it is not kept yet")
    KEPT = "kept", lazy("Kept: it happened")
    BROKEN = "broken", lazy("Broken: it did not happen, or no tool can do it")
    WITHDRAWN = "withdrawn", lazy("Withdrawn: it was taken back, or no longer wanted")


class Evidence(models.TextChoices):
    """The proof behind a promise's state. All but the outbox and a message on its way keep a promise."""

    NONE = "", lazy("None")
    EFFECT = "effect", lazy("Effect: a tool did it")
    ACKNOWLEDGED = "acknowledged", lazy("Acknowledged: a subscriber of the event took it on")
    DELIVERED = "delivered", lazy("Delivered: the channel sent a receipt")
    PERSON = "person", lazy("Person: somebody says that it happened")
    OUTBOX = "outbox", lazy("Outbox: the message is written and was not sent")
    SENT = "sent", lazy("Sent: the message is on its way, and its receipt is awaited")


# Evidence of what hasn't happened yet.
PENDING = (Evidence.OUTBOX, Evidence.NONE, Evidence.SENT)
# Evidence that something happened.
KEEPING = (Evidence.EFFECT, Evidence.ACKNOWLEDGED, Evidence.DELIVERED, Evidence.PERSON)


class PromiseOwner(models.TextChoices):
    """The side that has to act on an open promise. A closed one has no owner."""

    TOOL = "tool", lazy("Tool: its effect is on the way")
    STAFF = "staff", lazy("Staff: a person has to act")
    NOBODY = "", lazy("Nobody: it is closed")


# Promises whose message stayed in the outbox. They are a figure of their own, neither kept nor broken.
NOT_SENT = models.Q(evidence=Evidence.OUTBOX)


class Promise(TenantModel):
    """One commitment found in a reply: its exact words, and the tool and effect that serve it, if any.

    The database refuses a kept promise without evidence, and an open one without an owner.
    """

    project_id = models.UUIDField()
    conversation_id = models.UUIDField()
    turn_id = models.UUIDField()
    message_id = models.UUIDField()
    quote = models.TextField()
    tool = models.CharField(max_length=120, blank=True, help_text="empty when no tool can serve it")
    effect = TenantForeignKey("tools.Effect", null=True, related_name="promises")
    due_at = models.DateTimeField()
    promised_for = models.DateTimeField(null=True, help_text="the time that the agent named, if it named a clear one")
    state = models.CharField(max_length=10, choices=PromiseState.choices, default=PromiseState.OPEN)
    evidence = models.CharField(max_length=12, choices=Evidence.choices, blank=True, default=Evidence.NONE)
    owner = models.CharField(max_length=5, choices=PromiseOwner.choices, blank=True, default=PromiseOwner.TOOL)
    reason = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=(models.Q(state=PromiseState.KEPT) & models.Q(evidence__in=KEEPING))
                | (~models.Q(state=PromiseState.KEPT) & models.Q(evidence__in=PENDING)),
                name="kept_by_evidence",
            ),
            models.CheckConstraint(
                condition=(models.Q(state=PromiseState.OPEN) & ~models.Q(owner=PromiseOwner.NOBODY))
                | (~models.Q(state=PromiseState.OPEN) & models.Q(owner=PromiseOwner.NOBODY)),
                name="open_has_an_owner",
            ),
        ]
        indexes = [
            models.Index(fields=["organization", "turn_id"], name="promise_turn"),
            models.Index(fields=["organization", "effect"], name="promise_effect"),
            models.Index(fields=["organization", "message_id"], name="promise_message"),
            models.Index(fields=["organization", "conversation_id", "-created_at"], name="promise_conversation"),
            models.Index(fields=["organization", "project_id", "state", "-created_at"], name="promise_project"),
            models.Index(fields=["due_at"], condition=models.Q(state="open"), name="promise_due"),
            models.Index(fields=["closed_at"], condition=models.Q(state="broken"), name="promise_broken"),
        ]
        ordering = ["created_at", "id"]

    def __str__(self) -> str:
        return f"{self.quote[:60]} ({self.state})"
