"""Runs of a project's regression cases, and the result of each case."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from projects.common.translation import lazy
from tenancy.tenant_models import TenantForeignKey, TenantModel
from tools.models.case import KeptCase


class RunState(models.TextChoices):
    RUNNING = "running", lazy("Running")
    DONE = "done", lazy("Done")
    CANCELLED = "cancelled", lazy("Canceled")


class ResultState(models.TextChoices):
    """The state of a case in a run. `error` is a case without an answer of the model."""

    WAITING = "waiting", lazy("Waiting")
    PASSED = "passed", lazy("Passed")
    FAILED = "failed", lazy("Failed")
    ERROR = "error", lazy("No answer")
    SKIPPED = "skipped", lazy("Skipped")


class EvaluationRun(TenantModel):
    """One run of all kept cases with one model. `number` counts within the project; `reason` says why it was canceled."""

    project = TenantForeignKey("projects.Project", related_name="evaluation_runs")
    number = models.PositiveIntegerField()
    model = models.CharField(max_length=120)
    state = models.CharField(max_length=10, choices=RunState.choices, default=RunState.RUNNING)
    reason = models.CharField(max_length=300, blank=True)
    started_by = models.CharField(max_length=400, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "project", "number"], name="one_run_per_number"),
            models.UniqueConstraint(
                fields=["organization", "project"], condition=Q(state=RunState.RUNNING), name="one_running_evaluation"
            ),
        ]
        ordering = ["-number"]

    def __str__(self) -> str:
        return f"#{self.number} {self.model} ({self.state})"


class CaseResult(TenantModel):
    """The result of a case in a run. `outcomes` maps each tool to "fired" or the rule that held it back."""

    run = TenantForeignKey(EvaluationRun, related_name="results")
    case = TenantForeignKey(KeptCase, related_name="results")
    state = models.CharField(max_length=10, choices=ResultState.choices, default=ResultState.WAITING)
    outcomes = models.JSONField(default=dict)
    error = models.CharField(max_length=300, blank=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "run", "case"], name="one_result_per_case"),
        ]
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.case_id} ({self.state})"
