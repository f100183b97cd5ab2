import django.db.models.deletion
from django.db import migrations, models

import tenancy.ids
import tenancy.scope
import tenancy.tenant_models
from tenancy.rls import tenant_table


class Migration(migrations.Migration):
    dependencies = [("tools", "0011_desk")]

    operations = [
        migrations.CreateModel(
            name="Verification",
            fields=[
                ("id", models.UUIDField(default=tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ("persona_id", models.UUIDField()),
                ("conversation_id", models.UUIDField()),
                ("method", models.CharField(max_length=8)),
                ("verified_at", models.DateTimeField(auto_now_add=True)),
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
                        related_name="verifications",
                        to="projects.project",
                    ),
                ),
            ],
            options={
                "ordering": ["-verified_at"],
                "indexes": [
                    models.Index(fields=["organization", "persona_id", "-verified_at"], name="verification_recent")
                ],
            },
        ),
        migrations.CreateModel(
            name="VerificationCode",
            fields=[
                ("id", models.UUIDField(default=tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ("persona_id", models.UUIDField()),
                ("conversation_id", models.UUIDField()),
                ("effect_id", models.UUIDField(null=True)),
                ("digest", models.CharField(editable=False, max_length=64)),
                ("sent_by", models.CharField(help_text="sms or email", max_length=5)),
                ("tries", models.PositiveSmallIntegerField(default=0)),
                ("expires_at", models.DateTimeField()),
                ("used_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
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
                        related_name="verification_codes",
                        to="projects.project",
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
                "indexes": [models.Index(fields=["organization", "persona_id", "-created_at"], name="code_recent")],
            },
        ),
        tenant_table("tools_verification", parents={"project_id": "projects_project"}),
        tenant_table("tools_verificationcode", parents={"project_id": "projects_project", "effect_id": "tools_effect"}),
    ]
