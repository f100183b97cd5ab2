"""Indexes for the deletion of customers and turns."""

from django.db import migrations, models

from tenancy.online import AddIndexOnline


class Migration(migrations.Migration):
    # The indexes are built without blocking writes.
    atomic = False

    dependencies = [("todos", "0002_todo_title")]

    operations = [
        AddIndexOnline("todo", models.Index(fields=["organization", "persona_id"], name="todo_persona")),
        AddIndexOnline("todo", models.Index(fields=["organization", "turn_id"], name="todo_turn")),
    ]
