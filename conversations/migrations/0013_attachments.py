"""Files attached to operators' answers."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from tenancy.baseline import ID, ORGANIZATION
from tenancy.rls import tenant_table
from tenancy.tenant_models import TenantForeignKey

CASCADE, SET_NULL = django.db.models.deletion.CASCADE, django.db.models.deletion.SET_NULL


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0012_canned_replies"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            "message",
            "attachments",
            models.JSONField(db_default=models.Value([], models.JSONField()), default=list),
        ),
        migrations.CreateModel(
            name="Attachment",
            fields=[
                ID,
                ("name", models.CharField(max_length=140)),
                ("content_type", models.CharField(max_length=40)),
                ("size", models.PositiveIntegerField()),
                ("content", models.BinaryField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "conversation",
                    TenantForeignKey(on_delete=CASCADE, related_name="attachments", to="conversations.conversation"),
                ),
                (
                    "message",
                    TenantForeignKey(
                        null=True, on_delete=CASCADE, related_name="attachment_rows", to="conversations.message"
                    ),
                ),
                ORGANIZATION,
                (
                    "uploaded_by",
                    models.ForeignKey(null=True, on_delete=SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["created_at"], condition=models.Q(("message", None)), name="attachment_unsent")
                ],
            },
        ),
        tenant_table(
            "conversations_attachment",
            parents={"conversation_id": "conversations_conversation", "message_id": "conversations_message"},
            referenced=False,
        ),
    ]
