"""Indexes for the deletion of conversations."""

from django.db import migrations, models

from tenancy.online import AddIndexOnline


class Migration(migrations.Migration):
    # The indexes are built without blocking writes.
    atomic = False

    dependencies = [("conversations", "0013_attachments")]

    operations = [
        AddIndexOnline("mention", models.Index(fields=["organization", "conversation"], name="mention_conversation")),
        AddIndexOnline(
            "promptsection", models.Index(fields=["organization", "effect_id"], name="prompt_section_effect")
        ),
    ]
