"""The pictures that a reply's model sees: those of the customer's latest messages."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from conversations.common.file_lines import has_files
from conversations.context.transcript import TranscriptMessage
from conversations.models import Attachment
from llm.types import Picture

MOST_PICTURES = 4
# Together, as a request may hold them.
MOST_BYTES = 10 * 1024 * 1024


def pictures_of(conversation_id: UUID, latest: Sequence[TranscriptMessage]) -> list[Picture]:
    """The newest pictures of these messages, oldest first. Costs no query if they have no files."""
    seqs = [message.seq for message in latest if has_files(message.content)]
    if not seqs:
        return []
    rows = Attachment.objects.filter(
        conversation_id=conversation_id, message__seq__in=seqs, content_type__startswith="image/"
    ).order_by("-message__seq", "-id")
    room, fitting = MOST_BYTES, list[UUID]()
    for id, size in rows.values_list("pk", "size")[:MOST_PICTURES]:
        if size <= room:
            room -= size
            fitting.append(id)
    found = Attachment.objects.in_bulk(fitting)
    return [Picture(found[id].content_type, bytes(found[id].content)) for id in reversed(fitting) if id in found]
