import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import tenancy.ids
import tenancy.scope
import tenancy.tenant_models
from tenancy.rls import tenant_table


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0007_source_walls"),
        ("tools", "0005_book"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="KeptCase",
            fields=[
                ("id", models.UUIDField(default=tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=120)),
                ("answer", models.TextField()),
                ("conversation", models.JSONField(blank=True, default=list)),
                ("channel", models.CharField(max_length=20)),
                ("expected", models.JSONField(blank=True, default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        default=tenancy.scope.current_organization_id,
                        editable=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="projects.organization",
                    ),
                ),
                (
                    "project",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="kept_cases",
                        to="projects.project",
                    ),
                ),
            ],
            options={
                "ordering": ["created_at", "id"],
                "indexes": [models.Index(fields=["organization", "project", "-created_at"], name="kept_case_project")],
            },
        ),
        tenant_table("tools_keptcase", parents={"project_id": "projects_project"}),
    ]
