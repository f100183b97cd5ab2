"""Contents of files, in any storage: the row is read in a transaction, and the content after it.

>>> with tenant_tx(organization_id):
...     content = content_of(Attachment.objects.select_related("object").get(pk=pk))
>>> load(content)
"""

from __future__ import annotations

import asyncio
import hashlib
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial

from conversations.files.places import FilesUnavailable, read_object
from conversations.models import Attachment
from outbound.fair_threads import FairThreads
from outbound.tenant import current_tenant

# Per process. Each thread has a client of the bucket.
THREADS = 8
_threads = FairThreads(THREADS, name="files")


@dataclass(frozen=True)
class Content:
    """A content: its bytes, or the object that holds them."""

    inline: bytes | None = field(repr=False)
    place: str = ""
    name: str = ""
    sha256: str = ""


def content_of(row: Attachment) -> Content:
    """The content of a row that was read with its `object`."""
    if row.object is None:
        assert row.content is not None
        return Content(bytes(row.content))
    return Content(None, row.object.place, row.object.name, row.sha256)


def load(content: Content) -> bytes:
    """The bytes. Waits for the network unless they are from the row. Raises FileGone or FilesUnavailable."""
    return content.inline if content.inline is not None else _submit(content).result()


async def fetch(content: Content) -> bytes:
    """As `load`, for the event loop."""
    return content.inline if content.inline is not None else await asyncio.wrap_future(_submit(content))


def digest_of(content: bytes) -> str:
    """The digest that a row keeps of its content."""
    return hashlib.sha256(content).hexdigest()


def _submit(content: Content) -> Future[bytes]:
    return _threads.submit(current_tenant(), partial(_read, content))


def _read(content: Content) -> bytes:
    found = read_object(content.place, content.name)
    if digest_of(found) != content.sha256:
        raise FilesUnavailable(f"{content.place} returns another content of {content.name} than was stored.")
    return found
