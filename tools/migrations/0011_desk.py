import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import tenancy.ids
import tenancy.scope
import tenancy.tenant_models
from tenancy.rls import tenant_table


class Migration(migrations.Migration):
    dependencies = [
        ("tools", "0010_platform_definition"),
        ("projects", "0010_widget"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Escalation",
            fields=[
                ("id", models.UUIDField(default=tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ("conversation_id", models.UUIDField()),
                ("turn_id", models.UUIDField(null=True)),
                ("effect_id", models.UUIDField(null=True)),
                ("reason", models.CharField(max_length=500)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("offered", "Offered: the customer was shown the button"),
                            ("waiting", "Waiting: the customer asked for a person"),
                            ("claimed", "Claimed: a colleague has the conversation"),
                            ("resolved", "Resolved"),
                        ],
                        default="offered",
                        max_length=10,
                    ),
                ),
                ("lead", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("requested_at", models.DateTimeField(null=True)),
                ("claimed_at", models.DateTimeField(null=True)),
                ("resolved_at", models.DateTimeField(null=True)),
                (
                    "claimed_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
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
                        related_name="escalations",
                        to="projects.project",
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state", "resolved"), _negated=True),
                        fields=("organization", "conversation_id"),
                        name="one_open_escalation",
                    )
                ],
                "indexes": [
                    models.Index(fields=["organization", "project", "-created_at"], name="escalation_recent"),
                    models.Index(
                        condition=models.Q(("state", "waiting")),
                        fields=["organization", "project", "requested_at"],
                        name="escalation_waiting",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Ticket",
            fields=[
                ("id", models.UUIDField(default=tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ("number", models.PositiveIntegerField()),
                ("conversation_id", models.UUIDField(null=True)),
                ("persona_id", models.UUIDField(null=True)),
                ("effect_id", models.UUIDField(null=True)),
                ("subject", models.CharField(max_length=120)),
                ("body", models.TextField()),
                (
                    "priority",
                    models.CharField(
                        choices=[("low", "Low"), ("normal", "Normal"), ("high", "High"), ("urgent", "Urgent")],
                        default="normal",
                        max_length=6,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "Open"), ("pending", "Pending: the customer is asked"), ("closed", "Closed")],
                        default="open",
                        max_length=8,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("closed_at", models.DateTimeField(null=True)),
                (
                    "assignee",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
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
                        related_name="tickets",
                        to="projects.project",
                    ),
                ),
            ],
            options={
                "ordering": ["-number"],
                "indexes": [models.Index(fields=["organization", "project", "-updated_at"], name="ticket_recent")],
                "constraints": [
                    models.UniqueConstraint(fields=("organization", "project", "number"), name="one_ticket_per_number"),
                    models.UniqueConstraint(
                        condition=models.Q(("effect_id__isnull", False)),
                        fields=("organization", "effect_id"),
                        name="one_ticket_per_effect",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="TicketChange",
            fields=[
                ("id", models.UUIDField(default=tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ("actor", models.CharField(max_length=200)),
                ("actor_id", models.BigIntegerField(null=True)),
                ("before", models.JSONField(default=dict)),
                ("after", models.JSONField(default=dict)),
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
                    "ticket",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="changes",
                        to="tools.ticket",
                    ),
                ),
            ],
            options={
                "ordering": ["created_at", "id"],
            },
        ),
        migrations.CreateModel(
            name="OperatorNotice",
            fields=[
                ("id", models.UUIDField(default=tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ("sent_at", models.DateTimeField()),
                ("is_delivered", models.BooleanField(default=False)),
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
                        related_name="operator_notices",
                        to="projects.project",
                    ),
                ),
                (
                    "member",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="projects.member",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("organization", "project", "member"), name="one_operator_notice")
                ],
            },
        ),
        tenant_table("tools_escalation", parents={"project_id": "projects_project", "effect_id": "tools_effect"}),
        tenant_table("tools_ticket", parents={"project_id": "projects_project", "effect_id": "tools_effect"}),
        tenant_table("tools_ticketchange", parents={"ticket_id": "tools_ticket"}, append_only=True),
        tenant_table(
            "tools_operatornotice", parents={"project_id": "projects_project", "member_id": "projects_member"}
        ),
    ]
