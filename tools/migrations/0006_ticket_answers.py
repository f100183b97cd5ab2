"""Answers of staff to tickets, and e-mails that staff wrote."""

import django.db.models.deletion
from django.db import migrations, models

from tenancy.baseline import ID, ORGANIZATION
from tenancy.rls import tenant_table
from tenancy.tenant_models import TenantForeignKey

ORIGINS = [
    ("commitment", "A commitment of the agent's, found after its reply"),
    ("turn", "A call inside the turn"),
    ("live", "A call inside a live conversation"),
    ("todo", "A todo that staff approved"),
    ("book", "A change in the booking book"),
    ("event", "An event sent to the conversation through the API"),
    ("staff", "A message that staff wrote"),
]
CHANNELS = [("conversation", "In the conversation"), ("email", "By e-mail")]


class Migration(migrations.Migration):
    dependencies = [("projects", "0004_lifted_limits"), ("tools", "0005_limit_alerts")]

    operations = [
        migrations.AlterField(
            "effect", "origin", models.CharField(choices=ORIGINS, default="commitment", max_length=12)
        ),
        migrations.CreateModel(
            name="TicketAnswer",
            fields=[
                ID,
                ("key", models.UUIDField()),
                ("actor", models.CharField(max_length=200)),
                ("actor_id", models.BigIntegerField()),
                ("content", models.TextField()),
                ("channel", models.CharField(choices=CHANNELS, max_length=12)),
                ("message_id", models.UUIDField(null=True)),
                ("effect_id", models.UUIDField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ORGANIZATION,
                (
                    "ticket",
                    TenantForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="answers", to="tools.ticket"
                    ),
                ),
            ],
            options={
                "ordering": ["created_at", "id"],
                "constraints": [
                    models.UniqueConstraint(fields=["organization", "ticket", "key"], name="one_answer_per_key")
                ],
            },
        ),
        tenant_table(
            "tools_ticketanswer",
            parents={"ticket_id": "tools_ticket", "effect_id": "tools_effect"},
            append_only=True,
            referenced=False,
        ),
    ]
