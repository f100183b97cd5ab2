"""The pictures that a reply's model sees: those of the customer's latest messages.

They are found with the prompt, and read after its transaction.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from conversations.common.file_lines import files_in
from conversations.context.transcript import TranscriptMessage
from conversations.files.contents import Content, content_of, fetch
from conversations.files.places import FileGone, FilesUnavailable
from conversations.models import Attachment
from llm.types import ChatRequest, Picture
from llm.wire import unseen_pictures

log = logging.getLogger(__name__)

MOST_PICTURES = 4
# Together: a request holds them as text, which is built on the event loop.
MOST_BYTES = 6 * 1024 * 1024
# The customer waits.
PATIENCE_SECONDS = 5


@dataclass(frozen=True)
class FoundPicture:
    """A picture of which only the place is known yet."""

    content_type: str
    content: Content


@dataclass(frozen=True)
class LatestFiles:
    """The files of the customer's latest messages: pictures that the model sees, and the names of the others."""

    pictures: Sequence[FoundPicture] = ()
    unseen: Sequence[str] = ()


def find_files(conversation_id: UUID, latest: Sequence[TranscriptMessage]) -> LatestFiles:
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
    found = Attachment.objects.select_related("object").in_bulk(fitting)
    seen = [found[id] for id in reversed(fitting)]
    for row in seen:
        if row.name in names:
            names.remove(row.name)
    return LatestFiles([FoundPicture(row.content_type, content_of(row)) for row in seen], names)


async def with_pictures(request: ChatRequest, found: Sequence[FoundPicture]) -> ChatRequest:
    """The request with the pictures. If their storage is away, the model is told that it can't see them."""
    if not found:
        return request
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            pictures = [Picture(one.content_type, await fetch(one.content)) for one in found]
    except (FileGone, FilesUnavailable, TimeoutError) as error:
        log.warning("A model doesn't see pictures that couldn't be read: %s", error)
        return replace(request, messages=unseen_pictures(request.messages))
    return replace(request, pictures=pictures)
