"""The lines that represent files in the content of a message."""

from __future__ import annotations

import re
from collections.abc import Iterable

FILE = "[File: "
# Ends the line of a file that isn't there, before the reason.
UNREAD = ", which can’t be read here: "
_LINE = re.compile(rf"^{re.escape(FILE)}(.+)\]$", re.MULTILINE)


def file_line(name: str) -> str:
    """The line of a file that is there, or on its way."""
    return f"{FILE}{name}]"


def content_with_files(words: str, names: Iterable[str]) -> str:
    """The content of a message: the customer's words, then a line for each file."""
    return "\n".join(filter(None, (words, *map(file_line, names))))


def words_of(content: str, names: Iterable[str]) -> str:
    """The customer's words, without the lines of files that are shown beside them."""
    shown = {file_line(name) for name in names}
    return "\n".join(line for line in content.split("\n") if line not in shown)


def files_in(content: str) -> list[str]:
    """The names of the files that came with a message, or are on their way."""
    return [name for name in _LINE.findall(content) if UNREAD not in name]
