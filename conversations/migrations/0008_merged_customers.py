"""Merged customers: their row leads to the customer they were merged into."""

import django.db.models.deletion
from django.db import migrations, models

from tenancy.rls import foreign_key
from tenancy.tenant_models import TenantForeignKey


class Migration(migrations.Migration):
    dependencies = [("conversations", "0007_inbox")]

    operations = [
        migrations.AddField(
            "persona",
            "merged_into",
            TenantForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="absorbed",
                to="conversations.persona",
            ),
        ),
        migrations.AddField("conversation", "begun_as_id", models.UUIDField(null=True)),
        foreign_key("conversations_persona", "merged_into_id", "conversations_persona", validate=False),
    ]
