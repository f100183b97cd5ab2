"""Todos and their history."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.db import models

from projects.common.translation import lazy
from tenancy.tenant_models import TenantForeignKey, TenantModel
from todos.models.title import LONGEST_TITLE, title_from
from tools.models.promise import PromiseState


class TodoStatus(models.TextChoices):
    """The states of a todo."""

    PENDING_REVIEW = "pending_review", lazy("To review")
    APPROVED = "approved", lazy("Approved")
    IN_PROGRESS = "in_progress", lazy("In progress")
    NEEDS_ATTENTION = "needs_attention", lazy("Needs attention")
    COMPLETED = "completed", lazy("Completed")
    FAILED = "failed", lazy("Failed")
    REJECTED = "rejected", lazy("Rejected")
    EXPIRED = "expired", lazy("Expired")
    CANCELLED = "cancelled", lazy("Cancelled")

    @property
    def predicate(self) -> str:
        """The state as it follows a subject: “This todo needs attention”."""
        own = {self.PENDING_REVIEW: "waits for review", self.NEEDS_ATTENTION: "needs attention"}
        return own.get(self) or f"{'has' if self in (self.FAILED, self.EXPIRED) else 'is'} {self.label.lower()}"

    @property
    def sentence(self) -> str:
        """The state as a sentence for people: “This todo needs attention.”"""
        return str(SENTENCES[self])


SENTENCES: Mapping[TodoStatus, str] = {
    TodoStatus.PENDING_REVIEW: lazy("This todo waits for review."),
    TodoStatus.APPROVED: lazy("This todo is approved."),
    TodoStatus.IN_PROGRESS: lazy("This todo is in progress."),
    TodoStatus.NEEDS_ATTENTION: lazy("This todo needs attention."),
    TodoStatus.COMPLETED: lazy("This todo is completed."),
    TodoStatus.FAILED: lazy("This todo has failed."),
    TodoStatus.REJECTED: lazy("This todo is rejected."),
    TodoStatus.EXPIRED: lazy("This todo has expired."),
    TodoStatus.CANCELLED: lazy("This todo is canceled."),
}


class TodoSource(models.TextChoices):
    """The origin of a todo."""

    EXTRACTION = "extraction", lazy("Taken from a conversation")
    TOOL = "tool", lazy("A tool that needs approval")
    PROMISE = "promise", lazy("A promise that no tool can keep")
    MAKE_GOOD = "make_good", lazy("A promise that was broken")
    PERSON = "person", lazy("Made by a person")
    API = "api", lazy("Made by the API")


class Todo(TenantModel):
    """A task that a person approves. `version` increases with every change that needs approval.

    `description` is the task, `title` its name in lists; an empty one is made from the task (`heading`).

    A todo with `tool` and `arguments` runs exactly those, without a model. `recipients` are the addresses that
    send_email may write to: proposed with the todo, frozen by the approval. `effect` is the planned effect that the
    todo runs once approved; `quote` the agent's words that the todo comes from. `source_key` is unique per source, so
    that it makes one todo only. `taker` is the name of whoever does the todo by hand; no tool runs then.
    """

    project = TenantForeignKey("projects.Project", related_name="todos")
    type = TenantForeignKey("todos.TodoType", null=True, blank=True, related_name="todos")
    title = models.CharField(max_length=LONGEST_TITLE, blank=True, default="", db_default="")
    description = models.TextField()
    status = models.CharField(max_length=16, choices=TodoStatus.choices, default=TodoStatus.PENDING_REVIEW)
    reason = models.CharField(max_length=500, blank=True, help_text="reason for the current status")
    source = models.CharField(max_length=12, choices=TodoSource.choices)
    source_key = models.CharField(max_length=120, blank=True)
    conversation_id = models.UUIDField(null=True, blank=True)
    turn_id = models.UUIDField(null=True, blank=True)
    persona_id = models.UUIDField(null=True, blank=True)
    promise = TenantForeignKey("tools.Promise", null=True, blank=True, related_name="todos")
    effect = TenantForeignKey("tools.Effect", null=True, blank=True, related_name="todos")
    quote = models.TextField(blank=True)
    tool = models.CharField(max_length=120, blank=True)
    arguments = models.JSONField(null=True, blank=True)
    recipients = models.JSONField(default=list, blank=True)
    repeats = models.JSONField(default=list, blank=True, help_text="effects of earlier runs to execute again")
    version = models.PositiveIntegerField(default=1)
    created_by = models.UUIDField(null=True, blank=True)
    taken_by = models.UUIDField(null=True, blank=True, help_text="the member or API key doing it by hand")
    taker = models.CharField(max_length=120, blank=True, help_text="name of whoever does it by hand")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    status_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["organization", "source_key"], condition=~models.Q(source_key=""), name="one_todo_per_source"
            )
        ]
        indexes = [
            models.Index(fields=["organization", "project", "status", "-status_at", "-id"], name="todo_board"),
            models.Index(fields=["organization", "project", "-created_at", "-id"], name="todo_list"),
            models.Index(fields=["organization", "conversation_id"], name="todo_conversation"),
            models.Index(fields=["organization", "persona_id"], name="todo_persona"),
            models.Index(fields=["organization", "turn_id"], name="todo_turn"),
            models.Index(
                fields=["expires_at"],
                condition=models.Q(status__in=["pending_review", "approved"]),
                name="todo_expiry",
            ),
            models.Index(
                fields=["organization", "project", "status", "conversation_id", "status_at"],
                include=["tool", "type"],
                condition=models.Q(status__in=["pending_review", "needs_attention", "approved"]),
                name="todo_waiting",
            ),
        ]
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.heading} ({self.status})"

    @property
    def heading(self) -> str:
        """The title, or one made from the task."""
        return self.title or title_from(self.description)

    @property
    def promise_due_at(self) -> datetime | None:
        """When its promise is due; None without one that is open."""
        promise = self.promise
        return promise.due_at if promise is not None and promise.state == PromiseState.OPEN else None


class TodoEvent(TenantModel):
    """One entry of a todo's history. Never changed."""

    todo = TenantForeignKey(Todo, related_name="history")
    what = models.CharField(max_length=40)
    from_status = models.CharField(max_length=16, blank=True)
    to_status = models.CharField(max_length=16, blank=True)
    version = models.PositiveIntegerField()
    actor_id = models.UUIDField(null=True, help_text="the member; null for the agent, a rule or an API key")
    actor = models.CharField(max_length=120, blank=True, help_text="name of the author")
    detail = models.JSONField(default=dict)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["organization", "todo", "at"], name="todo_history")]
        ordering = ["at", "id"]

    def __str__(self) -> str:
        return f"{self.what} ({self.at:%d %b %H:%M})"
