import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import tenancy.ids
import tenancy.scope
import tenancy.tenant_models
from tenancy.rls import foreign_key, tenant_table


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0011_extraction"),
        ("projects", "0010_widget"),
        ("tools", "0012_verification"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="conversation",
            name="operator",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="conversation",
            name="operator_since",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="conversation",
            name="shopper",
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name="message",
            name="author",
            field=models.CharField(blank=True, max_length=80),
        ),
        migrations.AddField(
            model_name="persona",
            name="flagged",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="persona",
            name="flag_reason",
            field=models.CharField(blank=True, max_length=300),
        ),
        migrations.AlterField(
            model_name="event",
            name="type",
            field=models.CharField(
                choices=[
                    ("message", "A message"),
                    ("turn", "A turn changed"),
                    ("tool_call", "A tool was called inside the turn"),
                    ("block", "Something to be shown in place of words"),
                    ("directives", "New directives"),
                    ("effect", "An effect changed"),
                    ("waiting", "Waiting began or ended"),
                    ("error", "Something went wrong"),
                    ("done", "A turn's reply is complete"),
                    ("system", "A system event"),
                ],
                default="system",
                max_length=12,
            ),
        ),
        migrations.CreateModel(
            name="TurnStep",
            fields=[
                ("id", models.UUIDField(default=tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ("number", models.PositiveSmallIntegerField()),
                ("content", models.TextField(blank=True)),
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
                    "turn",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="steps",
                        to="conversations.turn",
                    ),
                ),
            ],
            options={
                "ordering": ["number"],
            },
        ),
        migrations.CreateModel(
            name="TurnCall",
            fields=[
                ("id", models.UUIDField(default=tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ("index", models.PositiveSmallIntegerField()),
                ("call_id", models.CharField(max_length=120)),
                ("name", models.CharField(max_length=120)),
                ("arguments_text", models.TextField(blank=True)),
                ("arguments", models.JSONField(null=True)),
                ("result", models.TextField(blank=True)),
                ("is_error", models.BooleanField(default=False)),
                ("block", models.JSONField(null=True)),
                ("signal", models.CharField(blank=True, max_length=10)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "effect",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="turn_calls",
                        to="tools.effect",
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
                    "step",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="calls",
                        to="conversations.turnstep",
                    ),
                ),
            ],
            options={
                "ordering": ["index"],
            },
        ),
        migrations.AddConstraint(
            model_name="turnstep",
            constraint=models.UniqueConstraint(
                fields=("organization", "turn", "number"), name="one_turn_step_per_number"
            ),
        ),
        migrations.AddConstraint(
            model_name="turncall",
            constraint=models.UniqueConstraint(
                fields=("organization", "step", "index"), name="one_turn_call_per_index"
            ),
        ),
        tenant_table("conversations_turnstep", parents={"turn_id": "conversations_turn"}),
        tenant_table(
            "conversations_turncall", parents={"step_id": "conversations_turnstep", "effect_id": "tools_effect"}
        ),
        # Tables of a lower floor that point up: they tell of a conversation, and are forgotten with it.
        foreign_key("tools_escalation", "conversation_id", "conversations_conversation", goes_with_it=True),
        foreign_key("tools_escalation", "turn_id", "conversations_turn", goes_with_it=True),
        foreign_key("tools_ticket", "conversation_id", "conversations_conversation", goes_with_it=True),
        foreign_key("tools_ticket", "persona_id", "conversations_persona", goes_with_it=True),
        foreign_key("tools_verification", "conversation_id", "conversations_conversation", goes_with_it=True),
        foreign_key("tools_verification", "persona_id", "conversations_persona", goes_with_it=True),
        foreign_key("tools_verificationcode", "conversation_id", "conversations_conversation", goes_with_it=True),
        foreign_key("tools_verificationcode", "persona_id", "conversations_persona", goes_with_it=True),
    ]
