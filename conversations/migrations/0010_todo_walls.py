from django.db import migrations

from tenancy.rls import foreign_key


class Migration(migrations.Migration):
    dependencies = [("conversations", "0009_analysis_walls"), ("todos", "0002_walls")]

    operations = [
        # A table of a lower floor that points up: a todo tells of its conversation, and is forgotten with it.
        foreign_key("todos_todo", "conversation_id", "conversations_conversation", goes_with_it=True),
        foreign_key("todos_todo", "turn_id", "conversations_turn", goes_with_it=True),
        foreign_key("todos_todo", "persona_id", "conversations_persona", goes_with_it=True),
    ]
