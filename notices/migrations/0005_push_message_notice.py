"""The notice of a push message: of the same tenant, and deleted with its messages."""

from django.db import migrations, models

from tenancy.rls import combine, foreign_key


class Migration(migrations.Migration):
    dependencies = [("notices", "0004_push")]

    operations = [
        migrations.AddIndex(
            "pushmessage", models.Index(fields=["organization", "notice_id"], name="push_message_notice")
        ),
        combine(
            "alter table notices_notice add constraint notices_notice_tenant unique (organization_id, id)",
            foreign_key("notices_pushmessage", "notice_id", "notices_notice", cascade=True),
        ),
    ]
