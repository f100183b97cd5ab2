"""Types of todos: how they are found in conversations, who approves them, and which tools may run."""

from __future__ import annotations

from django.db import models

from projects.common.translation import lazy
from projects.models import Role
from tenancy.tenant_models import TenantForeignKey, TenantModel


class SecondApprover(models.TextChoices):
    """When a second person has to approve."""

    NEVER = "never", lazy("Never")
    ABOVE = "above", lazy("When an argument is above a limit")
    ALWAYS = "always", lazy("Always")


class TodoType(TenantModel):
    """A type of todo in a project.

    `description` tells the extraction what to look for. `tools` lists the only tools the executor may use. `model` is
    the executor's model, the project's own if empty. `recipients` are the addresses for todos that have none of their
    own. With `second_approver` "above", the frozen argument named `limit_argument` is compared with `limit_value`.
    """

    project = TenantForeignKey("projects.Project", related_name="todo_types")
    name = models.CharField(max_length=80)
    description = models.TextField()
    tools = models.JSONField(default=list, help_text="names of tools, in the order they are offered")
    model = models.CharField(max_length=120, blank=True)
    recipients = models.JSONField(default=list, blank=True, help_text="recipients of todos that have none of their own")
    approver_role = models.CharField(max_length=10, choices=Role.choices, default=Role.OPERATOR)
    second_approver = models.CharField(max_length=8, choices=SecondApprover.choices, default=SecondApprover.NEVER)
    limit_argument = models.CharField(max_length=80, blank=True)
    limit_value = models.DecimalField(max_digits=14, decimal_places=2, null=True, blank=True)
    expires_after_hours = models.PositiveIntegerField(
        default=168, help_text="how long to wait for an approval, and how long it is valid"
    )
    is_extracted = models.BooleanField(default=True, help_text="search conversations for it when they end")
    is_removed = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["organization", "project", "name"],
                condition=models.Q(is_removed=False),
                name="one_todo_type_per_name",
            )
        ]
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
