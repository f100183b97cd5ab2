"""Phone calls that Makegood answers itself."""

import django.db.models.deletion
from django.db import migrations, models

from tenancy.baseline import ID, ORGANIZATION
from tenancy.rls import tenant_table
from tenancy.tenant_models import TenantForeignKey

CASCADE = django.db.models.deletion.CASCADE
STATES = [
    ("ringing", "Ringing"),
    ("answering", "Being answered"),
    ("live", "Live"),
    ("transferred", "Transferred"),
    ("ended", "Ended"),
    ("rejected", "Not taken"),
    ("failed", "Failed"),
]


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0019_earlier_bytes"),
        ("projects", "0009_languages"),
    ]

    operations = [
        migrations.CreateModel(
            name="Call",
            fields=[
                ID,
                ("provider", models.CharField(max_length=20)),
                ("external_id", models.CharField(max_length=200)),
                ("caller", models.CharField(blank=True, max_length=40)),
                ("called", models.CharField(blank=True, max_length=40)),
                ("state", models.CharField(choices=STATES, default="ringing", max_length=12)),
                ("reason", models.CharField(blank=True, max_length=300)),
                ("transferred_to", models.CharField(blank=True, max_length=40)),
                ("gaps", models.PositiveSmallIntegerField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("answered_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "conversation",
                    TenantForeignKey(on_delete=CASCADE, related_name="calls", to="conversations.conversation"),
                ),
                (
                    "project",
                    TenantForeignKey(db_index=False, on_delete=CASCADE, related_name="calls", to="projects.project"),
                ),
                ORGANIZATION,
            ],
            options={
                "ordering": ["-created_at"],
                "indexes": [models.Index(fields=["organization", "project", "-created_at"], name="call_recent")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("organization", "project", "provider", "external_id"), name="one_call_per_external_id"
                    )
                ],
            },
        ),
        tenant_table(
            "conversations_call",
            parents={"conversation_id": "conversations_conversation", "project_id": "projects_project"},
            referenced=False,
        ),
    ]
