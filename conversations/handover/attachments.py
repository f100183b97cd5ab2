"""Files of messages: uploaded first and then sent by operators and customers, or fetched from a messenger."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext

from conversations.common.payloads import StoredAttachment
from conversations.files.contents import digest_of
from conversations.files.upkeep import plan_object
from conversations.handover.file_types import (
    ALLOWED,
    clean_name,
    detect_type,
    is_declared,
    is_kept,
    is_named,
    safe_name,
)
from conversations.handover.image_size import pixels_of
from conversations.handover.media_types import detect_media
from conversations.models import Attachment, Conversation, Message
from jobs.sweep import sweep_tenants
from projects.common.api_error import Conflict, Unprocessable
from projects.models import Project, User
from tools.engine.limits.quotas import admit_bytes

MAX_BYTES = 10 * 1024 * 1024
# A few kilobytes can hold an image that fills the memory of the browser or model that opens it.
MAX_PIXELS = 100_000_000
# The limit of audio and videos, which only messengers bring.
MAX_MEDIA_BYTES = 16 * 1024 * 1024
MAX_PER_ANSWER = 5
# Files that wait to be sent: in a conversation, or of one customer.
MAX_UNSENT = 50
MAX_UNSENT_OF_CUSTOMER = 20
# Files that were not sent for a day, which are deleted.
_UNSENT = """
select organization_id, id from conversations_attachment
where message_id is null and created_at < clock_timestamp() - interval '1 day' order by created_at limit 100
"""


def upload(conversation: Conversation, content: bytes, *, name: str, by: User | None) -> Attachment:
    """Store a file for the next message of an operator, or of the customer (`by` is None). A file that isn't sent is
    deleted after a day.

    Raises Unprocessable for an empty or too large file and for any type that isn't allowed, Conflict if too many files
    wait or the storage is full.
    """
    content_type = _check_named(content, name=name)
    waiting = _unsent(conversation, is_customers=by is None)
    _check_few(waiting, most=MAX_UNSENT if by else MAX_UNSENT_OF_CUSTOMER)
    place = {"conversation": conversation, "uploaded_by": by}
    return _store(conversation.project, content, name=name, content_type=content_type, **place)


def upload_ahead(project: Project, sender: str, content: bytes, *, name: str) -> Attachment:
    """Store a file for the next message of the customer with this `external_id`, who may have no conversation yet. Raises
    as `upload` does.
    """
    content_type = _check_named(content, name=name)
    _check_few(waiting_files(project.pk, [sender]), most=MAX_UNSENT_OF_CUSTOMER)
    return _store(project, content, name=name, content_type=content_type, project=project, sender=sender)


def waiting_files(project_id: UUID, senders: Collection[str] | QuerySet[Any, Any]) -> QuerySet[Attachment]:
    """The files that customers with these `external_id`s have uploaded for their next message."""
    return Attachment.objects.filter(conversation=None, project_id=project_id, sender__in=senders)


def receive(
    conversation: Conversation, message: Message, content: bytes, *, name: str, declared_type: str
) -> Attachment:
    """Store a file that a customer sent with a message, in the running transaction.

    Raises Unprocessable and Conflict as `upload` does, and Unprocessable (`file_type_differs`) for a file that was
    declared to be something else: an SVG image, which is a text, or a page that was sent as a picture. Audio and videos
    are kept as well, and may be larger.
    """
    media = detect_media(content)
    if media is not None:
        _check_size(content, name=name, most=MAX_MEDIA_BYTES)
    content_type = media or _check(content, name=name)
    if not is_declared(content_type, declared_type):
        raise _differs(name)
    place = {"conversation": conversation, "message": message}
    return _store(conversation.project, content, name=name, content_type=content_type, **place)


def _not_allowed(name: str) -> Unprocessable:
    names = {"shown": clean_name(name), "allowed": str(ALLOWED)}
    return Unprocessable("file_type_not_allowed", gettext("%(shown)s can't be attached. Attach %(allowed)s.") % names)


def _differs(name: str) -> Unprocessable:
    sentence = gettext("%(shown)s isn’t what its name says. Attach the original file.") % {"shown": clean_name(name)}
    return Unprocessable("file_type_differs", sentence)


def _unsent(conversation: Conversation, *, is_customers: bool) -> QuerySet[Attachment]:
    """The files of a conversation that wait to be sent: the customer's, or the operators'."""
    return Attachment.objects.filter(conversation=conversation, message=None, uploaded_by__isnull=is_customers)


def _check_few(waiting: QuerySet[Attachment], *, most: int) -> None:
    """Raises Conflict."""
    if waiting.count() >= most:
        sentence = gettext("%(max_unsent)s files are waiting to be sent in this conversation. Send some of them first.")
        raise Conflict(sentence % {"max_unsent": most}, code="too_many_unsent_files")


def _check_named(content: bytes, *, name: str) -> str:
    """The content type of a file that is what its name says. Raises Unprocessable."""
    content_type = _check(content, name=name)
    if not is_kept(content_type, name):
        raise _not_allowed(name)
    if not is_named(content_type, name):
        raise _differs(name)
    return content_type


def _check(content: bytes, *, name: str) -> str:
    """The content type of a file. Raises Unprocessable."""
    content_type, shown = detect_type(content), clean_name(name)
    if not content:
        raise Unprocessable("empty_file", gettext("%(shown)s is empty.") % {"shown": shown})
    _check_size(content, name=name, most=MAX_BYTES)
    if content_type is None:
        raise _not_allowed(name)
    if pixels_of(content) > MAX_PIXELS:
        sentence = gettext("%(shown)s has more than %(most)s million pixels.")
        raise Unprocessable("image_too_large", sentence % {"shown": shown, "most": MAX_PIXELS // 1_000_000})
    return content_type


def _check_size(content: bytes, *, name: str, most: int) -> None:
    """Raises Unprocessable."""
    if len(content) > most:
        shown = {"shown": clean_name(name), "value": most // 1024 // 1024}
        raise Unprocessable("file_too_large", gettext("%(shown)s is larger than %(value)s MB.") % shown)


def _store(project: Project, content: bytes, /, *, name: str, content_type: str, **place: Any) -> Attachment:
    admit_bytes(project, len(content))
    stored = Attachment.objects.create(
        name=safe_name(name, content_type),
        content_type=content_type,
        size=len(content),
        content=content,
        sha256=digest_of(content),
        **place,
    )
    plan_object(stored)
    return stored


def take_unsent(
    conversation: Conversation,
    ids: Sequence[UUID],
    *,
    is_customers: bool = False,
    senders: Collection[str] = (),
    uploaded_after: datetime | None = None,
) -> list[StoredAttachment]:
    """Lock the files to be sent, in the given order: those of the conversation, or those that one of `senders` uploaded
    after that time. Raises Unprocessable for one that is unknown or was sent, or that the other side uploaded.
    """
    rows = _unsent(conversation, is_customers=is_customers)
    if senders:
        own = waiting_files(conversation.project_id, senders)
        rows |= own.filter(created_at__gt=uploaded_after) if uploaded_after else own
    rows = rows.select_for_update(of=("self",)).filter(pk__in=ids)
    found = {row.pk: row for row in rows.defer("content").order_by("id")}
    for id in ids:
        if id not in found:
            sentence = f"attachments: {id} is not a file of this conversation that waits to be sent."
            raise Unprocessable("invalid_attachment", sentence, field="attachments")
    return [stored_attachment(found[id]) for id in dict.fromkeys(ids)]


def mark_sent(ids: Sequence[UUID], *, message: Message) -> None:
    """Bind files to the message that they were sent with."""
    place = {"conversation_id": message.conversation_id, "project": None, "sender": ""}
    Attachment.objects.filter(pk__in=ids).update(message=message, **place)


def stored_attachment(row: Attachment) -> StoredAttachment:
    """The description of a file that its message keeps."""
    return {"id": str(row.pk), "name": row.name, "content_type": row.content_type, "size": row.size}


def delete_unsent() -> None:
    """Delete the files that were not sent within a day, in all tenants. Runs as a sweep hook."""
    sweep_tenants(_UNSENT, _delete, failed="An unsent file was not deleted")


def _delete(attachment_id: UUID) -> None:
    Attachment.objects.filter(pk=attachment_id, message=None).delete()
