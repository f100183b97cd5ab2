"""Notices by the conversation, todo or effect that they lead to."""

from django.db import migrations, models

from tenancy.online import AddIndexOnline


class Migration(migrations.Migration):
    # The indexes are built without blocking writes.
    atomic = False

    dependencies = [("notices", "0001_initial")]

    operations = [
        AddIndexOnline(
            "notice",
            models.Index(
                condition=models.Q(("object_id__isnull", False)),
                fields=["organization", "object_id"],
                name="notice_object",
            ),
        ),
    ]
