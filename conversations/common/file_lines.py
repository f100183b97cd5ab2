"""The lines that stand for files in the content of a message.

`[File: menu.pdf]` is a file by its name. `[Voice message, 12 s]` is one by its length; what was said follows in the same
line, if it was transcribed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

FILE = "[File: "
VOICE, AUDIO, VIDEO = "Voice message", "Audio", "Video"
# Ends the line of a file that isn't there, before the reason.
UNREAD = ", which can’t be read here: "
_MEDIA = f"(?:{VOICE}|{AUDIO}|{VIDEO})"
_LINE = re.compile(rf"^\[(?:File: (.+)|({_MEDIA}(?:, .+)?))\]$", re.MULTILINE)
_BEGINNING = re.compile(rf"\[(?:File: |{_MEDIA}[,\]])")


def media_line(label: str, seconds: int | None, transcript: str) -> str:
    """The line of a voice message, audio or a video."""
    length = f", {_length(seconds)}" if seconds else ""
    return " ".join(filter(None, (f"[{label}{length}]", *transcript.split())))


def is_file_line(line: str) -> bool:
    """True for a line that stands for a file, also for one that couldn't be fetched."""
    return bool(_BEGINNING.match(line))


def file_line(name: str) -> str:
    """The line of a file that is there, or on its way."""
    return f"{FILE}{name}]"


def content_with_files(words: str, names: Iterable[str]) -> str:
    """The content of a message: the customer's words, then a line for each file."""
    return "\n".join(filter(None, (words, *map(file_line, names))))


def words_of(content: str, names: Iterable[str]) -> str:
    """The words of a message, without those that stand for files shown beside them: a customer's lines, or the names that
    an operator's files are sent with.
    """
    found = list(names)
    if content == ", ".join(found):
        return ""
    shown = {*map(file_line, found)}
    return "\n".join(line for line in content.split("\n") if line not in shown)


def without_brackets(content: str) -> str:
    """The content of a message for a list: its words, then the names of its files."""
    names, words = list[str](), list[str]()
    for line in content.split("\n"):
        found = _LINE.match(line)
        (names if found else words).append((found[1] or found[2]) if found else line)
    return "\n".join(filter(None, (*words, ", ".join(names))))


def files_in(content: str) -> list[str]:
    """The files that came with a message, or are on their way, without those whose words stand there."""
    found = (name or media for name, media in _LINE.findall(content))
    return [name for name in found if UNREAD not in name]


def _length(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    return " ".join(filter(None, (f"{minutes} min" if minutes else "", f"{rest} s" if rest or not minutes else "")))
