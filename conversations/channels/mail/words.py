"""The words of an e-mail: HTML as text, without what it quotes and without its signature."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import unescape
from urllib.parse import unquote

LONGEST_HTML = 500_000
HIDDEN = frozenset({"head", "script", "style", "template", "title", "noscript", "svg", "math", "object", "iframe"})
BLOCKS = frozenset(
    {"address", "article", "blockquote", "br", "dd", "div", "dl", "dt", "footer", "form", "h1", "h2", "h3", "h4", "h5"}
    | {"h6", "header", "hr", "li", "ol", "p", "pre", "section", "table", "tr", "ul"}
)
QUOTE = "blockquote"
TAG = re.compile(r"<(?:(?P<end>/?)(?P<name>[a-z][a-z0-9]*)|[!?/])")
CID = re.compile(r"""\bcid:([^"'\s<>)]{1,250})""", re.IGNORECASE)
# Where mail programs begin the signature, or the e-mail that is answered.
AFTER_WORDS = re.compile(
    r"(?:gmail_(?:quote|signature)|moz-(?:signature|cite-prefix)|divRplyFwdMsg|appendonsend|yahoo_quoted|protonmail_quote"
    r"|OutlookMessageHeader|(?:id|class)\s*=\s*[\"']?(?:x_)?signature\b)",
    re.IGNORECASE,
)
# "On Tue, 3 Nov 2026 at 09:12, Nello <nello@example.com> wrote:", in any language.
ATTRIBUTION = re.compile(r"^(?=.*(?:\d{4}|\d[:.]\d\d|@)).{8,300}:$")
SIGNATURE = re.compile(r"^-- ?$")
LONGEST_SIGNATURE = 15


class _Page:
    """Collects the text of a page. What it quotes begins with `>`, as in plain text."""

    def __init__(self) -> None:
        self.lines: list[str] = [""]
        self._quotes = 0

    def add_text(self, text: str) -> None:
        words = re.sub(r"\s+", " ", unescape(text))
        if not self.lines[-1]:
            words = words.lstrip()
            if words and self._quotes:
                words = f"> {words}"
        self.lines[-1] += words

    def add_tag(self, name: str, *, is_end: bool) -> None:
        if name in BLOCKS and self.lines[-1]:
            self.lines.append("")
        if name == QUOTE:
            self._quotes = max(0, self._quotes + (-1 if is_end else 1))


def read_html(html: str) -> str:
    """The text of an HTML page, without scripts, styles and markup. Takes time in proportion to its length,
    even for malformed pages, unlike the library's parser.
    """
    page = _Page()
    for text, tag in _tags(html[:LONGEST_HTML]):
        page.add_text(text)
        if tag is not None:
            page.add_tag(tag.name, is_end=tag.is_end)
    return "\n".join(line.rstrip() for line in page.lines).strip()


@dataclass(frozen=True)
class Images:
    """The Content-IDs of the pictures that a page shows, and those in the sender's own words."""

    all: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()


def images_of(html: str) -> Images:
    """The pictures of a page. A picture in a quote or in the signature of a mail program isn't the sender's own."""
    shown, own = set[str](), set[str]()
    quotes, is_over = 0, False
    for _, tag in _tags(html[:LONGEST_HTML]):
        if tag is None:
            continue
        if tag.name == QUOTE:
            quotes = max(0, quotes + (-1 if tag.is_end else 1))
        is_over = is_over or bool(AFTER_WORDS.search(tag.attributes))
        found = {unquote(one) for one in CID.findall(tag.attributes)}
        shown |= found
        if not quotes and not is_over:
            own |= found
    return Images(frozenset(shown), frozenset(own))


@dataclass(frozen=True)
class _Tag:
    """A tag of a page: its name in lower case, and the rest of it up to its end."""

    name: str
    attributes: str
    is_end: bool


def _tags(html: str) -> Iterator[tuple[str, _Tag | None]]:
    """The texts of a page, each with the tag that follows it; None for a comment and at the end."""
    folded, text_at, at = html.lower(), 0, 0
    while (start := html.find("<", at)) >= 0:
        is_comment, tag = html.startswith("<!--", start), TAG.match(folded, start)
        if tag is None:
            at = start + 1
            continue
        text = html[text_at:start]
        at = _after("-->", html, start + 4) if is_comment else _after(">", html, tag.end())
        name = tag["name"]
        yield text, _Tag(name, html[tag.end() : at], bool(tag["end"])) if name is not None else None
        if name in HIDDEN and not tag["end"]:
            at = _before(f"</{name}", folded, at)
        text_at = at
    yield html[text_at:], None


def _after(end: str, html: str, start: int) -> int:
    """The place after the next `end`. Without one, nothing follows."""
    found = html.find(end, start)
    return found + len(end) if found >= 0 else len(html)


def _before(end: str, html: str, start: int) -> int:
    found = html.find(end, start)
    return found if found >= 0 else len(html)


def own_words(text: str) -> str:
    """The sender's own words: the text without quoted lines, the line that introduces them, and the signature.

    Nothing is cut if nothing would be left.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    kept = "\n".join(_without_signature(_without_quotes(lines)))
    kept = re.sub(r"\n{3,}", "\n\n", kept).strip()
    return kept or text.strip()


def _without_quotes(lines: Sequence[str]) -> list[str]:
    kept = list[str]()
    was_quote = False
    for line in lines:
        is_quote = line.lstrip().startswith(">")
        if is_quote and not was_quote:
            _drop_attribution(kept)
        if not is_quote:
            kept.append(line)
        # An empty line between two quoted ones belongs to the quote.
        was_quote = is_quote or (was_quote and not line.strip())
    return kept


def _drop_attribution(kept: list[str]) -> None:
    """Remove the line before a quote that says who wrote it when. Mail programs wrap it into at most three."""
    end = len(kept)
    while end and not kept[end - 1].strip():
        end -= 1
    for start in range(end - 1, max(-1, end - 4), -1):
        if not kept[start].strip():
            return
        if ATTRIBUTION.match(" ".join(line.strip() for line in kept[start:end])) and _begins_paragraph(kept, start):
            del kept[start:]
            return


def _begins_paragraph(kept: Sequence[str], start: int) -> bool:
    return start == 0 or not kept[start - 1].strip()


def _without_signature(lines: Sequence[str]) -> Sequence[str]:
    """The lines before the last delimiter of a signature (RFC 3676, 4.3), if few lines follow it."""
    for number in range(len(lines) - 1, -1, -1):
        if SIGNATURE.match(lines[number]):
            return lines[:number] if len(lines) - number <= LONGEST_SIGNATURE else lines
    return lines
