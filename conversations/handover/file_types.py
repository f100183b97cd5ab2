"""Types of attached files, recognized by their content."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from conversations.handover.media_types import ENDINGS as MEDIA_ENDINGS
from conversations.handover.media_types import is_media
from projects.common.characters import has_control_characters
from projects.common.translation import lazy

LONGEST_NAME = 120
TEXT = "text/plain"
ALLOWED = lazy("an image (PNG, JPEG, GIF or WebP), a PDF or a text")
# The first bytes of each type.
_SIGNATURES: tuple[tuple[re.Pattern[bytes], str], ...] = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF.{4}WEBP", re.DOTALL), "image/webp"),
    (re.compile(rb"%PDF-\d"), "application/pdf"),
)
# The endings of each type. A file with another one gets the first, so that no program opens it as something else.
_ENDINGS: dict[str, tuple[str, ...]] = {
    "image/png": (".png",),
    "image/jpeg": (".jpg", ".jpeg"),
    "image/gif": (".gif",),
    "image/webp": (".webp",),
    "application/pdf": (".pdf",),
    TEXT: (".txt", ".csv", ".md", ".log", ".json", ".ics"),
}

# For the `accept` of file inputs. A phone converts its pictures to one of these.
FILE_TYPES = ",".join((*_ENDINGS, *(ending for endings in _ENDINGS.values() for ending in endings)))
# The type that an ending promises.
_NAMED: Mapping[str, str] = {
    ending: content_type for content_type, endings in _ENDINGS.items() if content_type != TEXT for ending in endings
}
# Endings of images that aren't kept. An SVG is a text that runs scripts; the others are no text anyway.
_NOT_KEPT = (".svg", ".svgz", ".heic", ".avif", ".bmp", ".tiff")


def detect_type(content: bytes) -> str | None:
    """The content type, or None if the content is of no allowed type."""
    for signature, content_type in _SIGNATURES:
        if signature.match(content):
            return content_type
    return TEXT if _is_text(content) else None


def is_declared(content_type: str, declared: str) -> bool:
    """False if a file was declared to be an image, a PDF, audio or a video and is none."""
    kind = declared.partition(";")[0].strip().lower()
    if kind.startswith("image/"):
        return content_type.startswith("image/")
    if is_media(kind):
        return is_media(content_type)
    return content_type == kind if kind == "application/pdf" else True


def is_named(content_type: str, name: str) -> bool:
    """False if a file's name has the ending of an image or a PDF and its content is none."""
    return is_declared(content_type, _NAMED.get(_ending(name), ""))


def is_kept(content_type: str, name: str) -> bool:
    """False for a text whose name is that of an image, such as an SVG."""
    return content_type != TEXT or _ending(name) not in _NOT_KEPT


def safe_name(name: str, content_type: str) -> str:
    """The name as in `clean_name`, with an ending of its type."""
    clean, endings = clean_name(name), (_ENDINGS | MEDIA_ENDINGS)[content_type]
    return clean if PurePosixPath(clean).suffix.lower() in endings else f"{clean}{endings[0]}"


def clean_name(name: str) -> str:
    """The end of the name, without directories, control characters and leading dots."""
    last = name.replace("\\", "/").rpartition("/")[2]
    letters = "".join(letter for letter in last if not has_control_characters(letter))
    return " ".join(letters.split()).lstrip(".")[-LONGEST_NAME:] or "file"


def _ending(name: str) -> str:
    return PurePosixPath(clean_name(name)).suffix.lower()


def _is_text(content: bytes) -> bool:
    """True for UTF-8 without control characters other than line breaks, tabs and form feeds."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return not re.search(r"[\x00-\x08\x0b\x0e-\x1f\x7f]", text)
