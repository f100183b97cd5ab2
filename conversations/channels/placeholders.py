"""The words that stand for the files of a customer's message, in lines of their own after the customer's."""

from __future__ import annotations

from collections.abc import Iterable

from conversations.channels.items import IncomingMessage
from conversations.common.file_lines import FILE, UNREAD, file_line
from conversations.handover.file_types import clean_name


def placeholder(name: str) -> str:
    """The line of a file that is there, or on its way."""
    return file_line(clean_name(name))


def missing(name: str, reason: str) -> str:
    """The line of a file that isn't there. `reason` ends the sentence."""
    return f"{FILE}{clean_name(name)}{UNREAD}{reason}.]"


def content_of(item: IncomingMessage, lines: Iterable[str] | None = None) -> str:
    """The content of a message: the customer's words, then a line for each file."""
    shown = [placeholder(file.name) for file in item.files] if lines is None else lines
    return "\n".join(line for line in (item.text, *shown) if line)


def says_the_same(one: str, other: str) -> bool:
    """True if two contents have the same words, whatever became of their files."""
    return _words(one) == _words(other)


def _words(content: str) -> list[str]:
    return [word for line in content.splitlines() if not line.startswith(FILE) for word in line.split()]
