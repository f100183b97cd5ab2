from django.db import migrations

from tenancy.rls import foreign_key, tenant_table

CONVERSATION = {"conversation_id": "conversations_conversation"}


class Migration(migrations.Migration):
    dependencies = [("conversations", "0004_depth")]

    operations = [
        tenant_table(
            "conversations_followup", parents={**CONVERSATION, "turn_id": "conversations_turn"}, append_only=True
        ),
        tenant_table("conversations_summary", parents=CONVERSATION, append_only=True),
        foreign_key("conversations_conversation", "summary_id", "conversations_summary"),
    ]
