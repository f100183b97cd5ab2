"""Canned replies."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models.functions import Lower

from tenancy.baseline import ID, ORGANIZATION
from tenancy.rls import tenant_table
from tenancy.tenant_models import TenantForeignKey


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0011_internal_notes"),
        ("projects", "0003_idempotency_callers"),
    ]

    operations = [
        migrations.CreateModel(
            name="CannedReply",
            fields=[
                ID,
                ("name", models.CharField(max_length=40)),
                ("content", models.TextField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("deleted_at", models.DateTimeField(null=True)),
                ORGANIZATION,
                (
                    "project",
                    TenantForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="canned_replies",
                        to="projects.project",
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
                "verbose_name_plural": "canned replies",
                "constraints": [
                    models.UniqueConstraint(
                        "organization",
                        "project",
                        Lower("name"),
                        condition=models.Q(("deleted_at", None)),
                        name="one_canned_reply_per_name",
                    )
                ],
            },
        ),
        tenant_table("conversations_cannedreply", parents={"project_id": "projects_project"}, referenced=False),
    ]
