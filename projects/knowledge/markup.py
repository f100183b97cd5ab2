"""The markup of articles, parsed into blocks for templates. HTML is never interpreted.

Supports headings (`#`), lists (`-`, `1.`), `**strong**`, `*soft*`, `` `code` `` and `[links](https://…)`; anything else
is plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

HEADING = re.compile(r"(#{1,4})\s+(.+?)\s*#*\s*$")
BULLET = re.compile(r"\s{0,3}[-*+•]\s+(.+)")
NUMBERED = re.compile(r"\s{0,3}\d{1,3}[.)]\s+(.+)")
# Only web, mail and phone links: no `javascript:`, no `data:`.
LINK = r"\[(?P<words>[^\[\]\n]{1,300})\]\((?P<url>(?:https?://|mailto:|tel:)[^\s()<>\"']{1,1000})\)"
INLINE = re.compile(
    rf"{LINK}|\*\*(?P<strong>[^\s*](?:[^*\n]*[^\s*])?)\*\*|(?<![\w*])\*(?P<soft>[^\s*](?:[^*\n]*[^\s*])?)\*(?![\w*])"
    r"|`(?P<code>[^`\n]+)`"
)


@dataclass(frozen=True)
class Span:
    """A run of text: plain, strong, soft, code or link."""

    kind: str
    text: str
    url: str = ""


@dataclass(frozen=True)
class Block:
    """A heading (`level` 2 to 4), a paragraph of `lines`, or a list with one item per line."""

    kind: str
    lines: list[list[Span]] = field(default_factory=list)
    level: int = 0


def read_markup(text: str) -> list[Block]:
    """Parse an article's body into blocks."""
    blocks: list[Block] = []
    kind = ""
    for line in text.splitlines():
        if heading := HEADING.match(line):
            # The title is the page's first-level heading.
            blocks.append(Block("heading", [read_line(heading[2])], level=min(len(heading[1]) + 1, 4)))
            kind = ""
            continue
        line_kind, words = _line_of(line)
        if not words:
            kind = ""
        elif line_kind == kind:
            blocks[-1].lines.append(read_line(words))
        else:
            blocks.append(Block(line_kind, [read_line(words)]))
            kind = line_kind
    return blocks


def read_line(text: str) -> list[Span]:
    """Parse the inline markup of one line."""
    return list(_spans(text))


def plain_text(text: str) -> str:
    """The body without markup; links keep their URL."""
    return "\n".join(_plain_line(line) for line in text.splitlines())


def _plain_line(line: str) -> str:
    if heading := HEADING.match(line):
        line = heading[2]
    return "".join(f"{span.text} ({span.url})" if span.url else span.text for span in _spans(line))


def _line_of(line: str) -> tuple[str, str]:
    if bullet := BULLET.match(line):
        return "bullets", bullet[1].strip()
    if numbered := NUMBERED.match(line):
        return "numbers", numbered[1].strip()
    return "paragraph", line.strip()


def _spans(text: str) -> Iterator[Span]:
    position = 0
    for match in INLINE.finditer(text):
        if match.start() > position:
            yield Span("plain", text[position : match.start()])
        yield _span_of(match)
        position = match.end()
    if position < len(text):
        yield Span("plain", text[position:])


def _span_of(match: re.Match[str]) -> Span:
    if match["url"]:
        return Span("link", match["words"], match["url"])
    kind = next(name for name in ("strong", "soft", "code") if match[name])
    return Span(kind, match[kind])
