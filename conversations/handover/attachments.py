"""Files of messages: those that operators upload first and then send, and those that customers sent."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils.translation import gettext

from conversations.common.payloads import StoredAttachment
from conversations.handover.file_types import ALLOWED, clean_name, detect_type, is_declared, safe_name
from conversations.models import Attachment, Conversation, Message
from jobs.sweep import sweep_tenants
from projects.common.api_error import Conflict, Unprocessable
from projects.models import User
from tools.engine.limits.quotas import admit_bytes

MAX_BYTES = 10 * 1024 * 1024
MAX_PER_ANSWER = 5
# Files that wait in a conversation to be sent.
MAX_UNSENT = 50
# Files that were not sent are deleted after this long.
KEPT = timedelta(days=1)
_UNSENT = """
select organization_id, id from conversations_attachment
where message_id is null and created_at < clock_timestamp() - interval '1 day' order by created_at limit 100
"""


def upload(conversation: Conversation, content: bytes, *, name: str, by: User) -> Attachment:
    """Store a file for an answer. Without an answer, it is deleted after a day.

    Raises Unprocessable for an empty or too large file and for any type that isn't allowed, Conflict if too many files
    wait or the storage is full.
    """
    content_type = _check(content, name=name)
    if Attachment.objects.filter(conversation=conversation, message=None).count() >= MAX_UNSENT:
        raise Conflict(
            gettext("%(max_unsent)s files are waiting to be sent in this conversation. Send some of them first.")
            % {"max_unsent": MAX_UNSENT}
        )
    return _store(conversation, content, name=name, content_type=content_type, uploaded_by=by)


def receive(
    conversation: Conversation, message: Message, content: bytes, *, name: str, declared_type: str
) -> Attachment:
    """Store a file that a customer sent with a message, in the running transaction.

    Raises Unprocessable and Conflict as `upload` does, and Unprocessable (`file_type_differs`) for a file that was
    declared to be something else: an SVG image, which is a text, or a page that was sent as a picture.
    """
    content_type = _check(content, name=name)
    if not is_declared(content_type, declared_type):
        raise Unprocessable("file_type_differs", f"{clean_name(name)} isn’t what it was sent as.")
    return _store(conversation, content, name=name, content_type=content_type, message=message)


def _check(content: bytes, *, name: str) -> str:
    """The content type of a file. Raises Unprocessable."""
    content_type, shown = detect_type(content), clean_name(name)
    if not content:
        raise Unprocessable("empty_file", gettext("%(shown)s is empty.") % {"shown": shown})
    if len(content) > MAX_BYTES:
        raise Unprocessable(
            "file_too_large",
            gettext("%(shown)s is larger than %(value)s MB.") % {"shown": shown, "value": MAX_BYTES // 1024 // 1024},
        )
    if content_type is None:
        raise Unprocessable(
            "file_type_not_allowed",
            gettext("%(shown)s can't be attached. Attach %(allowed)s.") % {"shown": shown, "allowed": ALLOWED},
        )
    return content_type


def _store(conversation: Conversation, content: bytes, *, name: str, content_type: str, **fields: Any) -> Attachment:
    admit_bytes(conversation.project, len(content))
    return Attachment.objects.create(
        conversation=conversation,
        name=safe_name(name, content_type),
        content_type=content_type,
        size=len(content),
        content=content,
        **fields,
    )


def take_unsent(conversation: Conversation, ids: Sequence[UUID]) -> list[StoredAttachment]:
    """Lock the files to be sent, in the given order. Raises Unprocessable for one that is unknown or was sent."""
    rows = Attachment.objects.select_for_update().filter(conversation=conversation, message=None, pk__in=ids)
    found = {row.pk: row for row in rows.defer("content").order_by("id")}
    for id in ids:
        if id not in found:
            sentence = f"attachments: {id} is not a file of this conversation that waits to be sent."
            raise Unprocessable("invalid_attachment", sentence, field="attachments")
    return [stored_attachment(found[id]) for id in dict.fromkeys(ids)]


def mark_sent(ids: Sequence[UUID], *, message_id: UUID) -> None:
    """Bind files to the message that they were sent with."""
    Attachment.objects.filter(pk__in=ids).update(message_id=message_id)


def stored_attachment(row: Attachment) -> StoredAttachment:
    """The description of a file that its message keeps."""
    return {"id": str(row.pk), "name": row.name, "content_type": row.content_type, "size": row.size}


def delete_unsent() -> None:
    """Delete the files that were not sent within a day, in all tenants. Runs as a sweep hook."""
    sweep_tenants(_UNSENT, _delete, failed="An unsent file was not deleted")


def _delete(attachment_id: UUID) -> None:
    Attachment.objects.filter(pk=attachment_id, message=None).delete()
