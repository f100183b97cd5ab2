import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import tenancy.ids
import tenancy.scope
import tenancy.tenant_models
from tenancy.rls import tenant_table

ORGANIZATION = models.ForeignKey(
    default=tenancy.scope.current_organization_id,
    editable=False,
    on_delete=django.db.models.deletion.CASCADE,
    related_name="+",
    to="projects.organization",
)


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0004_lifted_limits"),
        ("tools", "0004_promise_by_conversation"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="effect",
            name="visitor",
            field=models.CharField(blank=True, db_default="", default="", max_length=16),
        ),
        migrations.CreateModel(
            name="LimitAlert",
            fields=[
                ("id", models.UUIDField(default=tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                (
                    "limit",
                    models.CharField(
                        choices=[
                            ("sms", "text messages a day"),
                            ("email", "e-mails a day"),
                            ("verification_code", "verification codes a day"),
                            ("sms_visitors", "text messages to anonymous visitors in ten minutes"),
                            ("email_visitors", "e-mails to anonymous visitors in ten minutes"),
                            ("model_cost", "USD of model cost a day"),
                            ("model_tokens", "model tokens a day"),
                        ],
                        max_length=20,
                    ),
                ),
                ("is_reached", models.BooleanField()),
                ("used", models.PositiveBigIntegerField()),
                ("most", models.PositiveBigIntegerField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("lifted_at", models.DateTimeField(null=True)),
                (
                    "lifted_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("organization", ORGANIZATION.clone()),
                (
                    "project",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="limit_alerts",
                        to="projects.project",
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
                "indexes": [models.Index(fields=["organization", "project", "-created_at"], name="limit_alert_recent")],
            },
        ),
        migrations.CreateModel(
            name="LimitNotice",
            fields=[
                ("id", models.UUIDField(default=tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ("sent_at", models.DateTimeField()),
                (
                    "member",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="projects.member",
                    ),
                ),
                ("organization", ORGANIZATION.clone()),
                (
                    "project",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="limit_notices",
                        to="projects.project",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("organization", "project", "member"), name="one_limit_notice")
                ],
            },
        ),
        tenant_table("tools_limitalert", parents={"project_id": "projects_project"}, referenced=False),
        tenant_table(
            "tools_limitnotice",
            parents={"project_id": "projects_project", "member_id": "projects_member"},
            referenced=False,
        ),
    ]
