"""The files of an answer by e-mail: in the e-mail, or as links below its text."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from conversations.common.payloads import StoredAttachment
from conversations.common.presenters import attachment_payload
from conversations.files.contents import Content, content_of, fetch
from conversations.files.places import FileGone
from conversations.models import Attachment, Receipt
from tools.services.messaging.base import EmailFile, EmailReply

# Together, before they grow by a third on their way. Most mail servers take 25 MB.
MOST_BYTES = 18_000_000


@dataclass(frozen=True)
class EnclosedFile:
    """A file of an e-mail, whose content is read before it is sent. `url` opens it in case the mail server doesn't take it."""

    name: str
    content_type: str
    source: Content
    url: str


def enclosable(files: Sequence[StoredAttachment]) -> list[StoredAttachment]:
    """The first of the files, as far as an e-mail holds them."""
    taken, room = list[StoredAttachment](), MOST_BYTES
    for file in files:
        if file["size"] <= room:
            taken.append(file)
            room -= file["size"]
    return taken


def find_enclosed(receipt: Receipt) -> list[EnclosedFile]:
    """The files of a part. One that was deleted meanwhile is left out."""
    effect = receipt.effect
    if effect is None or not effect.arguments.get("files"):
        return []
    found = list[EnclosedFile]()
    for stored in effect.arguments["files"]:
        row = Attachment.objects.select_related("object").filter(pk=stored["id"]).first()
        if row is not None:
            url = attachment_payload(stored, receipt.message.organization_id)["url"]
            found.append(EnclosedFile(row.name, row.content_type, content_of(row), url))
    return found


async def read_enclosed(files: Sequence[EnclosedFile]) -> list[EmailFile]:
    """The files with their contents. One whose content is gone is left out. Raises FilesUnavailable."""
    found = list[EmailFile]()
    for file in files:
        with suppress(FileGone):
            found.append(EmailFile(file.name, file.content_type, await fetch(file.source)))
    return found


def as_links(message: EmailReply, files: Sequence[EnclosedFile]) -> EmailReply:
    """The e-mail with links in place of its files."""
    links = "\n".join(f"{file.name}: {file.url}" for file in files)
    return replace(message, body=f"{message.body}\n\n{links}", files=())
