from django.core import validators
from django.db import migrations, models

from tenancy.baseline import ID, ORGANIZATION, CreateTables
from tenancy.rls import combine, foreign_key, tenant_table
from tenancy.tenant_models import TenantForeignKey

PROJECT = {"project_id": "projects_project"}
TODO = {"todo_id": "todos_todo"}


class Migration(migrations.Migration):
    initial = True

    dependencies = [("tools", "0001_initial")]

    operations = [
        CreateTables(
            [
                migrations.CreateModel(
                    "TodoType",
                    fields=[
                        ID,
                        ORGANIZATION,
                        ("name", models.CharField(max_length=80)),
                        ("description", models.TextField()),
                        (
                            "tools",
                            models.JSONField(default=list, help_text="names of tools, in the order they are offered"),
                        ),
                        ("model", models.CharField(max_length=120, blank=True)),
                        (
                            "approver_role",
                            models.CharField(
                                max_length=10,
                                default="operator",
                                choices=[
                                    ("owner", "Owner: full access, including other owners"),
                                    ("admin", "Admin: configures agents, members and keys"),
                                    ("operator", "Operator: talks to customers, approves and resolves"),
                                    ("viewer", "Viewer: read-only access"),
                                ],
                            ),
                        ),
                        (
                            "second_approver",
                            models.CharField(
                                max_length=8,
                                default="never",
                                choices=[
                                    ("never", "Never"),
                                    ("above", "When an argument is above a limit"),
                                    ("always", "Always"),
                                ],
                            ),
                        ),
                        ("limit_argument", models.CharField(max_length=80, blank=True)),
                        ("limit_value", models.DecimalField(blank=True, null=True, max_digits=14, decimal_places=2)),
                        (
                            "expires_after_hours",
                            models.PositiveIntegerField(
                                default=168, help_text="how long to wait for an approval, and how long it is valid"
                            ),
                        ),
                        (
                            "is_extracted",
                            models.BooleanField(default=True, help_text="search conversations for it when they end"),
                        ),
                        ("is_removed", models.BooleanField(default=False)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("updated_at", models.DateTimeField(auto_now=True)),
                        (
                            "project",
                            TenantForeignKey(
                                related_name="todo_types", on_delete=models.CASCADE, to="projects.project"
                            ),
                        ),
                        (
                            "recipients",
                            models.JSONField(
                                blank=True, default=list, help_text="recipients of todos that have none of their own"
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
                    "StandingRule",
                    fields=[
                        ID,
                        ORGANIZATION,
                        ("tool", models.CharField(max_length=120)),
                        ("allowed", models.JSONField(default=dict)),
                        ("most_per_day", models.PositiveIntegerField(default=20)),
                        ("created_by", models.UUIDField()),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("ended_at", models.DateTimeField(blank=True, null=True)),
                        ("ended_by", models.UUIDField(blank=True, null=True)),
                        (
                            "project",
                            TenantForeignKey(
                                related_name="standing_rules", on_delete=models.CASCADE, to="projects.project"
                            ),
                        ),
                        (
                            "type",
                            TenantForeignKey(
                                blank=True,
                                null=True,
                                related_name="rules",
                                on_delete=models.CASCADE,
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
                    "Todo",
                    fields=[
                        ID,
                        ORGANIZATION,
                        ("description", models.TextField()),
                        (
                            "status",
                            models.CharField(
                                max_length=16,
                                default="pending_review",
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
                            ),
                        ),
                        (
                            "reason",
                            models.CharField(max_length=500, blank=True, help_text="reason for the current status"),
                        ),
                        (
                            "source",
                            models.CharField(
                                max_length=12,
                                choices=[
                                    ("extraction", "Taken from a conversation"),
                                    ("tool", "A tool that needs approval"),
                                    ("promise", "A promise that no tool can keep"),
                                    ("make_good", "A promise that was broken"),
                                    ("person", "Made by a person"),
                                    ("api", "Made by the API"),
                                ],
                            ),
                        ),
                        ("source_key", models.CharField(max_length=120, blank=True)),
                        ("conversation_id", models.UUIDField(blank=True, null=True)),
                        ("turn_id", models.UUIDField(blank=True, null=True)),
                        ("persona_id", models.UUIDField(blank=True, null=True)),
                        ("quote", models.TextField(blank=True)),
                        ("tool", models.CharField(max_length=120, blank=True)),
                        ("arguments", models.JSONField(blank=True, null=True)),
                        ("recipients", models.JSONField(blank=True, default=list)),
                        ("version", models.PositiveIntegerField(default=1)),
                        ("created_by", models.UUIDField(blank=True, null=True)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("expires_at", models.DateTimeField()),
                        ("status_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "effect",
                            TenantForeignKey(
                                blank=True, null=True, related_name="todos", on_delete=models.CASCADE, to="tools.effect"
                            ),
                        ),
                        (
                            "project",
                            TenantForeignKey(related_name="todos", on_delete=models.CASCADE, to="projects.project"),
                        ),
                        (
                            "promise",
                            TenantForeignKey(
                                blank=True,
                                null=True,
                                related_name="todos",
                                on_delete=models.CASCADE,
                                to="tools.promise",
                            ),
                        ),
                        (
                            "type",
                            TenantForeignKey(
                                blank=True,
                                null=True,
                                related_name="todos",
                                on_delete=models.CASCADE,
                                to="todos.todotype",
                            ),
                        ),
                        (
                            "repeats",
                            models.JSONField(
                                blank=True, default=list, help_text="effects of earlier runs to execute again"
                            ),
                        ),
                        (
                            "taken_by",
                            models.UUIDField(blank=True, null=True, help_text="the member or API key doing it by hand"),
                        ),
                        (
                            "taker",
                            models.CharField(max_length=120, blank=True, help_text="name of whoever does it by hand"),
                        ),
                    ],
                    options={
                        "ordering": ["-created_at", "-id"],
                        "indexes": [
                            models.Index(
                                fields=["organization", "project", "status", "-status_at", "-id"], name="todo_board"
                            ),
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
                    "Approval",
                    fields=[
                        ID,
                        ORGANIZATION,
                        ("version", models.PositiveIntegerField()),
                        ("content", models.JSONField()),
                        ("content_hash", models.CharField(max_length=64)),
                        (
                            "approved_by",
                            models.UUIDField(null=True, help_text="the member; null for a standing rule or an API key"),
                        ),
                        ("approver", models.CharField(max_length=120, help_text="name of the member, API key or rule")),
                        ("needs_second", models.BooleanField(default=False)),
                        ("second_by", models.UUIDField(null=True)),
                        ("second_approver", models.CharField(max_length=120, blank=True)),
                        ("second_at", models.DateTimeField(null=True)),
                        ("repeats", models.JSONField(default=list)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("expires_at", models.DateTimeField()),
                        ("ended_at", models.DateTimeField(null=True)),
                        (
                            "rule",
                            TenantForeignKey(
                                null=True, related_name="approvals", on_delete=models.CASCADE, to="todos.standingrule"
                            ),
                        ),
                        ("todo", TenantForeignKey(related_name="approvals", on_delete=models.CASCADE, to="todos.todo")),
                        ("key_id", models.UUIDField(null=True, help_text="the API key, if one approved")),
                    ],
                    options={
                        "ordering": ["created_at"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("organization", "todo", "version"), name="one_approval_per_version"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    "TodoEvent",
                    fields=[
                        ID,
                        ORGANIZATION,
                        ("what", models.CharField(max_length=40)),
                        ("from_status", models.CharField(max_length=16, blank=True)),
                        ("to_status", models.CharField(max_length=16, blank=True)),
                        ("version", models.PositiveIntegerField()),
                        (
                            "actor_id",
                            models.UUIDField(
                                null=True, help_text="the member; null for the agent, a rule or an API key"
                            ),
                        ),
                        ("actor", models.CharField(max_length=120, blank=True, help_text="name of the author")),
                        ("detail", models.JSONField(default=dict)),
                        ("at", models.DateTimeField(auto_now_add=True)),
                        ("todo", TenantForeignKey(related_name="history", on_delete=models.CASCADE, to="todos.todo")),
                    ],
                    options={
                        "ordering": ["at", "id"],
                        "indexes": [models.Index(fields=["organization", "todo", "at"], name="todo_history")],
                    },
                ),
                migrations.CreateModel(
                    "TodoStep",
                    fields=[
                        ID,
                        ORGANIZATION,
                        (
                            "number",
                            models.PositiveSmallIntegerField(validators=[validators.MaxValueValidator(10)]),
                        ),
                        ("content", models.TextField(blank=True)),
                        ("model", models.CharField(max_length=120, blank=True)),
                        ("cost", models.DecimalField(null=True, max_digits=12, decimal_places=6)),
                        ("total_ms", models.PositiveIntegerField(null=True)),
                        (
                            "started_at",
                            models.DateTimeField(help_text="by the database's clock, like all times of a run"),
                        ),
                        (
                            "finished_at",
                            models.DateTimeField(null=True, help_text="when its last call got a result"),
                        ),
                        (
                            "approval",
                            TenantForeignKey(related_name="steps", on_delete=models.CASCADE, to="todos.approval"),
                        ),
                        ("todo", TenantForeignKey(related_name="steps", on_delete=models.CASCADE, to="todos.todo")),
                    ],
                    options={
                        "ordering": ["started_at", "number"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("organization", "approval", "number"), name="one_step_per_number"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("number__gte", 1), ("number__lte", 10)), name="at_most_ten_steps"
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    "TodoCall",
                    fields=[
                        ID,
                        ORGANIZATION,
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
                            TenantForeignKey(
                                null=True, related_name="todo_calls", on_delete=models.CASCADE, to="tools.effect"
                            ),
                        ),
                        ("step", TenantForeignKey(related_name="calls", on_delete=models.CASCADE, to="todos.todostep")),
                    ],
                    options={
                        "ordering": ["step_id", "index"],
                        "constraints": [
                            models.UniqueConstraint(fields=("organization", "step", "index"), name="one_call_per_index")
                        ],
                    },
                ),
                migrations.CreateModel(
                    "ApproverNotice",
                    fields=[
                        ID,
                        ORGANIZATION,
                        ("member_id", models.UUIDField()),
                        ("sent_at", models.DateTimeField()),
                        (
                            "project",
                            TenantForeignKey(
                                related_name="approver_notices", on_delete=models.CASCADE, to="projects.project"
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("organization", "project", "member_id"), name="one_notice_per_approver"
                            )
                        ]
                    },
                ),
            ]
        ),
        combine(
            tenant_table("todos_todotype", parents=PROJECT),
            tenant_table("todos_standingrule", parents={**PROJECT, "type_id": "todos_todotype"}),
            tenant_table("todos_todo", parents={**PROJECT, "type_id": "todos_todotype"}),
            # What a todo comes from isn't deleted alone while the todo tells of it.
            foreign_key("todos_todo", "promise_id", "tools_promise"),
            foreign_key("todos_todo", "effect_id", "tools_effect"),
            tenant_table("todos_todoevent", parents=TODO, append_only=True),
            tenant_table("todos_approval", parents={**TODO, "rule_id": "todos_standingrule"}),
            tenant_table("todos_todostep", parents={**TODO, "approval_id": "todos_approval"}),
            tenant_table("todos_todocall", parents={"step_id": "todos_todostep"}),
            foreign_key("todos_todocall", "effect_id", "tools_effect"),
            tenant_table("todos_approvernotice", parents=PROJECT),
            # Who leaves is forgotten here.
            foreign_key("todos_approvernotice", "member_id", "projects_member", cascade=True),
        ),
    ]
