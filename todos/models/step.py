"""The executor's steps: what the model decided, and what came of it."""

from __future__ import annotations

from django.core.validators import MaxValueValidator
from django.db import models

from tenancy.tenant_models import TenantForeignKey, TenantModel

MOST_STEPS = 10


class TodoStep(TenantModel):
    """One answer of the model, stored before anything acts on it (T6). `number` counts from 1 to 10 within an approval (T5).

    A run of frozen arguments has one step without a model: `model` is empty then. `content` is what the model said beside
    its calls. `cost` is in US dollars, None where the price isn't known.
    """

    todo = TenantForeignKey("todos.Todo", related_name="steps")
    approval = TenantForeignKey("todos.Approval", related_name="steps")
    number = models.PositiveSmallIntegerField(validators=[MaxValueValidator(MOST_STEPS)])
    content = models.TextField(blank=True)
    model = models.CharField(max_length=120, blank=True)
    cost = models.DecimalField(max_digits=12, decimal_places=6, null=True)
    total_ms = models.PositiveIntegerField(null=True)
    started_at = models.DateTimeField(help_text="the database's time, as of all that follows")
    finished_at = models.DateTimeField(null=True, help_text="when every call of it had its result")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "approval", "number"], name="one_step_per_number"),
            models.CheckConstraint(condition=models.Q(number__gte=1, number__lte=MOST_STEPS), name="at_most_ten_steps"),
        ]
        ordering = ["started_at", "number"]

    def __str__(self) -> str:
        return f"step {self.number}"


class TodoCall(TenantModel):
    """One tool call of a step. Every call gets its `result`, the text that the model is given back (T8).

    `arguments` is None when the model's text was no JSON object. `effect` is the ledger's row of it, none for a call that was
    refused.
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
