import django.core.validators
import django.db.models.deletion
from django.db import migrations, models

import tenancy.ids
import tenancy.scope
import tenancy.tenant_models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("projects", "0007_source_walls"),
        ("tools", "0008_effect_unknown"),
    ]

    operations = [
        migrations.CreateModel(
            name="TodoType",
            fields=[
                ("id", models.UUIDField(default=tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False)),
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
                ("name", models.CharField(max_length=80)),
                ("description", models.TextField()),
                ("tools", models.JSONField(default=list, help_text="names of tools, in the order they are offered")),
                ("model", models.CharField(blank=True, max_length=120)),
                (
                    "approver_role",
                    models.CharField(
                        choices=[
                            ("owner", "Owner: everything, and who the owners are"),
                            ("admin", "Admin: configures agents, members and keys"),
                            ("operator", "Operator: talks, approves and resolves"),
                            ("viewer", "Viewer: looks"),
                        ],
                        default="operator",
                        max_length=10,
                    ),
                ),
                (
                    "second_approver",
                    models.CharField(
                        choices=[
                            ("never", "Never"),
                            ("above", "When an argument is above a limit"),
                            ("always", "Always"),
                        ],
                        default="never",
                        max_length=8,
                    ),
                ),
                ("limit_argument", models.CharField(blank=True, max_length=80)),
                ("limit_value", models.DecimalField(blank=True, decimal_places=2, max_digits=14, null=True)),
                (
                    "expires_after_hours",
                    models.PositiveIntegerField(default=168, help_text="how long a yes is waited for, and stands"),
                ),
                (
                    "is_extracted",
                    models.BooleanField(
                        default=True, help_text="whether conversations are searched for it when they end"
                    ),
                ),
                ("is_removed", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "project",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="todo_types",
                        to="projects.project",
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("is_removed", False)),
                        fields=("organization", "project", "name"),
                        name="one_todo_type_per_name",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="StandingRule",
            fields=[
                ("id", models.UUIDField(default=tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False)),
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
                ("tool", models.CharField(max_length=120)),
                ("allowed", models.JSONField(default=dict)),
                ("most_per_day", models.PositiveIntegerField(default=20)),
                ("created_by", models.UUIDField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("ended_by", models.UUIDField(blank=True, null=True)),
                (
                    "project",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="standing_rules",
                        to="projects.project",
                    ),
                ),
                (
                    "type",
                    tenancy.tenant_models.TenantForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rules",
                        to="todos.todotype",
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
                "indexes": [models.Index(fields=["organization", "project", "tool"], name="rule_tool")],
            },
        ),
        migrations.CreateModel(
            name="Todo",
            fields=[
                ("id", models.UUIDField(default=tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False)),
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
                ("description", models.TextField()),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("pending_review", "To review"),
                            ("approved", "Approved"),
                            ("in_progress", "In progress"),
                            ("needs_attention", "Needs attention"),
                            ("completed", "Completed"),
                            ("failed", "Failed"),
                            ("rejected", "Rejected"),
                            ("expired", "Expired"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="pending_review",
                        max_length=16,
                    ),
                ),
                ("reason", models.CharField(blank=True, help_text="why it stands where it stands", max_length=500)),
                (
                    "source",
                    models.CharField(
                        choices=[
                            ("extraction", "Taken from a conversation"),
                            ("tool", "A tool that needs approval"),
                            ("promise", "A promise that no tool can keep"),
                            ("make_good", "A promise that was broken"),
                            ("person", "Made by a person"),
                            ("api", "Made by the API"),
                        ],
                        max_length=12,
                    ),
                ),
                ("source_key", models.CharField(blank=True, max_length=120)),
                ("conversation_id", models.UUIDField(blank=True, null=True)),
                ("turn_id", models.UUIDField(blank=True, null=True)),
                ("persona_id", models.UUIDField(blank=True, null=True)),
                ("quote", models.TextField(blank=True)),
                ("tool", models.CharField(blank=True, max_length=120)),
                ("arguments", models.JSONField(blank=True, null=True)),
                ("recipients", models.JSONField(blank=True, default=list)),
                ("version", models.PositiveIntegerField(default=1)),
                ("created_by", models.UUIDField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("status_at", models.DateTimeField(auto_now_add=True)),
                (
                    "effect",
                    tenancy.tenant_models.TenantForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="todos",
                        to="tools.effect",
                    ),
                ),
                (
                    "project",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="todos",
                        to="projects.project",
                    ),
                ),
                (
                    "promise",
                    tenancy.tenant_models.TenantForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="todos",
                        to="tools.promise",
                    ),
                ),
                (
                    "type",
                    tenancy.tenant_models.TenantForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="todos",
                        to="todos.todotype",
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at", "-id"],
                "indexes": [
                    models.Index(fields=["organization", "project", "status", "-status_at", "-id"], name="todo_board"),
                    models.Index(fields=["organization", "project", "-created_at", "-id"], name="todo_list"),
                    models.Index(fields=["organization", "conversation_id"], name="todo_conversation"),
                    models.Index(
                        condition=models.Q(("status__in", ["pending_review", "approved"])),
                        fields=["expires_at"],
                        name="todo_expiry",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("source_key", ""), _negated=True),
                        fields=("organization", "source_key"),
                        name="one_todo_per_source",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Approval",
            fields=[
                ("id", models.UUIDField(default=tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False)),
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
                ("version", models.PositiveIntegerField()),
                ("content", models.JSONField()),
                ("content_hash", models.CharField(max_length=64)),
                (
                    "approved_by",
                    models.UUIDField(help_text="the member; none for a standing rule or an API key", null=True),
                ),
                ("approver", models.CharField(help_text="who it was, in words", max_length=120)),
                ("needs_second", models.BooleanField(default=False)),
                ("second_by", models.UUIDField(null=True)),
                ("second_approver", models.CharField(blank=True, max_length=120)),
                ("second_at", models.DateTimeField(null=True)),
                ("repeats", models.JSONField(default=list)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "rule",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="approvals",
                        to="todos.standingrule",
                    ),
                ),
                (
                    "todo",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="approvals",
                        to="todos.todo",
                    ),
                ),
            ],
            options={
                "ordering": ["created_at"],
                "constraints": [
                    models.UniqueConstraint(fields=("organization", "todo", "version"), name="one_approval_per_version")
                ],
            },
        ),
        migrations.CreateModel(
            name="TodoEvent",
            fields=[
                ("id", models.UUIDField(default=tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False)),
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
                ("what", models.CharField(max_length=40)),
                ("from_status", models.CharField(blank=True, max_length=16)),
                ("to_status", models.CharField(blank=True, max_length=16)),
                ("version", models.PositiveIntegerField()),
                (
                    "actor_id",
                    models.UUIDField(
                        help_text="the member who did it; none for the agent, a rule or an API key", null=True
                    ),
                ),
                ("actor", models.CharField(blank=True, help_text="who did it, in words", max_length=120)),
                ("detail", models.JSONField(default=dict)),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "todo",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="history",
                        to="todos.todo",
                    ),
                ),
            ],
            options={
                "ordering": ["at", "id"],
                "indexes": [models.Index(fields=["organization", "todo", "at"], name="todo_history")],
            },
        ),
        migrations.CreateModel(
            name="TodoStep",
            fields=[
                ("id", models.UUIDField(default=tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False)),
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
                ("number", models.PositiveSmallIntegerField(validators=[django.core.validators.MaxValueValidator(10)])),
                ("content", models.TextField(blank=True)),
                ("model", models.CharField(blank=True, max_length=120)),
                ("cost", models.DecimalField(decimal_places=6, max_digits=12, null=True)),
                ("total_ms", models.PositiveIntegerField(null=True)),
                ("started_at", models.DateTimeField(auto_now_add=True)),
                ("finished_at", models.DateTimeField(help_text="when every call of it had its result", null=True)),
                (
                    "approval",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="steps",
                        to="todos.approval",
                    ),
                ),
                (
                    "todo",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="steps",
                        to="todos.todo",
                    ),
                ),
            ],
            options={
                "ordering": ["started_at", "number"],
                "constraints": [
                    models.UniqueConstraint(fields=("organization", "approval", "number"), name="one_step_per_number"),
                    models.CheckConstraint(
                        condition=models.Q(("number__gte", 1), ("number__lte", 10)), name="at_most_ten_steps"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="TodoCall",
            fields=[
                ("id", models.UUIDField(default=tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False)),
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
                ("index", models.PositiveSmallIntegerField()),
                ("call_id", models.CharField(max_length=120)),
                ("name", models.CharField(max_length=120)),
                ("arguments_text", models.TextField()),
                ("arguments", models.JSONField(null=True)),
                ("result", models.TextField(blank=True)),
                ("is_error", models.BooleanField(default=False)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "effect",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="todo_calls",
                        to="tools.effect",
                    ),
                ),
                (
                    "step",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="calls",
                        to="todos.todostep",
                    ),
                ),
            ],
            options={
                "ordering": ["step_id", "index"],
                "constraints": [
                    models.UniqueConstraint(fields=("organization", "step", "index"), name="one_call_per_index")
                ],
            },
        ),
        migrations.CreateModel(
            name="ApproverNotice",
            fields=[
                ("id", models.UUIDField(default=tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False)),
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
                ("user_id", models.UUIDField()),
                ("sent_at", models.DateTimeField()),
                (
                    "project",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="approver_notices",
                        to="projects.project",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("organization", "project", "user_id"), name="one_notice_per_approver"
                    )
                ],
            },
        ),
    ]
