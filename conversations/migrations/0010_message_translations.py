"""Translations of messages."""

import django.db.models.deletion
from django.db import migrations, models

from tenancy.baseline import ID, ORGANIZATION
from tenancy.rls import tenant_table
from tenancy.tenant_models import TenantForeignKey


class Migration(migrations.Migration):
    dependencies = [("conversations", "0009_analytics_indexes")]

    operations = [
        migrations.CreateModel(
            name="MessageTranslation",
            fields=[
                ID,
                ("language", models.CharField(max_length=8)),
                ("content", models.TextField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ORGANIZATION,
                (
                    "message",
                    TenantForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="translations",
                        to="conversations.message",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=["organization", "message", "language"], name="one_translation_per_language"
                    )
                ],
            },
        ),
        tenant_table(
            "conversations_messagetranslation", parents={"message_id": "conversations_message"}, referenced=False
        ),
    ]
