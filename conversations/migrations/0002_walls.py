from django.db import migrations

from tenancy.rls import foreign_key, tenant_table

CONVERSATION = {"conversation_id": "conversations_conversation"}


class Migration(migrations.Migration):
    dependencies = [("conversations", "0001_initial"), ("tools", "0002_walls"), ("jobs", "0002_walls")]

    operations = [
        tenant_table("conversations_persona", parents={"project_id": "projects_project"}),
        tenant_table("conversations_personafield", parents={"persona_id": "conversations_persona"}),
        tenant_table(
            "conversations_conversation",
            parents={"project_id": "projects_project", "persona_id": "conversations_persona"},
        ),
        tenant_table("conversations_turn", parents=CONVERSATION),
        tenant_table("conversations_message", parents={**CONVERSATION, "turn_id": "conversations_turn"}),
        tenant_table(
            "conversations_directives", parents={**CONVERSATION, "turn_id": "conversations_turn"}, append_only=True
        ),
        tenant_table("conversations_event", parents=CONVERSATION, append_only=True),
        foreign_key("conversations_conversation", "directives_id", "conversations_directives"),
        foreign_key("conversations_turn", "superseded_by_id", "conversations_turn"),
        foreign_key("conversations_turn", "message_id", "conversations_message"),
        foreign_key("conversations_turn", "reply_id", "conversations_message"),
        foreign_key("conversations_turn", "directives_used_id", "conversations_directives"),
        # Tables of lower floors that point up: the database holds what their code doesn't know.
        foreign_key("tools_verdict", "conversation_id", "conversations_conversation", goes_with_it=True),
        foreign_key("tools_verdict", "turn_id", "conversations_turn", goes_with_it=True),
        foreign_key("tools_effect", "conversation_id", "conversations_conversation", goes_with_it=True),
        foreign_key("tools_effect", "turn_id", "conversations_turn", goes_with_it=True),
        foreign_key("jobs_modelcall", "turn_id", "conversations_turn", goes_with_it=True),
    ]
