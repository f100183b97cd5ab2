import django.db.models.deletion
from django.db import migrations, models

import tenancy.ids
import tenancy.scope
import tenancy.tenant_models


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0007_waits_walls"),
        ("projects", "0007_source_walls"),
    ]

    operations = [
        migrations.AddField(
            model_name="conversation",
            name="correction",
            field=models.CharField(blank=True, max_length=300),
        ),
        migrations.AddField(
            model_name="wait",
            name="late_at",
            field=models.DateTimeField(
                help_text="when the result came after all, after the wait had run out", null=True
            ),
        ),
        migrations.CreateModel(
            name="Analysis",
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
                ("steps", models.JSONField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "conversation",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="analyses",
                        to="conversations.conversation",
                    ),
                ),
                (
                    "turn",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="analyses",
                        to="conversations.turn",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "analyses",
                "constraints": [models.UniqueConstraint(fields=("organization", "turn"), name="one_analysis_per_turn")],
            },
        ),
        migrations.AddIndex(
            model_name="event",
            index=models.Index(
                condition=models.Q(("idn", "urgent_message")),
                fields=["organization", "conversation", "seq"],
                name="event_urgent",
            ),
        ),
    ]
