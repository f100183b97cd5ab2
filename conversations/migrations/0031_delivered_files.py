"""Files of e-mails until they are attached."""

import django.db.models.deletion
from django.db import migrations, models

from tenancy.baseline import ID, ORGANIZATION
from tenancy.rls import tenant_table
from tenancy.tenant_models import TenantForeignKey

CASCADE = django.db.models.deletion.CASCADE


class Migration(migrations.Migration):
    dependencies = [("conversations", "0030_receipt_events")]

    operations = [
        migrations.CreateModel(
            name="DeliveredFile",
            fields=[
                ID,
                ("number", models.PositiveSmallIntegerField()),
                ("content", models.BinaryField()),
                (
                    "message",
                    TenantForeignKey(
                        db_index=False,
                        on_delete=CASCADE,
                        related_name="delivered_files",
                        to="conversations.message",
                    ),
                ),
                ORGANIZATION,
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("organization", "message", "number"), name="one_delivered_file_per_number"
                    )
                ],
            },
        ),
        tenant_table("conversations_deliveredfile", parents={"message_id": "conversations_message"}, referenced=False),
        # Most files are compressed already, and are read once.
        migrations.RunSQL(
            "alter table conversations_deliveredfile alter column content set storage external",
            reverse_sql=migrations.RunSQL.noop,
        ),
    ]
