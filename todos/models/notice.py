"""Notices to approvers."""

from __future__ import annotations

from django.db import models

from tenancy.tenant_models import TenantForeignKey, TenantModel


class ApproverNotice(TenantModel):
    """The time of the last e-mail to one approver about one project, which limits them to one per 15 minutes."""

    project = TenantForeignKey("projects.Project", related_name="approver_notices")
    member_id = models.UUIDField()
    sent_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "project", "member_id"], name="one_notice_per_approver")
        ]

    def __str__(self) -> str:
        return f"{self.sent_at:%d %b %H:%M}"
