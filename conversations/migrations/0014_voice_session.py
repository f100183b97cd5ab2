import django.db.models.deletion
from django.db import migrations, models

import tenancy.ids
import tenancy.scope
import tenancy.tenant_models
from tenancy.rls import tenant_table


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0013_fewer_indexes"),
        ("projects", "0012_ways_of_signing_in"),
    ]

    operations = [
        migrations.CreateModel(
            name="VoiceSession",
            fields=[
                ("id", models.UUIDField(default=tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ("heard_at", models.DateTimeField()),
                ("speaking_since", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("applied", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "conversation",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="voice_sessions",
                        to="conversations.conversation",
                    ),
                ),
                (
                    "given_directives",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="conversations.directives",
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
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("organization", "conversation"), name="one_voice_session_per_conversation"
                    )
                ],
            },
        ),
        tenant_table(
            "conversations_voicesession",
            parents={
                "conversation_id": "conversations_conversation",
                "given_directives_id": "conversations_directives",
            },
        ),
    ]
