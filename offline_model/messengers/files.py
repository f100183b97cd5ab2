"""Files that customers and the business send by the offline messengers, in memory."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import aiohttp

MOST_BYTES = 64 * 1024 * 1024
FETCH_SECONDS = 15.0
VOICE = "audio/ogg"


@dataclass(frozen=True)
class SentFile:
    """A file of a message. `id` can't be guessed, and gives the file out."""

    name: str
    content_type: str
    content: bytes = field(repr=False)
    id: str = field(default_factory=lambda: str(uuid4()))

    @property
    def document(self) -> dict[str, Any]:
        return {"id": self.id, "name": self.name, "type": self.content_type}

    @property
    def kind(self) -> str:
        """`image`, `voice`, `audio`, `video` or `document`."""
        if self.content_type.startswith(VOICE):
            return "voice"
        kind = self.content_type.partition("/")[0]
        return kind if kind in ("image", "audio", "video") else "document"


class Files:
    """All files; the oldest are forgotten."""

    def __init__(self) -> None:
        self._files: OrderedDict[str, SentFile] = OrderedDict()
        self._held = 0

    def add(self, file: SentFile) -> SentFile:
        self._files[file.id] = file
        self._held += len(file.content)
        while self._held > MOST_BYTES and len(self._files) > 1:
            self._held -= len(self._files.popitem(last=False)[1].content)
        return file

    def find(self, id: str) -> SentFile | None:
        return self._files.get(id)


async def fetch_file(url: str) -> SentFile | None:
    """The file at an address of the business, as a provider fetches it; None if there is none."""
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(FETCH_SECONDS)) as http,
            http.get(url, allow_redirects=False) as answer,
        ):
            name = answer.content_disposition.filename if answer.content_disposition else None
            content = await answer.read()
            return SentFile(name or "file", answer.content_type, content) if answer.status == 200 else None
    except (aiohttp.ClientError, TimeoutError, ValueError):
        return None
