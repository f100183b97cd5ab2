"""The bytes of files that came with an e-mail and aren't attached yet, which count as attachments."""

from importlib import import_module

from django.db import migrations

from projects.common.stored_bytes import count_bytes

archived = import_module("conversations.migrations.0027_archived_bytes")
TABLE, SIZE = "conversations_deliveredfile", "octet_length(row.content)"
PROJECT = """
(select c.project_id from conversations_message m
 join conversations_conversation c on c.organization_id = m.organization_id and c.id = m.conversation_id
 where m.organization_id = row.organization_id and m.id = row.message_id)
"""
IN_CONVERSATIONS = f"""
(select m.organization_id, m.conversation_id, f.content from conversations_message m
 join {TABLE} f on f.organization_id = m.organization_id and f.message_id = m.id)
"""  # noqa: S608 - a table of our own
CONTENTS = [*archived.CONTENTS, ("attachments", (IN_CONVERSATIONS, SIZE))]


class Migration(migrations.Migration):
    dependencies = [("conversations", "0034_waiting_files")]

    operations = [
        count_bytes(TABLE, kind="attachments", project=PROJECT, size=SIZE),
        migrations.RunSQL(
            archived.REPLACE + archived.storage.subtract_contents(CONTENTS),
            reverse_sql=archived.REPLACE + archived.storage.subtract_contents(archived.CONTENTS),
        ),
    ]
