"""The archive of transcripts: messages, events and analyses of a quiet conversation, moved into one compressed row.

The newest message stays where it is, and so does one that another row refers to, such as a promise or a file. `open_log`
restores everything when the conversation goes on, so that only what shows a transcript reads the archive.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from functools import cache
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Model, Q
from django.db.models.functions import Now

from conversations.models import (
    Analysis,
    ArchivedTranscript,
    Conversation,
    Event,
    Message,
    MessageTranslation,
    Turn,
)
from tenancy.scope import current_organization_id

# In the order in which rows refer to each other.
ARCHIVED: tuple[type[Model], ...] = (Message, MessageTranslation, Event, Analysis)
# The columns with a message's id, of tables of which some rows stay.
COLUMNS: Mapping[type[Model], str] = {Message: "id", MessageTranslation: "message_id"}

_READ = """
select coalesce(json_agg(one order by one.id), '[]')::text from {table} one where organization_id = %s and {column} = any(%s)
"""
_DELETE = "delete from {table} where organization_id = %s and {column} = any(%s)"
_INSERT = """
insert into {table} ({names}) select {names} from json_populate_recordset(null::{table}, %s::json) on conflict do nothing
"""
_REFERENCES = """
select c.conrelid::regclass::text, a.attname::text from pg_constraint c
join pg_attribute a on a.attrelid = c.conrelid and a.attnum = any(c.conkey) and a.attname <> 'organization_id'
where c.contype = 'f' and c.confrelid = 'conversations_message'::regclass
"""
_REFERRED = "select {column} from {table} where organization_id = %s and {column} = any(%s)"
_TURNS = """
update conversations_turn t set message_id = (old.ids ->> 0)::uuid, reply_id = (old.ids ->> 1)::uuid
from json_each(%s::json) old(turn, ids) where t.organization_id = %s and t.id = old.turn::uuid
"""


def archive_transcript(conversation_id: UUID) -> int:
    """Archive a conversation that is locked. Returns the number of messages.

    Its events stay too: `privacy.retention` deletes them once the archive is committed.
    """
    messages = _unreferenced_messages(conversation_id)
    links = Q(message_id__in=messages) | Q(reply_id__in=messages)
    turns = Turn.objects.filter(links, conversation_id=conversation_id).values_list("pk", "message_id", "reply_id")
    content: dict[str, Any] = {model._meta.db_table: _read(model, conversation_id, messages) for model in ARCHIVED}
    content["turns"] = {str(pk): [message and str(message), reply and str(reply)] for pk, message, reply in turns}
    said = [row["content"] for row in content[Message._meta.db_table]]
    ArchivedTranscript.objects.create(
        conversation_id=conversation_id,
        content=content,
        text="\n".join(said),
        bytes=sum(len(one.encode()) for one in said),
    )
    Turn.objects.filter(message_id__in=messages).update(message=None)
    Turn.objects.filter(reply_id__in=messages).update(reply=None)
    _run(_DELETE.format(table=Analysis._meta.db_table, column="conversation_id"), [conversation_id])
    # The database deletes their translations.
    _run(_DELETE.format(table=Message._meta.db_table, column="id"), messages)
    Conversation.objects.filter(pk=conversation_id).update(archived_at=Now())
    return len(messages)


def restore_transcript(conversation: Conversation) -> None:
    """Store the rows of an archived conversation again. It is locked."""
    archive = ArchivedTranscript.objects.get(conversation=conversation)
    for model in ARCHIVED:
        _insert(model, archive.content.get(model._meta.db_table, []))
    with connection.cursor() as cursor:
        cursor.execute(_TURNS, [json.dumps(archive.content["turns"]), current_organization_id()])
    archive.delete()
    Conversation.objects.filter(pk=conversation.pk).update(archived_at=None)
    conversation.archived_at = None


def find_archive(conversation: Conversation) -> ArchivedTranscript | None:
    """The conversation's archive; None if it has its rows."""
    if conversation.archived_at is None:
        return None
    return ArchivedTranscript.objects.defer("text").filter(conversation=conversation).first()


def read_messages(conversation: Conversation) -> list[Message]:
    """All messages of a conversation in order, archived or not."""
    archive = find_archive(conversation)
    stored = list(Message.objects.filter(conversation=conversation).order_by("seq"))
    # By number: the conversation may go on between the two queries, which restores what was read.
    messages = {message.seq: message for message in (*(archive.rows_of(Message) if archive else ()), *stored)}
    return [messages[seq] for seq in sorted(messages)]


def _unreferenced_messages(conversation_id: UUID) -> list[UUID]:
    rows = Message.objects.filter(conversation_id=conversation_id).order_by("-seq")
    older = list(rows.values_list("pk", flat=True))[1:]
    kept = set[UUID]()
    with connection.cursor() as cursor:
        for sql in _referring():
            cursor.execute(sql, [current_organization_id(), older])
            kept |= {pk for (pk,) in cursor.fetchall()}
    return [pk for pk in older if pk not in kept]


@cache
def _referring() -> tuple[str, ...]:
    """Statements that find the messages to which a row refers that isn't archived."""
    with connection.cursor() as cursor:
        cursor.execute(_REFERENCES)
        found = cursor.fetchall()
    archived = {Turn._meta.db_table, *(model._meta.db_table for model in ARCHIVED)}
    return tuple(_REFERRED.format(table=table, column=column) for table, column in found if table not in archived)


def _read(model: type[Model], conversation_id: UUID, messages: Collection[UUID]) -> Any:
    column = COLUMNS.get(model, "conversation_id")
    ids = list(messages) if model in COLUMNS else [conversation_id]
    with connection.cursor() as cursor:
        sql = _READ.format(table=model._meta.db_table, column=column)
        cursor.execute(sql, [current_organization_id(), ids])
        return json.loads(cursor.fetchone()[0])


def _run(sql: str, ids: Collection[UUID]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, [current_organization_id(), list(ids)])


def _insert(model: type[Model], rows: list[dict[str, Any]]) -> None:
    """Insert rows as they were. A column that is newer than the archive gets its default."""
    fields = {field.column: field for field in model._meta.concrete_fields if not field.generated}
    defaults = {name: field.get_default() for name, field in fields.items() if rows and name not in rows[0]}
    names = ", ".join(f'"{name}"' for name in fields)
    with connection.cursor() as cursor:
        sql = _INSERT.format(table=model._meta.db_table, names=names)
        cursor.execute(sql, [json.dumps([{**defaults, **row} for row in rows])])
