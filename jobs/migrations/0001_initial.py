from django.db import migrations, models

from tenancy.baseline import DENSE_ORGANIZATION, ID, CreateTables
from tenancy.rls import combine, tenant_table
from tenancy.tenant_models import TenantForeignKey

PROJECT = {"project_id": "projects_project"}


class Migration(migrations.Migration):
    initial = True

    dependencies = [("projects", "0002_organizations")]

    operations = [
        CreateTables(
            [
                migrations.CreateModel(
                    "Job",
                    fields=[
                        ID,
                        ("lane", models.CharField(max_length=20)),
                        ("subject_id", models.UUIDField()),
                        ("ordinal", models.PositiveIntegerField()),
                        ("key", models.CharField(max_length=120)),
                        (
                            "state",
                            models.CharField(
                                max_length=10,
                                default="queued",
                                choices=[
                                    ("queued", "Queued: waits for a worker"),
                                    ("running", "Running: a worker holds its lease"),
                                    ("done", "Done: its result is committed"),
                                    ("failed", "Failed: all attempts are used up; staff may run it again"),
                                    ("superseded", "Superseded: newer work of the same subject took its place"),
                                    ("skipped", "Skipped: there was no reason to run it"),
                                ],
                            ),
                        ),
                        ("fair_at", models.DateTimeField()),
                        ("run_after", models.DateTimeField()),
                        ("lease_until", models.DateTimeField(null=True)),
                        ("token", models.BigIntegerField(default=0)),
                        ("attempts", models.PositiveSmallIntegerField(default=0)),
                        ("interruptions", models.PositiveSmallIntegerField(default=0)),
                        ("error", models.TextField(blank=True)),
                        ("created_at", models.DateTimeField()),
                        ("started_at", models.DateTimeField(null=True)),
                        ("finished_at", models.DateTimeField(null=True)),
                        DENSE_ORGANIZATION,
                        (
                            "project",
                            TenantForeignKey(
                                related_name="+", on_delete=models.CASCADE, to="projects.project", db_index=False
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                condition=models.Q(("state", "queued")), fields=["lane", "fair_at"], name="job_claim"
                            ),
                            models.Index(
                                condition=models.Q(("state__in", ("queued", "running"))),
                                fields=["lane", "subject_id", "ordinal"],
                                name="job_order",
                            ),
                            models.Index(
                                condition=models.Q(("state", "running")), fields=["lease_until"], name="job_lease"
                            ),
                            models.Index(fields=["organization", "subject_id", "ordinal"], name="job_subject"),
                            models.Index(
                                condition=models.Q(("state", "failed")),
                                fields=["organization", "project", "-finished_at"],
                                name="job_failed",
                            ),
                            models.Index(
                                condition=models.Q(("state", "queued"), ("token__gte", 0)),
                                fields=["organization", "lane"],
                                name="job_fairness",
                            ),
                        ],
                        "constraints": [
                            models.UniqueConstraint(fields=("organization", "key"), name="one_job_per_key"),
                            models.UniqueConstraint(
                                condition=models.Q(("state", "running")),
                                fields=("lane", "subject_id"),
                                name="one_running_per_subject",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    "ModelCall",
                    fields=[
                        ID,
                        ("subject_id", models.UUIDField(null=True)),
                        ("turn_id", models.UUIDField(null=True)),
                        ("skill", models.CharField(max_length=20)),
                        ("template_hash", models.CharField(max_length=16)),
                        ("model", models.CharField(max_length=120)),
                        ("host", models.CharField(max_length=255)),
                        ("messages", models.JSONField()),
                        ("output", models.TextField(blank=True)),
                        ("tool_calls", models.JSONField(default=list)),
                        ("input_tokens", models.PositiveIntegerField(default=0)),
                        ("cached_tokens", models.PositiveIntegerField(default=0)),
                        ("output_tokens", models.PositiveIntegerField(default=0)),
                        (
                            "cost",
                            models.DecimalField(
                                null=True,
                                help_text="USD; empty when the model has no price",
                                max_digits=12,
                                decimal_places=6,
                            ),
                        ),
                        ("started_at", models.DateTimeField()),
                        ("first_token_ms", models.PositiveIntegerField(null=True)),
                        ("total_ms", models.PositiveIntegerField()),
                        ("attempts", models.PositiveSmallIntegerField(default=1)),
                        ("finish", models.CharField(max_length=20, blank=True)),
                        ("error", models.CharField(max_length=40, blank=True)),
                        (
                            "job",
                            TenantForeignKey(
                                null=True, related_name="model_calls", on_delete=models.CASCADE, to="jobs.job"
                            ),
                        ),
                        DENSE_ORGANIZATION,
                        (
                            "project",
                            TenantForeignKey(
                                related_name="+", on_delete=models.CASCADE, to="projects.project", db_index=False
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["started_at"],
                        "indexes": [models.Index(fields=["organization", "turn_id"], name="call_turn")],
                    },
                ),
            ]
        ),
        combine(
            tenant_table("jobs_job", parents=PROJECT),
            tenant_table("jobs_modelcall", parents={**PROJECT, "job_id": "jobs_job"}, referenced=False),
        ),
    ]
