"""The words that stand for the files of a customer's message, in lines of their own after the customer's."""

from __future__ import annotations

from collections.abc import Sequence

from conversations.channels.items import IncomingMessage, RemoteFile
from conversations.common.file_lines import UNREAD, file_line, is_file_line, media_line
from conversations.handover.file_types import clean_name

FAILED = "fetching it failed"


def placeholder(file: RemoteFile, *, name: str = "", seconds: int | None = None, transcript: str = "") -> str:
    """The line of a file that is there, or on its way. Its stored name and measured length count more than the
    provider's.
    """
    if file.label:
        return media_line(file.label, seconds or file.seconds, transcript)
    return file_line(name or clean_name(file.name))


def missing(file: RemoteFile, reason: str) -> str:
    """The line of a file that isn't there. `reason` ends the sentence."""
    return f"{placeholder(file)[:-1]}{UNREAD}{reason}.]"


def failed_lines(item: IncomingMessage) -> list[str]:
    """The lines of a message whose files can't be attached, until its job runs again."""
    return [missing(file, file.missing or FAILED) for file in item.files]


def has_failed(content: str, item: IncomingMessage) -> bool:
    """True if the content says that the message's files can't be attached."""
    return content.endswith("\n".join(failed_lines(item))) and failed_lines(item) != _lines_of(item)


def content_of(item: IncomingMessage) -> str:
    """The content of a message: the customer's words, then a line for each file."""
    return "\n".join(line for line in (item.text, *_lines_of(item)) if line)


def with_lines(content: str, item: IncomingMessage, lines: Sequence[str]) -> str:
    """The content of a message once its files were fetched: `lines` in place of those that it began with."""
    former = failed_lines(item) if has_failed(content, item) else _lines_of(item)
    words = content.removesuffix("\n".join(former)).removesuffix("\n")
    return "\n".join(line for line in (words, *lines) if line)


def says_the_same(one: str, other: str) -> bool:
    """True if two contents have the same words. Their files may differ."""
    return _words(one) == _words(other)


def _lines_of(item: IncomingMessage) -> list[str]:
    return [missing(file, file.missing) if file.missing else placeholder(file) for file in item.files]


def _words(content: str) -> list[str]:
    return [word for line in content.splitlines() if not is_file_line(line) for word in line.split()]
