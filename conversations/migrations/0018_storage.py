"""The triggers that count the bytes of messages and attachments.

A conversation is deleted with what it contains. By then its project can't be found from there, so a trigger of the
conversation subtracts the bytes.
"""

from collections.abc import Iterable

from django.db import migrations

from projects.common.stored_bytes import count_bytes

PROJECT = """
(select c.project_id from conversations_conversation c
 where c.organization_id = row.organization_id and c.id = row.conversation_id)
"""
CONTENTS = {
    "messages": ("conversations_message", "octet_length(row.content)"),
    "attachments": ("conversations_attachment", "row.size"),
}
_CONTAINED = """
(select coalesce(sum({size}), 0) from {table} one
 where one.organization_id = old.organization_id and one.conversation_id = old.id)
"""
_SUBTRACT = "    perform add_stored_bytes(old.organization_id, old.project_id, '{kind}', -{contained}::bigint);"


def subtract_contents(contents: Iterable[tuple[str, tuple[str, str]]]) -> str:
    """The function of the trigger, without its first line."""
    return "\n".join(
        [
            "begin",
            *(
                _SUBTRACT.format(kind=kind, contained=_CONTAINED.format(size=size.replace("row.", "one."), table=table))
                for kind, (table, size) in contents
            ),
            "    return old;",
            "end $$",
        ]
    )


FUNCTION = "create function conversations_conversation_bytes() returns trigger language plpgsql as $$\n"
GONE = FUNCTION + subtract_contents(CONTENTS.items())
TRIGGER = """
create trigger conversations_conversation_gone before delete on conversations_conversation
for each row execute function conversations_conversation_bytes()
"""


class Migration(migrations.Migration):
    dependencies = [("conversations", "0017_inbox_indexes"), ("projects", "0010_storage")]

    operations = [
        *(count_bytes(table, kind=kind, project=PROJECT, size=size) for kind, (table, size) in CONTENTS.items()),
        migrations.RunSQL(
            [GONE, TRIGGER],
            reverse_sql=[
                "drop trigger conversations_conversation_gone on conversations_conversation",
                "drop function conversations_conversation_bytes()",
            ],
        ),
    ]
