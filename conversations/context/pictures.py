"""The pictures that a reply's model sees: those of the customer's latest messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from conversations.common.file_lines import files_in
from conversations.context.transcript import TranscriptMessage
from conversations.models import Attachment
from llm.types import Picture

MOST_PICTURES = 4
# Together: a request holds them as text, which is built on the event loop.
MOST_BYTES = 6 * 1024 * 1024


@dataclass(frozen=True)
class LatestFiles:
    """The files of the customer's latest messages: pictures that the model sees, and the names of the others."""

    pictures: Sequence[Picture] = ()
    unseen: Sequence[str] = ()


def read_files(conversation_id: UUID, latest: Sequence[TranscriptMessage]) -> LatestFiles:
    """The files of these messages, the newest pictures among them. Costs no query if they have none."""
    names = [name for message in latest for name in files_in(message.content)]
    if not names:
        return LatestFiles()
    seqs = [message.seq for message in latest]
    rows = Attachment.objects.filter(
        conversation_id=conversation_id, message__seq__in=seqs, content_type__startswith="image/"
    ).order_by("-message__seq", "-id")
    room, fitting = MOST_BYTES, list[UUID]()
    for id, size in rows.values_list("pk", "size")[:MOST_PICTURES]:
        if size <= room:
            room -= size
            fitting.append(id)
    found = Attachment.objects.in_bulk(fitting)
    seen = [found[id] for id in reversed(fitting)]
    for row in seen:
        if row.name in names:
            names.remove(row.name)
    return LatestFiles([Picture(row.content_type, bytes(row.content)) for row in seen], names)
