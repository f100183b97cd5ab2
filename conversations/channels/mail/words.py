"""The words of an e-mail: HTML as text, without what it quotes and without its signature."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape

LONGEST_HTML = 500_000
HIDDEN = frozenset({"head", "script", "style", "template", "title", "noscript", "svg", "math", "object", "iframe"})
BLOCKS = frozenset(
    {"address", "article", "blockquote", "br", "dd", "div", "dl", "dt", "footer", "form", "h1", "h2", "h3", "h4", "h5"}
    | {"h6", "header", "hr", "li", "ol", "p", "pre", "section", "table", "tr", "ul"}
)
QUOTE = "blockquote"
TAG = re.compile(r"<(?:(?P<end>/?)(?P<name>[a-z][a-z0-9]*)|[!?/])")
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
    """The text of an HTML page, without scripts, styles and markup. Takes time in proportion to its length, whatever is
    wrong with it, unlike the library's parser.
    """
    page, html = _Page(), html[:LONGEST_HTML]
    folded, text_at, at = html.lower(), 0, 0
    while (start := html.find("<", at)) >= 0:
        is_comment, tag = html.startswith("<!--", start), TAG.match(folded, start)
        if tag is None:
            at = start + 1
            continue
        page.add_text(html[text_at:start])
        at = _after("-->", html, start + 4) if is_comment else _after(">", html, tag.end())
        if (name := tag["name"]) is not None:
            page.add_tag(name, is_end=bool(tag["end"]))
            if name in HIDDEN and not tag["end"]:
                at = _before(f"</{name}", folded, at)
        text_at = at
    page.add_text(html[text_at:])
    return "\n".join(line.rstrip() for line in page.lines).strip()


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
