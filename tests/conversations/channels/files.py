"""Files that customers send and operators answer with."""

from __future__ import annotations

from conversations.handover.attachments import upload
from conversations.handover.operators import answer, take_over
from conversations.models import Conversation, Message
from jobs.models import LIVE, Job
from tests.conftest import Tenant
from tests.processes import until

JPEG = b"\xff\xd8\xff\xe0" + bytes(40)
PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)
PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
# A page of Ogg Opus that ends after 12 s, an MP4 of 65 s with and without pictures, and an MP3.
VOICE = b"OggS" + bytes(24) + b"OpusHead" + bytes(40) + b"OggS\0\0" + (12 * 48_000).to_bytes(8, "little") + bytes(20)
MOVIE_HEADER = b"mvhd" + bytes(12) + (1_000).to_bytes(4, "big") + (65_000).to_bytes(4, "big")
VIDEO = b"\0\0\0\x18ftypisom" + bytes(12) + MOVIE_HEADER + b"hdlr" + bytes(8) + b"vide" + bytes(20)
AUDIO = b"\0\0\0\x18ftypM4A " + bytes(12) + MOVIE_HEADER + b"hdlr" + bytes(8) + b"soun" + bytes(20)
MP3 = b"ID3\x04" + bytes(40)
ZIP = b"PK\x03\x04" + bytes(1000)


def until_read(tenant: Tenant) -> Message:
    """The customer's first message, once its files were fetched or given up."""

    def is_over() -> bool:
        with tenant.tx():
            fetches = Job.objects.filter(lane="channel_files")
            return fetches.exists() and not fetches.filter(state__in=LIVE).exists()

    until(is_over, what="the end of the fetch")
    with tenant.tx():
        return Message.objects.filter(role="user").order_by("seq")[0]


def answer_with(tenant: Tenant, *contents: bytes, name: str = "menu", content: str = "Here it is.") -> None:
    """Answer the only conversation with files, as an operator."""
    with tenant.tx():
        row = Conversation.objects.get()
        take_over(row.pk, by=tenant.owner)
        ids = [upload(row, one, name=name, by=tenant.owner).pk for one in contents]
        answer(row.pk, content, by=tenant.owner, attachments=ids)
