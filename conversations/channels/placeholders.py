"""The words that stand for the files of a customer's message, in lines of their own after the customer's."""

from __future__ import annotations

from collections.abc import Sequence

from conversations.channels.items import IncomingMessage
from conversations.common.file_lines import FILE, UNREAD, file_line
from conversations.handover.file_types import clean_name


def placeholder(name: str) -> str:
    """The line of a file that is there, or on its way."""
    return file_line(clean_name(name))


def missing(name: str, reason: str) -> str:
    """The line of a file that isn't there. `reason` ends the sentence."""
    return f"{FILE}{clean_name(name)}{UNREAD}{reason}.]"


def content_of(item: IncomingMessage) -> str:
    """The content of a message: the customer's words, then a line for each file."""
    return "\n".join(line for line in (item.text, *_lines_of(item)) if line)


def with_lines(content: str, item: IncomingMessage, lines: Sequence[str]) -> str:
    """The content of a message once its files were fetched: `lines` in place of those that it began with."""
    words = content.removesuffix("\n".join(_lines_of(item))).removesuffix("\n")
    return "\n".join(line for line in (words, *lines) if line)


def says_the_same(one: str, other: str) -> bool:
    """True if two contents have the same words, whatever became of their files."""
    return _words(one) == _words(other)


def _lines_of(item: IncomingMessage) -> list[str]:
    return [missing(file.name, file.missing) if file.missing else placeholder(file.name) for file in item.files]


def _words(content: str) -> list[str]:
    return [word for line in content.splitlines() if not line.startswith(FILE) for word in line.split()]
