"""When an approver was last written to."""

from __future__ import annotations

from django.db import models

from tenancy.tenant_models import TenantForeignKey, TenantModel


class ApproverNotice(TenantModel):
    """The last e-mail to one approver of one project: at most one in a quarter of an hour."""

    project = TenantForeignKey("projects.Project", related_name="approver_notices")
    member_id = models.UUIDField()
    sent_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "project", "member_id"], name="one_notice_per_approver")
        ]

    def __str__(self) -> str:
        return f"{self.sent_at:%d %b %H:%M}"
