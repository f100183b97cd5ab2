"""Files of messages: uploaded first and then sent by operators and customers, or fetched from a messenger."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
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
from conversations.live.event_log import lock_conversation
from conversations.models import IS_UPLOAD, Attachment, Conversation, Message, Persona
from jobs.sweep import sweep_tenants
from projects.common.api_error import Conflict, Unprocessable
from projects.models import User
from tools.engine.limits.quotas import admit_bytes

MAX_BYTES = 10 * 1024 * 1024
# A few kilobytes can hold an image that fills the memory of the browser or model that opens it.
MAX_PIXELS = 100_000_000
# Of audio and videos, which only messengers bring.
MAX_MEDIA_BYTES = 16 * 1024 * 1024
MAX_PER_ANSWER = 5
# Files that wait in a conversation to be sent.
MAX_UNSENT = 50
MAX_UNSENT_OF_CUSTOMER = 20
# The `external_id` of a visitor of the widget whom the shop hasn't signed in begins with this.
VISITOR = "visitor:"
# Files that were not sent are deleted after this long.
KEPT = timedelta(days=1)
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
    content_type = _check(content, name=name)
    if by is None and not is_kept(content_type, name):
        raise _not_allowed(name)
    if by is None and not is_named(content_type, name):
        raise _differs(name)
    most = MAX_UNSENT if by else MAX_UNSENT_OF_CUSTOMER
    if _unsent(conversation, is_customers=by is None).count() >= most:
        raise Conflict(
            gettext("%(max_unsent)s files are waiting to be sent in this conversation. Send some of them first.")
            % {"max_unsent": most},
            code="too_many_unsent_files",
        )
    return _store(conversation, content, name=name, content_type=content_type, uploaded_by=by)


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
    return _store(conversation, content, name=name, content_type=content_type, message=message)


def _not_allowed(name: str) -> Unprocessable:
    names = {"shown": clean_name(name), "allowed": str(ALLOWED)}
    return Unprocessable("file_type_not_allowed", gettext("%(shown)s can't be attached. Attach %(allowed)s.") % names)


def _differs(name: str) -> Unprocessable:
    sentence = gettext("%(shown)s isn’t what its name says. Attach the original file.") % {"shown": clean_name(name)}
    return Unprocessable("file_type_differs", sentence)


def _unsent(conversation: Conversation, *, is_customers: bool) -> QuerySet[Attachment]:
    """The files that wait to be sent: the customer's, or the operators'."""
    return Attachment.objects.filter(conversation=conversation, message=None, uploaded_by__isnull=is_customers)


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


def _store(conversation: Conversation, content: bytes, *, name: str, content_type: str, **fields: Any) -> Attachment:
    admit_bytes(conversation.project, len(content))
    stored = Attachment.objects.create(
        conversation=conversation,
        name=safe_name(name, content_type),
        content_type=content_type,
        size=len(content),
        content=content,
        sha256=digest_of(content),
        **fields,
    )
    plan_object(stored)
    return stored


def take_unsent(
    conversation: Conversation, ids: Sequence[UUID], *, is_customers: bool = False
) -> list[StoredAttachment]:
    """Lock the files to be sent, in the given order. Raises Unprocessable for one that is unknown or was sent, or that
    the other side uploaded.
    """
    rows = _unsent(conversation, is_customers=is_customers).select_for_update().filter(pk__in=ids)
    found = {row.pk: row for row in rows.defer("content").order_by("id")}
    for id in ids:
        if id not in found:
            sentence = f"attachments: {id} is not a file of this conversation that waits to be sent."
            raise Unprocessable("invalid_attachment", sentence, field="attachments")
    return [stored_attachment(found[id]) for id in dict.fromkeys(ids)]


def move_unsent(ids: Sequence[UUID], *, source: Conversation, target: Conversation) -> None:
    """Move a customer's files to the conversation that follows the one they were uploaded in."""
    _unsent(source, is_customers=True).filter(pk__in=ids).update(conversation=target)


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
    """Delete the file, and the conversation that its upload began if nothing was ever said in it."""
    found = Attachment.objects.filter(pk=attachment_id, message=None)
    for conversation_id, user_id in found.values_list("conversation_id", "uploaded_by_id"):
        # Locked before its files, as a message that sends them does.
        lock_conversation(conversation_id)
        found.delete()
        if user_id is None and not Attachment.objects.filter(conversation_id=conversation_id).exists():
            _delete_begun(conversation_id)


def _delete_begun(conversation_id: UUID) -> None:
    """Delete a conversation in which nothing was said, and its visitor if nothing else is known of them."""
    begun = Conversation.objects.filter(IS_UPLOAD, pk=conversation_id)
    visitors = Persona.objects.filter(pk__in=list(begun.values_list("persona_id", flat=True)))
    # Without a cascade, which facts forbid: what staff has added, such as a tag, keeps the row.
    for rows in (begun, visitors.filter(external_id__startswith=VISITOR)):
        with suppress(IntegrityError), transaction.atomic():
            rows._raw_delete(using="default")
