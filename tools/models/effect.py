"""The ledger of everything that tools do."""

from __future__ import annotations

from django.db import models

from projects.common.translation import lazy
from tenancy.tenant_models import TenantForeignKey, TenantModel


class EffectState(models.TextChoices):
    PLANNED = "planned", lazy("Planned: decided and stored, not begun")
    SENDING = "sending", lazy("Sending: begun, the outcome isn't known yet")
    DONE = "done", lazy("Done: it happened")
    FAILED = "failed", lazy("Failed: it did not happen")
    UNKNOWN = "unknown", lazy("Unknown: staff is asked whether it happened")
    HELD = "held", lazy("Held: a repeat of something done already")
    CANCELLED = "cancelled", lazy("Cancelled before it began")


class EffectOrigin(models.TextChoices):
    """The trigger a tool ran on."""

    COMMITMENT = "commitment", lazy("A commitment of the agent's, found after its reply")
    TURN = "turn", lazy("A call inside the turn")
    LIVE = "live", lazy("A call inside a live conversation")
    TODO = "todo", lazy("A todo that staff approved")
    BOOK = "book", lazy("A change in the booking book")
    EVENT = "event", lazy("An event sent to the conversation through the API")
    STAFF = "staff", lazy("A message that staff wrote")
    CHANNEL = "channel", lazy("A message on its way to a messenger")


class ReceiptState(models.TextChoices):
    """The state of a message on its way. It only moves forward.

    ACCEPTED: it waits to be sent. SENT: the provider has it. DELIVERED: it is on the customer's device. UNKNOWN: staff is
    asked whether it was sent.
    """

    ACCEPTED = "accepted", lazy("Accepted")
    SENT = "sent", lazy("Sent")
    DELIVERED = "delivered", lazy("Delivered")
    READ = "read", lazy("Read")
    FAILED = "failed", lazy("Failed")
    UNKNOWN = "unknown", lazy("Unknown")


# The adapter of messages without a service.
OUTBOX = "outbox"
# The adapter that delivers events to their subscribers. Its success is the subscriber's acknowledgment.
EVENT_ADAPTER = "event"


class Effect(TenantModel):
    """One execution of a tool. `effect_key` comes from the stored plan, never from model output, and makes it unique.

    `arguments` come from a model and are stored, at `arranged_at`, before anything acts on them; the model isn't asked
    again. `request` is the redacted request, `excerpt` the response, cut; `told` is what the agent was told.
    """

    project_id = models.UUIDField()
    conversation_id = models.UUIDField(null=True)
    turn_id = models.UUIDField(null=True)
    origin = models.CharField(max_length=12, choices=EffectOrigin.choices, default=EffectOrigin.COMMITMENT)
    effect_key = models.CharField(max_length=64)
    tool = models.CharField(max_length=120)
    tool_origin = models.CharField(max_length=12, blank=True, help_text="built-in, or custom: the project's own")
    tool_version = models.PositiveIntegerField(default=1)
    kind = models.CharField(max_length=40)
    delivery = models.CharField(max_length=12)
    definition = models.JSONField(help_text="the tool as it was when this was planned")
    quote = models.TextField(blank=True, help_text="the agent's exact words")
    arguments = models.JSONField(default=dict)
    arranged_at = models.DateTimeField(null=True)
    state = models.CharField(max_length=10, choices=EffectState.choices, default=EffectState.PLANNED)
    attempts = models.PositiveSmallIntegerField(default=0)
    # Equal for duplicates: kind, recipient or object, and content. Empty until the arguments are stored.
    repeat_key = models.CharField(max_length=64, blank=True)
    repeats = models.UUIDField(null=True, help_text="the effect that a held one repeats")
    recipient = models.CharField(max_length=254, blank=True, help_text="the number or address it goes to, for the caps")
    # The anonymous visitor's address range, hashed, if the recipient is nobody that the business knows.
    visitor = models.CharField(max_length=16, blank=True, default="", db_default="")
    adapter = models.CharField(max_length=20, blank=True)
    request = models.JSONField(null=True)
    http_status = models.PositiveSmallIntegerField(null=True)
    excerpt = models.TextField(blank=True)
    result = models.JSONField(null=True)
    told = models.TextField(blank=True)
    error = models.TextField(blank=True)
    # An attempt ended with an unknown outcome, so it may have happened whatever comes after.
    is_uncertain = models.BooleanField(default=False)
    # Digest of the token with which a tool that answers later calls back.
    callback_hash = models.CharField(max_length=64, blank=True)
    accepted_at = models.DateTimeField(null=True, help_text="when the tool took it on, to answer later")
    acknowledged_at = models.DateTimeField(null=True, help_text="when the subscriber of its event acknowledged it")
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    deadline_at = models.DateTimeField(null=True)
    receipt = models.CharField(
        max_length=10,
        choices=ReceiptState.choices,
        blank=True,
        default="",
        db_default="",
        help_text="how far its message came, as the provider reports it; empty if it reports nothing",
    )
    receipt_ref = models.CharField(
        max_length=200, blank=True, default="", db_default="", help_text="the provider's id of the message"
    )
    receipt_reason = models.CharField(max_length=300, blank=True, default="", db_default="")
    receipt_at = models.DateTimeField(null=True, help_text="the time of the receipt's state")
    receipt_due_at = models.DateTimeField(null=True, help_text="when a receipt that hasn't come becomes unknown")
    resolved_by = models.UUIDField(null=True, help_text="who said whether an unknown effect happened")
    resolved_at = models.DateTimeField(null=True)
    erased_at = models.DateTimeField(null=True, help_text="when everything about its customer was removed")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "effect_key"], name="one_effect_per_key")]
        indexes = [
            models.Index(fields=["organization", "turn_id"], name="effect_turn"),
            models.Index(fields=["organization", "conversation_id", "-created_at"], name="effect_conversation"),
            models.Index(fields=["organization", "project_id", "-created_at"], name="effect_project"),
            # Every page counts these.
            models.Index(
                fields=["organization", "project_id"], condition=models.Q(state="unknown"), name="effect_unknown"
            ),
            models.Index(
                fields=["organization", "conversation_id", "repeat_key"],
                condition=~models.Q(repeat_key=""),
                name="effect_repeat",
            ),
            models.Index(fields=["callback_hash"], condition=~models.Q(callback_hash=""), name="effect_callback"),
            # Effects started in a reply; the sweep looks for abandoned ones.
            models.Index(
                fields=["created_at"],
                condition=models.Q(origin="turn", state__in=["planned", "sending"]),
                name="effect_in_turn",
            ),
            models.Index(
                fields=["organization", "project_id", "recipient", "-started_at"],
                condition=~models.Q(recipient=""),
                name="effect_recipient",
            ),
            # A provider's callback names its message.
            models.Index(
                fields=["organization", "receipt_ref"], condition=~models.Q(receipt_ref=""), name="effect_receipt_ref"
            ),
            # The sweep looks for receipts that never came.
            models.Index(
                fields=["receipt_due_at"],
                condition=models.Q(state="done", receipt="sent"),
                name="effect_receipt_due",
            ),
            # Messages of a project, for its daily limits.
            models.Index(
                fields=["organization", "project_id", "kind", "-started_at"],
                condition=models.Q(kind__in=["sms", "email", "verification_code"]),
                name="effect_message",
            ),
        ]
        ordering = ["created_at", "id"]

    def __str__(self) -> str:
        return f"{self.tool} ({self.state})"

    @property
    def is_in_outbox(self) -> bool:
        """True for a message that only reached the outbox, because no service is connected."""
        is_kept = self.adapter == OUTBOX or bool((self.result or {}).get(OUTBOX))
        return self.state == EffectState.DONE and is_kept

    @property
    def awaits_receipt(self) -> bool:
        """True for a message that was sent and whose delivery the provider still has to report."""
        is_awaited = self.receipt == ReceiptState.SENT and self.receipt_due_at is not None
        return self.state == EffectState.DONE and is_awaited and not self.was_decided

    @property
    def was_decided(self) -> bool:
        """True if a person ended it: by saying that it happened, or by doing it."""
        return self.resolved_at is not None and self.resolved_at == self.finished_at


class AfterActionState(models.TextChoices):
    PLANNED = "planned", lazy("Planned")
    DONE = "done", lazy("Done")
    FAILED = "failed", lazy("Failed")
    SKIPPED = "skipped", lazy("Skipped")


class AfterAction(TenantModel):
    """One action that runs once, in order, after an effect. `raw` is its input, `value` its result."""

    effect = TenantForeignKey(Effect, related_name="after_actions")
    index = models.PositiveSmallIntegerField()
    type = models.CharField(max_length=40)
    options = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=AfterActionState.choices, default=AfterActionState.PLANNED)
    raw = models.TextField(blank=True)
    value = models.TextField(blank=True)
    error = models.TextField(blank=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "effect", "index"], name="one_after_action_per_index")
        ]
        ordering = ["effect_id", "index"]

    def __str__(self) -> str:
        return f"{self.type} ({self.state})"
