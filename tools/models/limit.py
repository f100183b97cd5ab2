"""Limits of a project that are half used or reached, and the e-mails about them."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from tenancy.tenant_models import TenantForeignKey, TenantModel


class Limit(models.TextChoices):
    """A limit of a whole project, and what it counts."""

    SMS = "sms", "text messages a day"
    EMAIL = "email", "e-mails a day"
    CODES = "verification_code", "verification codes a day"
    SMS_VISITORS = "sms_visitors", "text messages to anonymous visitors in ten minutes"
    EMAIL_VISITORS = "email_visitors", "e-mails to anonymous visitors in ten minutes"
    MODEL_COST = "model_cost", "USD of model cost a day"
    MODEL_TOKENS = "model_tokens", "model tokens a day"


class LimitAlert(TenantModel):
    """A limit that was half used, or that stopped something, with the use at that time.

    Lifting a reached limit adds `most` to it for a day.
    """

    project = TenantForeignKey("projects.Project", related_name="limit_alerts")
    limit = models.CharField(max_length=20, choices=Limit.choices)
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
