"""What was approved, by whom; and what needs no person any more."""

from __future__ import annotations

from django.db import models

from tenancy.tenant_models import TenantForeignKey, TenantModel


class StandingRule(TenantModel):
    """ "Always allow this tool with these arguments, within these limits". A rule that was ended stays, for the history.

    `allowed` holds for every argument of the tool what may stand in it: {"equals": …}, {"one_of": […]}, {"at_most": number}
    or {"anything": true}; an argument that isn't named forbids. `most_per_day` counts what the rule let through.
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
    """One yes to exactly one content of a todo (T1, T3). `content` is what was seen, `content_hash` its SHA-256.

    Where a second person is needed nothing runs before `second_by` stands. `ended_at` is set when it was revoked by an edit, a
    cancellation or the todo's end. `repeats` are effects of earlier approvals that staff ticked to be done once more (T11).
    """

    todo = TenantForeignKey("todos.Todo", related_name="approvals")
    version = models.PositiveIntegerField()
    content = models.JSONField()
    content_hash = models.CharField(max_length=64)
    approved_by = models.UUIDField(null=True, help_text="the member; none for a standing rule or an API key")
    key_id = models.UUIDField(null=True, help_text="the API key that did it, if one did")
    approver = models.CharField(max_length=120, help_text="who it was, in words")
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
        """Whether everybody who has to has said yes."""
        return not self.needs_second or self.second_by is not None

    @property
    def is_by_hand(self) -> bool:
        """Whether what was approved names no tool, so that a person has to do it."""
        return not self.content["tools"]
