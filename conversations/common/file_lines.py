"""The lines that represent files in the content of a message."""

from __future__ import annotations

import re

FILE = "[File: "
# Ends the line of a file that isn't there, before the reason.
UNREAD = ", which can’t be read here: "
_LINE = re.compile(rf"^{re.escape(FILE)}(.+)\]$", re.MULTILINE)


def files_in(content: str) -> list[str]:
    """The names of the files that came with a message, or are on their way."""
    return [name for name in _LINE.findall(content) if UNREAD not in name]
