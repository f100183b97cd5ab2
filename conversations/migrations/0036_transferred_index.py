"""The index of the conversations that were transferred to a person, for the list of those handed over."""

from django.db import migrations, models

from tenancy.online import AddIndexOnline


class Migration(migrations.Migration):
    # The index is built without blocking writes.
    atomic = False

    dependencies = [("conversations", "0035_delivered_bytes")]

    operations = [
        AddIndexOnline(
            "conversation",
            models.Index(
                condition=models.Q(("status", "transferred")),
                fields=["organization", "project"],
                name="conversation_transferred",
            ),
        ),
    ]
