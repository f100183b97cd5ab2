"""Runs of regression cases, and the turn that a case comes from."""

import django.db.models.deletion
from django.db import migrations, models

from tenancy.baseline import ID, ORGANIZATION
from tenancy.rls import tenant_table
from tenancy.tenant_models import TenantForeignKey

RUN_STATES = [("running", "Running"), ("done", "Done"), ("cancelled", "Canceled")]
RESULT_STATES = [
    ("waiting", "Waiting"),
    ("passed", "Passed"),
    ("failed", "Failed"),
    ("error", "No answer"),
    ("skipped", "Skipped"),
]
CASCADE = django.db.models.deletion.CASCADE


class Migration(migrations.Migration):
    dependencies = [("projects", "0004_lifted_limits"), ("tools", "0006_ticket_answers")]

    operations = [
        migrations.AddField(
            "keptcase",
            "turn_id",
            models.UUIDField(editable=False, help_text="the turn whose reply the answer is", null=True),
        ),
        migrations.CreateModel(
            name="EvaluationRun",
            fields=[
                ID,
                ("number", models.PositiveIntegerField()),
                ("model", models.CharField(max_length=120)),
                ("state", models.CharField(choices=RUN_STATES, default="running", max_length=10)),
                ("reason", models.CharField(blank=True, max_length=300)),
                ("started_by", models.CharField(blank=True, max_length=400)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ORGANIZATION,
                (
                    "project",
                    TenantForeignKey(on_delete=CASCADE, related_name="evaluation_runs", to="projects.project"),
                ),
            ],
            options={
                "ordering": ["-number"],
                "constraints": [
                    models.UniqueConstraint(fields=["organization", "project", "number"], name="one_run_per_number"),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "running")),
                        fields=["organization", "project"],
                        name="one_running_evaluation",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="CaseResult",
            fields=[
                ID,
                ("state", models.CharField(choices=RESULT_STATES, default="waiting", max_length=10)),
                ("outcomes", models.JSONField(default=dict)),
                ("error", models.CharField(blank=True, max_length=300)),
                ("finished_at", models.DateTimeField(null=True)),
                ORGANIZATION,
                ("run", TenantForeignKey(on_delete=CASCADE, related_name="results", to="tools.evaluationrun")),
                ("case", TenantForeignKey(on_delete=CASCADE, related_name="results", to="tools.keptcase")),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(fields=["organization", "run", "case"], name="one_result_per_case")
                ],
            },
        ),
        tenant_table("tools_evaluationrun", parents={"project_id": "projects_project"}),
        tenant_table(
            "tools_caseresult",
            parents={"run_id": "tools_evaluationrun", "case_id": "tools_keptcase"},
            referenced=False,
        ),
    ]
