"""Notices to members, how each member wants them, the browsers that get them, and when they were last e-mailed."""

from __future__ import annotations

from django.db import models

from projects.common.translation import lazy
from tenancy.tenant_models import TenantForeignKey, TenantModel


class NoticeKind(models.TextChoices):
    """The matters that members are notified of."""

    WAITS = "conversation_waits", lazy("A customer asks for a person")
    ASSIGNED = "assigned", lazy("A conversation is assigned to you")
    MENTIONED = "mentioned", lazy("A colleague mentions you in a note")
    TO_REVIEW = "todo_to_review", lazy("A todo needs approval")
    TODO_FAILED = "todo_failed", lazy("A todo failed or needs attention")
    UNKNOWN = "outcome_unknown", lazy("The outcome of an effect is unknown")
    BROKEN = "promise_broken", lazy("A promise was broken")
    RATED_BADLY = "rated_badly", lazy("A customer gave a bad rating")
    LIMIT = "limit", lazy("A limit is nearly used up or reached")
    RECONNECT = "reconnect", lazy("An integration must be reconnected")


class Way(models.TextChoices):
    """The ways by which a notice reaches its member."""

    BELL = "bell", lazy("Bell")
    BROWSER = "browser", lazy("Browser")
    EMAIL = "email", lazy("E-mail")
    SLACK = "slack", "Slack"


class Frequency(models.TextChoices):
    """How often e-mails and Slack messages are sent."""

    AT_ONCE = "at_once", lazy("At once")
    HOURLY = "hourly", lazy("At most hourly")
    DAILY = "daily", lazy("At most daily")


class Send(models.TextChoices):
    """The state of a notice in one way. `sending` is committed before anything leaves."""

    NONE = "", lazy("Not wanted")
    DUE = "due", lazy("Due")
    SENDING = "sending", lazy("Sending")
    SENT = "sent", lazy("Sent")
    FAILED = "failed", lazy("Refused")
    UNKNOWN = "unknown", lazy("Unknown: it is not sent again")


class Notice(TenantModel):
    """One matter for one member. `subject` identifies the matter: the same one again raises the row anew, once it was
    read.

    `object_id` is the conversation, todo or effect that the notice leads to. `browser`, `email` and `slack` are the
    states of its sends; the e-mails of some kinds are sent from what is waiting (`notices.digest`), without a state here.
    """

    project = TenantForeignKey("projects.Project", related_name="notices")
    member = TenantForeignKey("projects.Member", related_name="notices")
    kind = models.CharField(max_length=20, choices=NoticeKind.choices)
    subject = models.CharField(max_length=80)
    object_id = models.UUIDField(null=True)
    text = models.CharField(max_length=200)
    in_bell = models.BooleanField(default=True)
    browser = models.CharField(max_length=8, choices=Send.choices, blank=True, default=Send.NONE)
    email = models.CharField(max_length=8, choices=Send.choices, blank=True, default=Send.NONE)
    slack = models.CharField(max_length=8, choices=Send.choices, blank=True, default=Send.NONE)
    created_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "member", "kind", "subject"], name="one_notice_per_subject")
        ]
        indexes = [
            models.Index(fields=["organization", "member", "project", "-created_at"], name="notice_list"),
            models.Index(
                fields=["organization", "kind", "subject"], condition=models.Q(read_at=None), name="notice_unread"
            ),
            models.Index(
                fields=["organization", "object_id"],
                condition=models.Q(object_id__isnull=False),
                name="notice_object",
            ),
        ]
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


class NoticeSettings(TenantModel):
    """How a member wants to be notified. `ways` holds a list of ways for each kind that differs from the default.

    In quiet hours, which may pass midnight, only the bell is used. `slack_url` is the encrypted address of an incoming
    webhook, `slack_error` the reason for which the last message was refused.
    """

    member = TenantForeignKey("projects.Member", related_name="notice_settings")
    ways = models.JSONField(default=dict)
    frequency = models.CharField(max_length=8, choices=Frequency.choices, default=Frequency.AT_ONCE)
    quiet_from = models.TimeField(null=True)
    quiet_to = models.TimeField(null=True)
    timezone = models.CharField(max_length=64, default="UTC")
    slack_url = models.TextField(blank=True)
    slack_error = models.CharField(max_length=300, blank=True)
    slack_sent_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "notice settings"
        constraints = [models.UniqueConstraint(fields=["organization", "member"], name="one_notice_settings")]

    def __str__(self) -> str:
        return f"notices of {self.member_id}"


class NoticeEmail(TenantModel):
    """The time of the last e-mail to a member about a project's notices."""

    project = TenantForeignKey("projects.Project", related_name="notice_emails")
    member = TenantForeignKey("projects.Member", related_name="+")
    sent_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "project", "member"], name="one_notice_email")]

    def __str__(self) -> str:
        return f"notice e-mail of {self.sent_at}"


class PushSubscription(TenantModel):
    """A member's browser that takes push messages.

    `browser` is the digest of its endpoint, the same in each organization of the person. `secret` holds the endpoint and
    the browser's keys, encrypted. `error` is the reason for which the last message was refused. After `failures` in a
    row, the next message waits until `retry_at`. `digest_at` is the time of the last message that could wait.
    """

    member = TenantForeignKey("projects.Member", related_name="push_subscriptions")
    browser = models.CharField(max_length=64)
    name = models.CharField(max_length=60)
    secret = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)
    sent_at = models.DateTimeField(null=True)
    digest_at = models.DateTimeField(null=True)
    error = models.CharField(max_length=300, blank=True)
    failures = models.PositiveSmallIntegerField(default=0)
    retry_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "member", "browser"], name="one_push_subscription")
        ]

    def __str__(self) -> str:
        return self.name


class PushMessage(TenantModel):
    """A notice that a browser has not been sent yet. The row is deleted when its message is out, or not needed any more.

    A notice that is raised anew gives it another id, so that the end of an earlier message doesn't delete it.
    """

    subscription = TenantForeignKey(PushSubscription, related_name="messages")
    notice_id = models.UUIDField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "subscription", "notice_id"], name="one_push_message")
        ]
        indexes = [models.Index(fields=["organization", "notice_id"], name="push_message_notice")]

    def __str__(self) -> str:
        return f"push message of {self.notice_id}"
