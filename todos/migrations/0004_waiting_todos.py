"""An index of the todos that wait, by conversation: the inbox counts them for every page of staff."""

from django.db import migrations, models

from tenancy.online import AddIndexOnline


class Migration(migrations.Migration):
    # The index is built without blocking writes.
    atomic = False

    dependencies = [("todos", "0003_reference_indexes")]

    operations = [
        AddIndexOnline(
            "todo",
            models.Index(
                condition=models.Q(("status__in", ["pending_review", "needs_attention", "approved"])),
                fields=["organization", "project", "status", "conversation_id", "status_at"],
                include=["tool", "type"],
                name="todo_waiting",
            ),
        ),
    ]
