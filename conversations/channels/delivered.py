"""The contents of files that came with their message, as those of e-mails do, until a job attaches them."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from conversations.channels.items import RemoteFile
from conversations.models import DeliveredFile


def keep_contents(message_id: UUID, files: Sequence[RemoteFile]) -> None:
    """Keep what came with a message, in the transaction that stores it."""
    rows = [
        DeliveredFile(message_id=message_id, number=number, content=file.content)
        for number, file in enumerate(files)
        if file.content is not None
    ]
    if rows:
        # One after the other, so that no statement is longer than one file.
        DeliveredFile.objects.bulk_create(rows, batch_size=1)


def read_content(message_id: UUID, number: int) -> bytes | None:
    """The content of a message's file; None if it isn't there."""
    found = DeliveredFile.objects.filter(message_id=message_id, number=number).values_list("content", flat=True).first()
    return bytes(found) if found is not None else None


def delete_contents(message_id: UUID) -> None:
    """Delete what came with a message, in the transaction that attaches it."""
    DeliveredFile.objects.filter(message_id=message_id).delete()
