"""Steps of a run: the model's decisions and the results of its tool calls."""

from __future__ import annotations

from django.core.validators import MaxValueValidator
from django.db import models

from tenancy.tenant_models import TenantForeignKey, TenantModel

MOST_STEPS = 10


class TodoStep(TenantModel):
    """One response of the model, stored before it is acted on. `number` counts from 1 to 10 within an approval.

    A run with frozen arguments has one step without a model: `model` is empty. `content` is the text beside the calls.
    `cost` is in US dollars, None if the price is unknown.
    """

    todo = TenantForeignKey("todos.Todo", related_name="steps")
    approval = TenantForeignKey("todos.Approval", related_name="steps")
    number = models.PositiveSmallIntegerField(validators=[MaxValueValidator(MOST_STEPS)])
    content = models.TextField(blank=True)
    model = models.CharField(max_length=120, blank=True)
    cost = models.DecimalField(max_digits=12, decimal_places=6, null=True)
    total_ms = models.PositiveIntegerField(null=True)
    started_at = models.DateTimeField(help_text="by the database's clock, like all times of a run")
    finished_at = models.DateTimeField(null=True, help_text="when its last call got a result")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "approval", "number"], name="one_step_per_number"),
            models.CheckConstraint(condition=models.Q(number__gte=1, number__lte=MOST_STEPS), name="at_most_ten_steps"),
        ]
        ordering = ["started_at", "number"]

    def __str__(self) -> str:
        return f"step {self.number}"


class TodoCall(TenantModel):
    """One tool call of a step. Every call gets a `result`, the text that is returned to the model.

    `arguments` is None if the model did not return a JSON object. `effect` is the call's ledger entry, None for a
    refused call.
    """

    step = TenantForeignKey(TodoStep, related_name="calls")
    index = models.PositiveSmallIntegerField()
    call_id = models.CharField(max_length=120)
    name = models.CharField(max_length=120)
    arguments_text = models.TextField()
    arguments = models.JSONField(null=True)
    effect = TenantForeignKey("tools.Effect", null=True, related_name="todo_calls")
    result = models.TextField(blank=True)
    is_error = models.BooleanField(default=False)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "step", "index"], name="one_call_per_index")]
        ordering = ["step_id", "index"]

    def __str__(self) -> str:
        return self.name
