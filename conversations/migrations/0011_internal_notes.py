"""Internal notes, and the members they mention."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from tenancy.baseline import ID, ORGANIZATION
from tenancy.rls import tenant_table
from tenancy.tenant_models import TenantForeignKey

CASCADE, SET_NULL = django.db.models.deletion.CASCADE, django.db.models.deletion.SET_NULL


def own(**fields: object) -> TenantForeignKey:
    return TenantForeignKey(on_delete=CASCADE, db_index=False, **fields)


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0010_message_translations"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Note",
            fields=[
                ID,
                ("author_name", models.CharField(max_length=200)),
                ("content", models.TextField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "author",
                    models.ForeignKey(null=True, on_delete=SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL),
                ),
                ("conversation", own(related_name="internal_notes", to="conversations.conversation")),
                ORGANIZATION,
            ],
            options={
                "ordering": ["id"],
                "indexes": [models.Index(fields=["organization", "conversation", "id"], name="note_of_conversation")],
            },
        ),
        tenant_table("conversations_note", parents={"conversation_id": "conversations_conversation"}),
        migrations.CreateModel(
            name="Mention",
            fields=[
                ID,
                ("read_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("conversation", own(related_name="+", to="conversations.conversation")),
                ("note", own(related_name="mentions", to="conversations.note")),
                ORGANIZATION,
                (
                    "user",
                    models.ForeignKey(on_delete=CASCADE, related_name="+", to=settings.AUTH_USER_MODEL),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["organization", "user", "conversation"],
                        condition=models.Q(("read_at", None)),
                        name="mention_unread",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=["organization", "note", "user"], name="one_mention_per_note")
                ],
            },
        ),
        tenant_table(
            "conversations_mention",
            parents={"conversation_id": "conversations_conversation", "note_id": "conversations_note"},
            referenced=False,
        ),
    ]
