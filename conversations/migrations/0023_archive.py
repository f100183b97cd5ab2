"""The archive of transcripts."""

import django.db.models.deletion
from django.db import migrations, models

import conversations.models.archive
from tenancy.baseline import ID, ORGANIZATION
from tenancy.rls import tenant_table
from tenancy.tenant_models import TenantForeignKey

CASCADE = django.db.models.deletion.CASCADE


class Migration(migrations.Migration):
    dependencies = [("conversations", "0022_web_calls")]

    operations = [
        migrations.AddField("conversation", "archived_at", models.DateTimeField(null=True)),
        migrations.CreateModel(
            name="ArchivedTranscript",
            fields=[
                ID,
                ("content", conversations.models.archive.CompressedField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "conversation",
                    TenantForeignKey(
                        db_index=False, on_delete=CASCADE, related_name="archives", to="conversations.conversation"
                    ),
                ),
                ORGANIZATION,
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("organization", "conversation"), name="one_archive")],
            },
        ),
        tenant_table(
            "conversations_archivedtranscript",
            parents={"conversation_id": "conversations_conversation"},
            referenced=False,
        ),
    ]
