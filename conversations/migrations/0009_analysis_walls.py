from django.db import migrations

from tenancy.rls import foreign_key, tenant_table


class Migration(migrations.Migration):
    dependencies = [("conversations", "0008_analysis")]

    operations = [
        tenant_table(
            "conversations_analysis",
            parents={"conversation_id": "conversations_conversation", "turn_id": "conversations_turn"},
        ),
        foreign_key("conversations_promptsection", "effect_id", "tools_effect"),
    ]
