"""The nightly deletion of old records."""

import django.db.models.deletion
from django.db import migrations, models

from tenancy.baseline import ID, ORGANIZATION
from tenancy.rls import tenant_table
from tenancy.tenant_models import TenantForeignKey


class Migration(migrations.Migration):
    dependencies = [("privacy", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="RetentionRun",
            fields=[
                ID,
                ("due_at", models.DateTimeField()),
                ("stage", models.CharField(blank=True, max_length=12)),
                ("cursors", models.JSONField(default=dict)),
                ("removed", models.JSONField(default=dict)),
                ("error", models.CharField(blank=True, max_length=80)),
                ("started_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ORGANIZATION,
                (
                    "project",
                    TenantForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="retention_runs",
                        to="projects.project",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["due_at"], name="retention_due")],
                "constraints": [
                    models.UniqueConstraint(fields=("organization", "project"), name="one_retention_run"),
                ],
            },
        ),
        tenant_table("privacy_retentionrun", parents={"project_id": "projects_project"}, referenced=False),
    ]
