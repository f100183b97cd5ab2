"""The bytes of archived messages, which count as before."""

from importlib import import_module

from django.db import migrations, models

from projects.common.stored_bytes import count_bytes

storage = import_module("conversations.migrations.0018_storage")
TABLE, SIZE = "conversations_archivedtranscript", "row.bytes"
CONTENTS = [*storage.CONTENTS.items(), ("messages", (TABLE, SIZE))]
REPLACE = storage.FUNCTION.replace("create function", "create or replace function")


class Migration(migrations.Migration):
    dependencies = [("conversations", "0026_channel_pause")]

    operations = [
        migrations.AddField("archivedtranscript", "bytes", models.PositiveBigIntegerField(default=0)),
        count_bytes(TABLE, kind="messages", project=storage.PROJECT, size=SIZE),
        migrations.RunSQL(
            REPLACE + storage.subtract_contents(CONTENTS),
            reverse_sql=REPLACE + storage.subtract_contents(storage.CONTENTS.items()),
        ),
    ]
