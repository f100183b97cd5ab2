"""The files of an e-mail: which of its parts are any, and which of those are kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from conversations.channels.items import RemoteFile, clean_text
from conversations.channels.mail.words import Images, images_of
from conversations.channels.media import MOST_BYTES, TOO_LARGE
from conversations.handover.attachments import MAX_BYTES
from conversations.handover.file_types import clean_name
from conversations.handover.image_size import read_size

# An e-mail with more files keeps the first ones.
MOST_FILES = 20
# A logo, an icon or a tracking pixel has no more.
SMALLEST_AREA = 14_400
SMALLEST_SIDE = 40
# A picture whose size can't be read is judged by its bytes.
SMALLEST_BYTES = 2_000
LARGER = "the e-mail is too large"
TOGETHER = "the files of the e-mail are too large together"
# Parts that no program can read here, with the reason, which ends a sentence.
REASONS: Mapping[str, str] = {
    "application/ms-tnef": "it’s in Outlook’s own format; a PDF or an image can be",
    "application/vnd.ms-tnef": "it’s in Outlook’s own format; a PDF or an image can be",
    "application/pkcs7-mime": "it’s encrypted or sealed",
    "application/x-pkcs7-mime": "it’s encrypted or sealed",
    "application/pgp-encrypted": "it’s encrypted",
    "message/rfc822": "it’s an e-mail; its text can be forwarded",
}
NAMES: Mapping[str, str] = {
    "winmail.dat": REASONS["application/ms-tnef"],
    "smime.p7m": REASONS["application/pkcs7-mime"],
}
# Digital signatures, which programs add to every e-mail.
SIGNATURES = frozenset(
    {
        "application/pkcs7-signature",
        "application/x-pkcs7-signature",
        "application/pgp-signature",
        "application/pgp-keys",
    }
)
KIND = re.compile(r"[!-~]{1,100}")
CONTENT_ID = re.compile(r"[<\s]*([^<>\s]{1,250})")


@dataclass(frozen=True)
class MailPart:
    """A part of an e-mail that isn't its text. `size` is that of the decoded content, or a little more.

    `read` decodes the content. None if it didn't come completely.
    """

    name: str
    declared_type: str
    size: int
    read: Callable[[], bytes] | None = field(repr=False)
    content_id: str = ""
    is_inline: bool = False

    @property
    def is_picture(self) -> bool:
        return self.declared_type.startswith("image/")


@dataclass(frozen=True)
class MailFiles:
    """The files of an e-mail, and how many more there were."""

    files: Sequence[RemoteFile] = ()
    more: int = 0


def clean_content_id(text: str) -> str:
    """A Content-ID as pages refer to it."""
    found = CONTENT_ID.match(text)
    return found[1] if found else ""


def files_of(parts: Sequence[MailPart], html: str) -> MailFiles:
    """The files that are kept or named. Left out are what decorates a page, what it quotes, and signatures."""
    shown = images_of(html) if any(part.content_id for part in parts) else Images()
    found = [part for part in parts if part.declared_type not in SIGNATURES and not _is_decoration(part, shown)]
    files, room = list[RemoteFile](), MOST_BYTES
    for part in found[:MOST_FILES]:
        file = _file_of(part, room=room)
        room -= len(file.content or b"")
        files.append(file)
    return MailFiles(files, more=max(0, len(found) - MOST_FILES))


def _file_of(part: MailPart, *, room: int) -> RemoteFile:
    reason = REASONS.get(part.declared_type) or NAMES.get(part.name.lower())
    if reason is None:
        reason = _too_large(part.size, room=room) or (LARGER if part.read is None else None)
    content = part.read() if reason is None and part.read is not None else None
    if content is not None and reason is None:
        reason = _too_large(len(content), room=room)
    return RemoteFile(
        ref="",
        name=clean_name(clean_text(part.name) or _name_of(part)),
        declared_type=part.declared_type if KIND.fullmatch(part.declared_type) else "",
        missing=reason or "",
        content=None if reason else content,
    )


def _too_large(size: int, *, room: int) -> str | None:
    # A size that was guessed may be four bytes too long.
    if size > MAX_BYTES + 4:
        return TOO_LARGE
    return TOGETHER if size > room + 4 else None


def _name_of(part: MailPart) -> str:
    kind, _, form = part.declared_type.partition("/")
    return f"{kind}.{form}" if kind == "image" and form.isalnum() else "file"


def _is_decoration(part: MailPart, shown: Images) -> bool:
    """True for a picture of the page that isn't the sender's: quoted, of a signature, or too small to show anything."""
    is_shown = part.content_id in shown.all
    if not part.is_picture or not (is_shown or part.is_inline):
        return False
    if is_shown and part.content_id not in shown.own:
        return True
    return part.read is not None and part.size < MAX_BYTES and _is_small(part.read())


def _is_small(content: bytes) -> bool:
    """True for a picture that decorates, told by its size: an icon, a line, a logo."""
    size = read_size(content)
    if size is None:
        return len(content) < SMALLEST_BYTES
    width, height = size
    return min(width, height) < SMALLEST_SIDE or width * height < SMALLEST_AREA
