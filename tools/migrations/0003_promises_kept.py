import django.db.models.deletion
from django.db import migrations, models

import tenancy.ids
import tenancy.scope
import tenancy.tenant_models


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0006_source"),
        ("tools", "0002_walls"),
    ]

    operations = [
        migrations.AddField(
            model_name="effect",
            name="adapter",
            field=models.CharField(blank=True, max_length=20),
        ),
        migrations.AddField(
            model_name="effect",
            name="arranged_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="effect",
            name="callback_hash",
            field=models.CharField(blank=True, max_length=64),
        ),
        migrations.AddField(
            model_name="effect",
            name="deadline_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="effect",
            name="excerpt",
            field=models.TextField(blank=True),
        ),
        migrations.AddField(
            model_name="effect",
            name="http_status",
            field=models.PositiveSmallIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="effect",
            name="origin",
            field=models.CharField(
                choices=[
                    ("commitment", "A commitment of the agent's, found after its reply"),
                    ("turn", "A call inside the turn"),
                    ("live", "A call inside a live conversation"),
                    ("todo", "A todo that staff approved"),
                ],
                default="commitment",
                max_length=12,
            ),
        ),
        migrations.AddField(
            model_name="effect",
            name="quote",
            field=models.TextField(blank=True, help_text="the agent's exact words"),
        ),
        migrations.AddField(
            model_name="effect",
            name="repeat_key",
            field=models.CharField(blank=True, max_length=64),
        ),
        migrations.AddField(
            model_name="effect",
            name="repeats",
            field=models.UUIDField(help_text="the effect that a held one repeats", null=True),
        ),
        migrations.AddField(
            model_name="effect",
            name="request",
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name="effect",
            name="resolved_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="effect",
            name="resolved_by",
            field=models.UUIDField(help_text="who said whether an unknown effect happened", null=True),
        ),
        migrations.AddField(
            model_name="effect",
            name="told",
            field=models.TextField(blank=True),
        ),
        migrations.AddField(
            model_name="effect",
            name="tool_version",
            field=models.PositiveIntegerField(default=1),
        ),
        migrations.AddIndex(
            model_name="effect",
            index=models.Index(
                condition=models.Q(("repeat_key", ""), _negated=True),
                fields=["organization", "conversation_id", "repeat_key"],
                name="effect_repeat",
            ),
        ),
        migrations.AddIndex(
            model_name="effect",
            index=models.Index(
                condition=models.Q(("callback_hash", ""), _negated=True),
                fields=["callback_hash"],
                name="effect_callback",
            ),
        ),
        migrations.CreateModel(
            name="Resource",
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
                (
                    "project",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="resources",
                        to="projects.project",
                    ),
                ),
                ("name", models.CharField(max_length=120)),
                ("kind", models.CharField(default="table", max_length=20)),
                ("capacity", models.PositiveSmallIntegerField(default=2)),
                ("slot_minutes", models.PositiveSmallIntegerField(default=90)),
                ("is_active", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ["capacity", "name"],
                "constraints": [
                    models.UniqueConstraint(fields=("organization", "project", "name"), name="one_resource_per_name")
                ],
            },
        ),
        migrations.CreateModel(
            name="Booking",
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
                (
                    "resource",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="bookings",
                        to="tools.resource",
                    ),
                ),
                ("project_id", models.UUIDField()),
                ("conversation_id", models.UUIDField(null=True)),
                ("persona_id", models.UUIDField(null=True)),
                ("effect_id", models.UUIDField(null=True)),
                ("code", models.CharField(max_length=12)),
                ("kind", models.CharField(default="booking", help_text="booking or meeting", max_length=12)),
                ("title", models.CharField(blank=True, max_length=200)),
                ("name", models.CharField(blank=True, max_length=200)),
                ("phone", models.CharField(blank=True, max_length=40)),
                ("email", models.CharField(blank=True, max_length=254)),
                ("party_size", models.PositiveSmallIntegerField(default=1)),
                ("starts_at", models.DateTimeField()),
                ("ends_at", models.DateTimeField()),
                ("notes", models.TextField(blank=True)),
                (
                    "state",
                    models.CharField(
                        choices=[("confirmed", "Confirmed"), ("cancelled", "Cancelled")],
                        default="confirmed",
                        max_length=10,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("cancelled_at", models.DateTimeField(null=True)),
                ("cancelled_by", models.CharField(blank=True, help_text="customer, staff or agent", max_length=20)),
            ],
            options={
                "ordering": ["starts_at", "id"],
                "indexes": [
                    models.Index(fields=["organization", "resource", "starts_at"], name="booking_resource"),
                    models.Index(fields=["organization", "project_id", "starts_at"], name="booking_project"),
                    models.Index(fields=["organization", "persona_id"], name="booking_persona"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("organization", "project_id", "code"), name="one_booking_per_code"),
                    models.UniqueConstraint(
                        condition=models.Q(("effect_id__isnull", False)),
                        fields=("organization", "effect_id"),
                        name="one_booking_per_effect",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("ends_at__gt", models.F("starts_at"))), name="booking_has_length"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="CustomTool",
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
                (
                    "project",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="custom_tools",
                        to="projects.project",
                    ),
                ),
                ("name", models.CharField(max_length=64)),
                ("definition", models.JSONField()),
                ("version", models.PositiveIntegerField(default=1)),
                ("is_enabled", models.BooleanField(default=True)),
                ("is_removed", models.BooleanField(default=False)),
                ("secrets", models.TextField(blank=True, editable=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.UniqueConstraint(fields=("organization", "project", "name"), name="one_custom_tool_per_name")
                ],
            },
        ),
        migrations.CreateModel(
            name="CustomToolVersion",
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
                (
                    "tool",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="versions",
                        to="tools.customtool",
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("definition", models.JSONField()),
                ("is_enabled", models.BooleanField(default=True)),
                ("is_removed", models.BooleanField(default=False)),
                ("author_id", models.UUIDField(help_text="the member who saved it; none for an API key", null=True)),
                ("saved_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ["-number"],
                "constraints": [
                    models.UniqueConstraint(fields=("organization", "tool", "number"), name="one_version_per_number")
                ],
            },
        ),
        migrations.CreateModel(
            name="AfterAction",
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
                (
                    "effect",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="after_actions",
                        to="tools.effect",
                    ),
                ),
                ("index", models.PositiveSmallIntegerField()),
                ("type", models.CharField(max_length=40)),
                ("options", models.JSONField(default=dict)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("planned", "Planned"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("skipped", "Skipped"),
                        ],
                        default="planned",
                        max_length=10,
                    ),
                ),
                ("raw", models.TextField(blank=True)),
                ("value", models.TextField(blank=True)),
                ("error", models.TextField(blank=True)),
                ("finished_at", models.DateTimeField(null=True)),
            ],
            options={
                "ordering": ["effect_id", "index"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("organization", "effect", "index"), name="one_after_action_per_index"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Promise",
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
                ("tool", models.CharField(blank=True, help_text="empty when no tool can serve it", max_length=120)),
                (
                    "effect",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="promises",
                        to="tools.effect",
                    ),
                ),
                ("project_id", models.UUIDField()),
                ("conversation_id", models.UUIDField()),
                ("turn_id", models.UUIDField()),
                ("message_id", models.UUIDField()),
                ("quote", models.TextField()),
                ("due_at", models.DateTimeField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("open", "Open: it is not kept yet"),
                            ("kept", "Kept: it happened"),
                            ("broken", "Broken: it did not happen, or no tool can do it"),
                            ("withdrawn", "Withdrawn: it was taken back, or no longer wanted"),
                        ],
                        default="open",
                        max_length=10,
                    ),
                ),
                ("reason", models.CharField(blank=True, max_length=300)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("closed_at", models.DateTimeField(null=True)),
            ],
            options={
                "ordering": ["created_at", "id"],
                "indexes": [
                    models.Index(fields=["organization", "turn_id"], name="promise_turn"),
                    models.Index(fields=["organization", "effect"], name="promise_effect"),
                    models.Index(fields=["organization", "project_id", "state", "-created_at"], name="promise_project"),
                    models.Index(condition=models.Q(("state", "open")), fields=["due_at"], name="promise_due"),
                ],
            },
        ),
    ]
