"""Jobs, and the model calls they make."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from projects.common.translation import lazy
from tenancy.tenant_models import DenseTenantModel, TenantForeignKey


class State(models.TextChoices):
    """The state of a job."""

    QUEUED = "queued", lazy("Queued: waits for a worker")
    RUNNING = "running", lazy("Running: a worker holds its lease")
    DONE = "done", lazy("Done: its result is committed")
    FAILED = "failed", lazy("Failed: all attempts are used up; staff may run it again")
    SUPERSEDED = "superseded", lazy("Superseded: newer work of the same subject took its place")
    SKIPPED = "skipped", lazy("Skipped: there was no reason to run it")


LIVE = (State.QUEUED, State.RUNNING)


class Job(DenseTenantModel):
    """One unit of work. The row is authoritative; a Celery message only wakes a worker.

    Jobs of a lane are ordered within `subject_id` (the conversation): the lowest `ordinal` runs first, one at a time.
    `key` makes creation idempotent. `token` is a fencing token: it counts claims, and a worker with an older one can't
    write.
    """

    project = TenantForeignKey("projects.Project", related_name="+", db_index=False)
    lane = models.CharField(max_length=20)
    subject_id = models.UUIDField()
    ordinal = models.PositiveIntegerField()
    key = models.CharField(max_length=120)
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    fair_at = models.DateTimeField()
    run_after = models.DateTimeField()
    lease_until = models.DateTimeField(null=True)
    token = models.BigIntegerField(default=0)
    attempts = models.PositiveSmallIntegerField(default=0)
    interruptions = models.PositiveSmallIntegerField(default=0)
    error = models.TextField(blank=True)
    # The trace that caused the job (`telemetry.place`).
    trace = models.CharField(max_length=55, null=True)  # noqa: DJ001 - null takes no space in most rows
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "key"], name="one_job_per_key"),
            models.UniqueConstraint(
                fields=["lane", "subject_id"], condition=Q(state=State.RUNNING), name="one_running_per_subject"
            ),
        ]
        indexes = [
            models.Index(fields=["lane", "fair_at"], condition=Q(state=State.QUEUED), name="job_claim"),
            models.Index(fields=["lane", "subject_id", "ordinal"], condition=Q(state__in=LIVE), name="job_order"),
            models.Index(fields=["lease_until"], condition=Q(state=State.RUNNING), name="job_lease"),
            # The condition on `token` is always true. Only the count of waiting jobs repeats it, so that the planner
            # doesn't use this index for claims: it looks as small as theirs, but it would read and sort all queued
            # jobs.
            models.Index(
                fields=["organization", "lane"], condition=Q(state=State.QUEUED, token__gte=0), name="job_fairness"
            ),
            models.Index(fields=["organization", "subject_id", "ordinal"], name="job_subject"),
            models.Index(
                fields=["organization", "project", "-finished_at"], condition=Q(state=State.FAILED), name="job_failed"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.lane} {self.ordinal} ({self.state})"


class ModelCall(DenseTenantModel):
    """One model call with its complete input and output."""

    project = TenantForeignKey("projects.Project", related_name="+", db_index=False)
    job = TenantForeignKey("jobs.Job", models.CASCADE, null=True, related_name="model_calls")
    subject_id = models.UUIDField(null=True)
    turn_id = models.UUIDField(null=True)
    skill = models.CharField(max_length=20)
    template_hash = models.CharField(max_length=16)
    model = models.CharField(max_length=120)
    host = models.CharField(max_length=255)
    messages = models.JSONField()
    output = models.TextField(blank=True)
    tool_calls = models.JSONField(default=list)
    input_tokens = models.PositiveIntegerField(default=0)
    cached_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    cost = models.DecimalField(
        max_digits=12, decimal_places=6, null=True, help_text="USD; empty when the model has no price"
    )
    started_at = models.DateTimeField()
    first_token_ms = models.PositiveIntegerField(null=True)
    total_ms = models.PositiveIntegerField()
    attempts = models.PositiveSmallIntegerField(default=1)
    finish = models.CharField(max_length=20, blank=True)
    error = models.CharField(max_length=40, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["organization", "turn_id"], name="call_turn"),
            # Calls without a turn, by the conversation, todo or effect that they were made for.
            models.Index(
                fields=["organization", "subject_id"],
                condition=Q(turn_id__isnull=True, subject_id__isnull=False),
                name="call_subject",
            ),
            # Calls that count toward the project's daily budget; the offline model's cost nothing.
            models.Index(
                fields=["organization", "project", "started_at"],
                include=["cost", "input_tokens", "output_tokens"],
                condition=Q(cost__isnull=True) | Q(cost__gt=0),
                name="call_budget",
            ),
        ]
        ordering = ["started_at"]

    def __str__(self) -> str:
        return f"{self.skill} by {self.model}"


class ModelUsage(DenseTenantModel):
    """The sums of a project's model calls on a day (UTC), by model and skill.

    A trigger of `ModelCall` adds each call in the transaction that stores it, so a call counts exactly once and stays
    counted when its row is deleted. A sum is split into `slot`s, so that concurrent transactions don't wait for each
    other. `unpriced_tokens` are those of calls without a price.
    """

    project = TenantForeignKey("projects.Project", related_name="+", db_index=False)
    day = models.DateField()
    model = models.CharField(max_length=120)
    skill = models.CharField(max_length=20)
    slot = models.PositiveSmallIntegerField()
    calls = models.PositiveIntegerField()
    input_tokens = models.PositiveBigIntegerField()
    cached_tokens = models.PositiveBigIntegerField()
    output_tokens = models.PositiveBigIntegerField()
    unpriced_tokens = models.PositiveBigIntegerField()
    cost = models.DecimalField(max_digits=18, decimal_places=6, help_text="USD")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["organization", "project", "day", "model", "skill", "slot"], name="one_usage_per_slot"
            )
        ]
        ordering = ["-day", "model", "skill"]

    def __str__(self) -> str:
        return f"{self.skill} by {self.model} on {self.day}"
