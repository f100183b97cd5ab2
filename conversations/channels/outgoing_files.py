"""Files of messages that go out: found with their part, and read after its transaction."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import cast
from uuid import UUID

from conversations.channels.pacing import OF_CHAT
from conversations.channels.provider import OutgoingFile, OutgoingPart, Provider
from conversations.common.attachment_links import provider_url
from conversations.common.payloads import StoredAttachment
from conversations.files.contents import content_of, fetch
from conversations.files.places import FileGone, FilesUnavailable
from conversations.models import Attachment
from projects.connections.integrations import Connection
from tools.engine.execution.outcome import Outcome

log = logging.getLogger(__name__)

FILE_DELETED = "The file was deleted."
STORAGE_AWAY = "The file can’t be read from its storage at the moment."
RETRY_SECONDS = 10.0


def find_file(stored: StoredAttachment) -> OutgoingFile | None:
    """The file of a part, without its content. None if it was deleted."""
    found = Attachment.objects.select_related("object").filter(pk=stored["id"]).first()
    if found is None:
        return None
    url = provider_url(cast(UUID, found.organization_id), found.pk)
    return OutgoingFile(found.name, found.content_type, content_of(found), url)


async def send_part(provider: Provider, connection: Connection, part: OutgoingPart) -> Outcome:
    """Send a part with its file. A storage that is away is no limit of the account, so only this part waits for it."""
    try:
        if part.file is not None:
            part = replace(part, file=replace(part.file, content=await fetch(part.file.source)))
        return await provider.send(connection, part)
    except FileGone:
        return Outcome.failed(FILE_DELETED)
    except FilesUnavailable as error:
        log.warning("A file could not be sent: %s", error)
        return Outcome.not_sent(STORAGE_AWAY, retry_after_seconds=RETRY_SECONDS, result={OF_CHAT: True})
