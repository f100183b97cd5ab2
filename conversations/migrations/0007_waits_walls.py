from django.db import migrations

from tenancy.rls import foreign_key, tenant_table

CONVERSATION = {"conversation_id": "conversations_conversation"}


class Migration(migrations.Migration):
    dependencies = [("conversations", "0006_waits"), ("tools", "0004_promises_kept_walls")]

    operations = [
        tenant_table(
            "conversations_wait",
            parents={**CONVERSATION, "turn_id": "conversations_turn", "effect_id": "tools_effect"},
        ),
        tenant_table("conversations_promptsection", parents=CONVERSATION),
        # Tables of a lower floor that point up: the database holds what their code doesn't know.
        foreign_key("tools_promise", "conversation_id", "conversations_conversation", goes_with_it=True),
        foreign_key("tools_promise", "turn_id", "conversations_turn", goes_with_it=True),
        foreign_key("tools_promise", "message_id", "conversations_message", goes_with_it=True),
        foreign_key("tools_booking", "conversation_id", "conversations_conversation"),
        foreign_key("tools_booking", "persona_id", "conversations_persona"),
    ]
