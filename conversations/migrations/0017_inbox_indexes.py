"""Indexes of the inbox and of the list of customers, and the check of two foreign keys."""

from django.db import migrations, models

from tenancy.online import AddIndexOnline
from tenancy.rls import validate_key

# Index by column, with the fields after the project.
INBOX = {
    "assignee": ("conversation_assigned", "assignee", "-updated_at"),
    "operator": ("conversation_operated", "operator", "-updated_at"),
    "snoozed_until": ("conversation_snoozed", "snoozed_until"),
    "returned_at": ("conversation_returned", "returned_at"),
    "closed_at": ("conversation_closed", "-closed_at"),
}


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("conversations", "0016_ratings")]

    operations = [
        *(
            AddIndexOnline(
                "conversation",
                models.Index(
                    condition=models.Q((f"{column}__isnull", False)),
                    fields=["organization", "project", *fields],
                    name=name,
                ),
            )
            for column, (name, *fields) in INBOX.items()
        ),
        AddIndexOnline(
            "persona",
            models.Index(
                condition=models.Q(("merged_into__isnull", True)),
                fields=["organization", "project", "-id"],
                name="persona_newest",
            ),
        ),
        AddIndexOnline(
            "persona",
            models.Index(
                condition=models.Q(("merged_into__isnull", False)),
                fields=["organization", "merged_into"],
                name="persona_merged",
            ),
        ),
        AddIndexOnline(
            "conversation",
            models.Index(
                condition=models.Q(("rating__isnull", False)),
                fields=["organization", "project", "rating", "-updated_at"],
                name="conversation_rated",
            ),
        ),
        validate_key("conversations_persona", "conversations_persona_merged_into_id_tenant"),
        validate_key("conversations_conversation", "conversations_conver_assignee_id_e845f644_fk_projects_"),
    ]
