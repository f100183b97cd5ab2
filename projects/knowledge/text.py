"""Validation and normalization of an article's text."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from django.utils.translation import gettext

from projects.api.serializers import is_empty
from projects.common.api_error import Unprocessable
from projects.common.numbers import grouped
from projects.common.translation import lazy

LONGEST_TITLE, LONGEST_EXCERPT, LONGEST_BODY = 200, 400, 50_000
LAYOUT = "\n\t"


class ArticleRefused(Unprocessable):
    """An invalid text; `errors` holds a sentence per field."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        field, sentence = next(iter(errors.items()))
        super().__init__("invalid", sentence, field=field)
        self.errors = dict(errors)


@dataclass(frozen=True)
class ArticleText:
    """The text of an article. `excerpt` is shown on its card, and may be empty."""

    title: str
    excerpt: str
    body: str

    @property
    def size(self) -> int:
        """Its bytes, as they count to the storage."""
        return sum(len(text.encode(errors="surrogatepass")) for text in (self.title, self.excerpt, self.body))

    def checked(self) -> ArticleText:
        """The normalized text: LF line ends, no trailing spaces. Raises ArticleRefused."""
        tidy = ArticleText(_line(self.title), _line(self.excerpt), _paragraphs(self.body))
        errors = {name: wrong for name, text in asdict(tidy).items() if (wrong := _problem(name, text))}
        if errors:
            raise ArticleRefused(errors)
        return tidy


LONGEST = {"title": LONGEST_TITLE, "excerpt": LONGEST_EXCERPT, "body": LONGEST_BODY}
MISSING = {
    "title": lazy("Enter a title that customers would search for."),
    "body": lazy("Enter the text of the article."),
}


def _problem(name: str, text: str) -> str:
    if name in MISSING and is_empty(text):
        return MISSING[name]
    if len(text) > LONGEST[name]:
        return gettext("Use at most %(value)s characters. This has %(text)s.") % {
            "text": grouped(len(text)),
            "value": grouped(LONGEST[name]),
        }
    for at, character in enumerate(text):
        if unicodedata.category(character) in ("Cc", "Cs") and character not in LAYOUT:
            return gettext("Character %(value)s is the control character U+%(character)s; remove it.") % {
                "value": at + 1,
                "character": f"{ord(character):04X}",
            }
    return ""


def _line(text: str) -> str:
    """The text on one line; line breaks become spaces."""
    return " ".join(text.split())


def _paragraphs(text: str) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.rstrip(" \t") for line in lines).strip("\n")
