"""Requests for a person, and tickets."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from projects.common.translation import lazy
from tenancy.tenant_models import TenantForeignKey, TenantModel


class EscalationState(models.TextChoices):
    OFFERED = "offered", lazy("Offered: the customer was shown the button")
    WAITING = "waiting", lazy("Waiting: the customer asked for a person")
    CLAIMED = "claimed", lazy("Claimed: a colleague has the conversation")
    RESOLVED = "resolved", lazy("Resolved")


class Escalation(TenantModel):
    """The agent's offer to bring in a person, and its outcome.

    `lead` is how the customer wants to be reached: {"name", "email", "phone", "note"}, each optional.
    """

    project = TenantForeignKey("projects.Project", related_name="escalations")
    conversation_id = models.UUIDField()
    turn_id = models.UUIDField(null=True)
    effect_id = models.UUIDField(null=True)
    reason = models.CharField(max_length=500)
    state = models.CharField(max_length=10, choices=EscalationState.choices, default=EscalationState.OFFERED)
    lead = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    requested_at = models.DateTimeField(null=True)
    claimed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    claimed_at = models.DateTimeField(null=True)
    resolved_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            # A second call in a conversation returns the open escalation.
            models.UniqueConstraint(
                fields=["organization", "conversation_id"],
                condition=~models.Q(state="resolved"),
                name="one_open_escalation",
            ),
        ]
        indexes = [
            models.Index(fields=["organization", "project", "-created_at"], name="escalation_recent"),
            models.Index(
                fields=["organization", "project", "requested_at"],
                condition=models.Q(state="waiting"),
                name="escalation_waiting",
            ),
            models.Index(fields=["organization", "conversation_id"], name="escalation_conversation"),
            models.Index(fields=["organization", "turn_id"], name="escalation_turn"),
            models.Index(fields=["organization", "effect_id"], name="escalation_effect"),
        ]
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"escalation ({self.state})"


class TicketState(models.TextChoices):
    OPEN = "open", lazy("Open")
    PENDING = "pending", lazy("Pending: the customer is asked")
    CLOSED = "closed", lazy("Closed")


class TicketPriority(models.TextChoices):
    LOW = "low", lazy("Low")
    NORMAL = "normal", lazy("Normal")
    HIGH = "high", lazy("High")
    URGENT = "urgent", lazy("Urgent")


class Ticket(TenantModel):
    """A request that outlives its conversation.

    `number` counts within the project; `effect_id` makes a tool's ticket idempotent.
    """

    project = TenantForeignKey("projects.Project", related_name="tickets")
    number = models.PositiveIntegerField()
    conversation_id = models.UUIDField(null=True)
    persona_id = models.UUIDField(null=True)
    effect_id = models.UUIDField(null=True)
    subject = models.CharField(max_length=120)
    body = models.TextField()
    priority = models.CharField(max_length=6, choices=TicketPriority.choices, default=TicketPriority.NORMAL)
    state = models.CharField(max_length=8, choices=TicketState.choices, default=TicketState.OPEN)
    assignee = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "project", "number"], name="one_ticket_per_number"),
            models.UniqueConstraint(
                fields=["organization", "effect_id"],
                condition=models.Q(effect_id__isnull=False),
                name="one_ticket_per_effect",
            ),
        ]
        indexes = [
            models.Index(fields=["organization", "project", "-updated_at"], name="ticket_recent"),
            models.Index(fields=["organization", "conversation_id"], name="ticket_conversation"),
            models.Index(fields=["organization", "persona_id"], name="ticket_persona"),
        ]
        ordering = ["-number"]

    def __str__(self) -> str:
        return f"#{self.number} {self.subject}"


class TicketChange(TenantModel):
    """One change of a ticket, kept for good. `before` and `after` hold the changed fields in readable form."""

    ticket = TenantForeignKey(Ticket, related_name="changes")
    actor = models.CharField(max_length=200)
    actor_id = models.BigIntegerField(null=True)
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at", "id"]

    def __str__(self) -> str:
        return f"{self.actor}: {', '.join(self.after)}"


class TicketChannel(models.TextChoices):
    """Where an answer to a ticket goes."""

    CONVERSATION = "conversation", lazy("In the conversation")
    EMAIL = "email", lazy("By e-mail")


class TicketAnswer(TenantModel):
    """An answer of staff to a ticket's customer, kept for good. `message_id` is the message of the conversation, or
    `effect_id` the e-mail. A repeated `key` is the same answer.
    """

    ticket = TenantForeignKey(Ticket, related_name="answers")
    key = models.UUIDField()
    actor = models.CharField(max_length=200)
    actor_id = models.BigIntegerField()
    content = models.TextField()
    channel = models.CharField(max_length=12, choices=TicketChannel.choices)
    message_id = models.UUIDField(null=True)
    effect_id = models.UUIDField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "ticket", "key"], name="one_answer_per_key")]
        indexes = [
            models.Index(fields=["organization", "message_id"], name="ticket_answer_message"),
            models.Index(fields=["organization", "effect_id"], name="ticket_answer_effect"),
        ]
        ordering = ["created_at", "id"]

    def __str__(self) -> str:
        return f"{self.actor}: {self.content[:40]}"


class OperatorNotice(TenantModel):
    """The last e-mail to an operator about waiting customers. `is_delivered` is cleared to notify them again."""

    project = TenantForeignKey("projects.Project", related_name="operator_notices")
    member = TenantForeignKey("projects.Member", related_name="+")
    sent_at = models.DateTimeField()
    is_delivered = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "project", "member"], name="one_operator_notice")
        ]

    def __str__(self) -> str:
        return f"operator notice of {self.sent_at}"
