"""Contents of files in a storage, and the trigger that makes the objects of deleted files leave."""

from uuid import uuid4

import django.db.models.deletion
from django.db import migrations, models

from tenancy.baseline import DENSE_ORGANIZATION
from tenancy.rls import foreign_key, tenant_table
from tenancy.tenant_models import TenantForeignKey

# Not before a worker's claim has ended, which may be writing the object. A cascade of mg_ops runs as the table's owner, who
# sees the objects of the tenant that is set.
FUNCTION = """
create function release_stored_objects() returns trigger language plpgsql as $$
declare
    before text := current_setting('app.organization_id', true);
begin
    perform set_config('app.organization_id', old.organization_id::text, true);
    update conversations_storedobject
    set state = 'leaving', due_at = greatest(due_at, clock_timestamp())
    where organization_id = old.organization_id and attachment_id = old.id;
    perform set_config('app.organization_id', coalesce(before, ''), true);
    return null;
end $$
"""
TRIGGER = """
create trigger conversations_attachment_gone after delete on conversations_attachment
for each row execute function release_stored_objects()
"""
STATES = [("planned", "Planned"), ("kept", "Kept"), ("leaving", "Leaving")]


class Migration(migrations.Migration):
    dependencies = [("conversations", "0032_mailbox_watch")]

    operations = [
        migrations.CreateModel(
            name="StoredObject",
            fields=[
                ("id", models.UUIDField(default=uuid4, editable=False, primary_key=True, serialize=False)),
                ("attachment_id", models.UUIDField()),
                ("place", models.CharField(max_length=400)),
                ("state", models.CharField(choices=STATES, default="planned", max_length=8)),
                ("due_at", models.DateTimeField(null=True)),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("error", models.CharField(blank=True, default="", max_length=300)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                DENSE_ORGANIZATION,
            ],
            options={
                "indexes": [
                    models.Index(fields=["organization", "attachment_id"], name="object_of_attachment"),
                    models.Index(fields=["due_at"], condition=models.Q(("due_at__isnull", False)), name="object_due"),
                ],
            },
        ),
        tenant_table("conversations_storedobject"),
        migrations.AlterField("attachment", "content", models.BinaryField(null=True)),
        migrations.AddField(
            "attachment",
            "object",
            TenantForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="conversations.storedobject",
            ),
        ),
        migrations.AddField(
            "attachment", "sha256", models.CharField(blank=True, db_default="", default="", max_length=64)
        ),
        foreign_key("conversations_attachment", "object_id", "conversations_storedobject"),
        migrations.AddIndex(
            "attachment",
            models.Index(fields=["object"], condition=models.Q(("object__isnull", False)), name="attachment_object"),
        ),
        migrations.RunSQL(
            [FUNCTION, TRIGGER],
            reverse_sql=[
                "drop trigger conversations_attachment_gone on conversations_attachment",
                "drop function release_stored_objects()",
            ],
        ),
    ]
