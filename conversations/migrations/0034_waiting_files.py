"""Files that customers upload before their conversation begins."""

from importlib import import_module

import django.db.models.deletion
from django.db import migrations, models

from projects.common.stored_bytes import find_project_by
from tenancy.rls import foreign_key
from tenancy.tenant_models import TenantForeignKey

CASCADE = django.db.models.deletion.CASCADE
storage = import_module("conversations.migrations.0018_storage")
TABLE, SIZE = storage.CONTENTS["attachments"]


class Migration(migrations.Migration):
    dependencies = [("conversations", "0033_stored_objects"), ("projects", "0010_storage")]

    operations = [
        migrations.AlterField(
            "attachment",
            "conversation",
            TenantForeignKey(null=True, on_delete=CASCADE, related_name="attachments", to="conversations.conversation"),
        ),
        migrations.AddField(
            "attachment",
            "project",
            TenantForeignKey(db_index=False, null=True, on_delete=CASCADE, related_name="+", to="projects.project"),
        ),
        migrations.AddField(
            "attachment", "sender", models.CharField(blank=True, db_default="", default="", max_length=200)
        ),
        foreign_key(TABLE, "project_id", "projects_project", cascade=True),
        migrations.AddIndex(
            "attachment",
            models.Index(
                condition=models.Q(("project__isnull", False)),
                fields=["organization", "project", "sender"],
                name="attachment_waiting",
            ),
        ),
        find_project_by(
            TABLE,
            kind="attachments",
            project=f"coalesce(row.project_id, {storage.PROJECT})",
            former=storage.PROJECT,
            size=SIZE,
        ),
    ]
