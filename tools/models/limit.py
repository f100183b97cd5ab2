"""Limits of projects and organizations, alerts about them, and the e-mails about those."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from projects.common.translation import lazy
from tenancy.tenant_models import TenantForeignKey, TenantModel


class Limit(models.TextChoices):
    """The matters that are limited."""

    SMS = "sms", lazy("Text messages a day")
    EMAIL = "email", lazy("E-mails a day")
    CODES = "verification_code", lazy("Verification codes a day")
    SMS_VISITORS = "sms_visitors", lazy("Text messages to anonymous visitors in ten minutes")
    EMAIL_VISITORS = "email_visitors", lazy("E-mails to anonymous visitors in ten minutes")
    MODEL_COST = "model_cost", lazy("Model cost a day")
    MODEL_TOKENS = "model_tokens", lazy("Model tokens a day")
    MONTH_COST = "model_month_cost", lazy("Model cost a month")
    MONTH_TOKENS = "model_month_tokens", lazy("Model tokens a month")
    TURNS = "turns", lazy("Turns a minute")
    STORAGE = "storage", lazy("Storage")
    OPEN = "open_conversations", lazy("Open conversations")


# Limits of an organization, beside those of its projects.
OF_ORGANIZATIONS: tuple[str, ...] = (
    Limit.MONTH_COST,
    Limit.MONTH_TOKENS,
    Limit.TURNS,
    Limit.STORAGE,
    Limit.OPEN,
)
CHOICES = [(limit, Limit(limit).label) for limit in OF_ORGANIZATIONS]


class LimitAlert(TenantModel):
    """A limit that was nearly used up, or that stopped something, with the use at that time.

    One `of_organization` holds for all its projects; `project` is the one whose work it was noticed at. Lifting a
    reached limit adds `most` to it for a day.
    """

    project = TenantForeignKey("projects.Project", related_name="limit_alerts")
    limit = models.CharField(max_length=20, choices=Limit.choices)
    of_organization = models.BooleanField(default=False, db_default=False)
    is_reached = models.BooleanField()
    used = models.PositiveBigIntegerField()
    most = models.PositiveBigIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)
    lifted_at = models.DateTimeField(null=True)
    lifted_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        indexes = [models.Index(fields=["organization", "project", "-created_at"], name="limit_alert_recent")]
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.limit}: {self.used} of {self.most}"


class LimitNotice(TenantModel):
    """The time of the last e-mail to a member about a project's limits."""

    project = TenantForeignKey("projects.Project", related_name="limit_notices")
    member = TenantForeignKey("projects.Member", related_name="+")
    sent_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "project", "member"], name="one_limit_notice")]

    def __str__(self) -> str:
        return f"limit notice of {self.sent_at}"


class OrganizationLimit(TenantModel):
    """A limit that an owner has set for all projects of the organization together."""

    limit = models.CharField(max_length=20, choices=CHOICES)
    most = models.PositiveBigIntegerField()
    set_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    set_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "limit"], name="one_organization_limit")]

    def __str__(self) -> str:
        return f"{self.limit}: {self.most}"


class OperatorLimit(TenantModel):
    """A limit that the operator of the installation has set for an organization. Only mg_ops may write it."""

    limit = models.CharField(max_length=20, choices=CHOICES)
    most = models.PositiveBigIntegerField(help_text="in the unit of the limit: USD, tokens, turns, MB or conversations")
    set_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "limit"], name="one_operator_limit")]

    def __str__(self) -> str:
        return f"{self.limit}: {self.most}"
