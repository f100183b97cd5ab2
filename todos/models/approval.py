"""Approvals, standing rules, and notices to approvers."""

from __future__ import annotations

from django.db import models

from tenancy.tenant_models import TenantForeignKey, TenantModel


class StandingRule(TenantModel):
    """A rule such as "always allow this tool with these arguments, within these limits". Ended rules are kept for the
    history.

    `allowed` maps each argument of the tool to its limit: {"equals": …}, {"one_of": […]}, {"at_most": number} or
    {"anything": true}. Arguments that are not listed are forbidden. `most_per_day` limits the approvals per 24 hours.
    """

    project = TenantForeignKey("projects.Project", related_name="standing_rules")
    type = TenantForeignKey("todos.TodoType", null=True, blank=True, related_name="rules")
    tool = models.CharField(max_length=120)
    allowed = models.JSONField(default=dict)
    most_per_day = models.PositiveIntegerField(default=20)
    created_by = models.UUIDField()
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    ended_by = models.UUIDField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["organization", "project", "tool"], name="rule_tool")]
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.tool}, at most {self.most_per_day} a day"


class Approval(TenantModel):
    """One approval of exactly one content of a todo. `content` is what the approver saw, `content_hash` its SHA-256.

    Where a second person is needed, nothing runs until `second_by` is set. `ended_at` is set when an edit, a
    cancellation or the end of the todo revokes the approval. `repeats` are effects of earlier approvals that staff
    chose to execute once more.
    """

    todo = TenantForeignKey("todos.Todo", related_name="approvals")
    version = models.PositiveIntegerField()
    content = models.JSONField()
    content_hash = models.CharField(max_length=64)
    approved_by = models.UUIDField(null=True, help_text="the member; null for a standing rule or an API key")
    key_id = models.UUIDField(null=True, help_text="the API key, if one approved")
    approver = models.CharField(max_length=120, help_text="name of the member, API key or rule")
    rule = TenantForeignKey(StandingRule, null=True, related_name="approvals")
    needs_second = models.BooleanField(default=False)
    second_by = models.UUIDField(null=True)
    second_approver = models.CharField(max_length=120, blank=True)
    second_at = models.DateTimeField(null=True)
    repeats = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "todo", "version"], name="one_approval_per_version"),
        ]
        ordering = ["created_at"]

    def __str__(self) -> str:
        return f"version {self.version} by {self.approver}"

    @property
    def is_complete(self) -> bool:
        """True if nobody else has to approve."""
        return not self.needs_second or self.second_by is not None

    @property
    def is_by_hand(self) -> bool:
        """True if the approved content has no tools, so that a person has to do it."""
        return not self.content["tools"]


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
