"""Chats of messengers: the conversation that each belongs to, what arrived, and how far each answer came."""

from __future__ import annotations

from django.db import models

from projects.common.translation import lazy
from tenancy.tenant_models import TenantForeignKey, TenantModel
from tools.models import ReceiptState


class Chat(TenantModel):
    """One chat at a provider: a customer's chat with the account of the business. It is one conversation.

    `account` is the provider's id of the business's own side, such as a bot or a number, and `external_id` that of the
    chat. Both stay the same when the channel is disconnected and connected again. `contact` is the customer's number or
    address, if the provider vouches for it. Once `opted_out_at` is set, nothing is sent to it. `heard_at` is the
    provider's time of the customer's newest message.
    """

    project = TenantForeignKey("projects.Project", related_name="chats", db_index=False)
    kind = models.CharField(max_length=20)
    account = models.CharField(max_length=100)
    external_id = models.CharField(max_length=200)
    contact = models.CharField(max_length=254, blank=True, default="")
    conversation = TenantForeignKey("conversations.Conversation", null=True, related_name="chats")
    opted_out_at = models.DateTimeField(null=True)
    heard_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["organization", "project", "kind", "account", "external_id"], name="one_chat_per_external_id"
            )
        ]
        indexes = [
            models.Index(
                fields=["organization", "project", "contact"], condition=~models.Q(contact=""), name="chat_contact"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.external_id}"


class DeliveryResult(models.TextChoices):
    """The result of an item that a provider delivered.

    ANSWERED: a message, left to the agent or to who has the conversation. STORED: a message without an answer. KEYWORD: a
    word such as STOP, obeyed at once. RECEIPT: how far a message of ours came. IGNORED: nothing that a conversation is
    made of. REFUSED: malformed.
    """

    ANSWERED = "answered", lazy("Answered")
    STORED = "stored", lazy("Stored")
    KEYWORD = "keyword", lazy("Keyword")
    RECEIPT = "receipt", lazy("Receipt")
    IGNORED = "ignored", lazy("Ignored")
    REFUSED = "refused", lazy("Refused")


class Delivery(TenantModel):
    """One item that a provider delivered. `external_id` is the provider's, so that a repeated item is known.

    `body` is the item as it came, kept only if it belongs to a conversation. `sent_at` is the provider's time.
    """

    project = TenantForeignKey("projects.Project", related_name="deliveries", db_index=False)
    kind = models.CharField(max_length=20)
    account = models.CharField(max_length=100)
    external_id = models.CharField(max_length=200)
    conversation = TenantForeignKey("conversations.Conversation", null=True, related_name="deliveries")
    message = TenantForeignKey("conversations.Message", null=True, related_name="deliveries")
    # The provider's id of the message, by which a later edit finds it.
    message_ref = models.CharField(max_length=200, blank=True)
    result = models.CharField(max_length=10, choices=DeliveryResult.choices)
    detail = models.CharField(max_length=300, blank=True)
    body = models.JSONField(default=dict)
    sent_at = models.DateTimeField(null=True)
    received_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["organization", "project", "kind", "account", "external_id"],
                name="one_delivery_per_external_id",
            )
        ]
        indexes = [
            models.Index(fields=["organization", "project", "kind", "-received_at"], name="delivery_recent"),
            models.Index(
                fields=["organization", "conversation", "message_ref"],
                condition=~models.Q(message_ref=""),
                name="delivery_message_ref",
            ),
        ]
        ordering = ["-received_at"]

    def __str__(self) -> str:
        return f"{self.kind} {self.external_id} ({self.result})"


class DeliveredFile(TenantModel):
    """The content of a file that came with its message, until a job attaches it. `number` is its place in the message."""

    message = TenantForeignKey("conversations.Message", related_name="delivered_files", db_index=False)
    number = models.PositiveSmallIntegerField()
    content = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "message", "number"], name="one_delivered_file_per_number")
        ]

    def __str__(self) -> str:
        return f"{self.message_id} {self.number}"


class Receipt(TenantModel):
    """One part of a message on its way to a chat. A long message has several, sent in the order of `part`.

    `effect` is in the ledger; null if none was planned. `external_id` is the provider's id,
    which its callbacks name. `reason` says in plain words why it failed.
    """

    conversation = TenantForeignKey("conversations.Conversation", related_name="receipts")
    message = TenantForeignKey("conversations.Message", related_name="receipts", db_index=False)
    chat = TenantForeignKey(Chat, related_name="receipts")
    part = models.PositiveSmallIntegerField(default=0)
    effect = TenantForeignKey("tools.Effect", null=True, related_name="receipts", db_index=False)
    external_id = models.CharField(max_length=200, blank=True)
    state = models.CharField(max_length=10, choices=ReceiptState.choices, default=ReceiptState.ACCEPTED)
    reason = models.CharField(max_length=300, blank=True)
    accepted_at = models.DateTimeField(auto_now_add=True)
    sent_at = models.DateTimeField(null=True)
    delivered_at = models.DateTimeField(null=True)
    read_at = models.DateTimeField(null=True)
    failed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "message", "part"], name="one_receipt_per_part")]
        indexes = [
            models.Index(fields=["organization", "effect"], name="receipt_effect"),
            models.Index(
                fields=["organization", "external_id"], condition=~models.Q(external_id=""), name="receipt_external"
            ),
        ]
        ordering = ["message_id", "part"]

    def __str__(self) -> str:
        return f"part {self.part} ({self.state})"


class ChannelLink(TenantModel):
    """The provider's word on a connected channel. The connection itself is a `projects.Source`.

    `name` is the account's name as customers see it. `problem` says why the provider didn't accept our webhook; empty
    if it did, at `connected_at`. Until `paused_until`, a limit of the provider holds back what goes out, and
    `next_at` is the time after which the next of it is sent. `cursor` says how far a mailbox was read, and the key of the job
    that reads it. Until `watched_until`, the worker process `watched_by` listens to the mailbox.
    """

    project = TenantForeignKey("projects.Project", related_name="channel_links", db_index=False)
    kind = models.CharField(max_length=20)
    account = models.CharField(max_length=100)
    name = models.CharField(max_length=200, blank=True)
    problem = models.CharField(max_length=300, blank=True)
    connected_at = models.DateTimeField(null=True)
    cursor = models.JSONField(default=dict, db_default={})
    tried_at = models.DateTimeField(auto_now=True)
    paused_until = models.DateTimeField(null=True)
    next_at = models.DateTimeField(null=True)
    watched_by = models.UUIDField(null=True)
    watched_until = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "project", "kind"], name="one_channel_link_per_kind")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"
