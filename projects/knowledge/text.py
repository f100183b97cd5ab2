"""An article's text: what it may be, and what is wrong with it otherwise."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from projects.api.serializers import is_empty
from projects.common.api_error import ApiError

LONGEST_TITLE, LONGEST_EXCERPT, LONGEST_BODY = 200, 400, 50_000
LAYOUT = "\n\t"


class ArticleRefused(ApiError):
    """A text that can't be kept; `errors` is a sentence for each field."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        field, sentence = next(iter(errors.items()))
        super().__init__("invalid", sentence, field=field)
        self.errors = dict(errors)


@dataclass(frozen=True)
class ArticleText:
    """What a person writes of an article. `excerpt` is what a card says of it, and may be empty."""

    title: str
    excerpt: str
    body: str

    def checked(self) -> ArticleText:
        """The text as it is kept: line ends are one character, and no line ends in spaces. Raises ArticleRefused."""
        tidy = ArticleText(_line(self.title), _line(self.excerpt), _paragraphs(self.body))
        errors = {name: wrong for name, text in asdict(tidy).items() if (wrong := _problem(name, text))}
        if errors:
            raise ArticleRefused(errors)
        return tidy


LONGEST = {"title": LONGEST_TITLE, "excerpt": LONGEST_EXCERPT, "body": LONGEST_BODY}
MISSING = {
    "title": "Write a title: what a customer would look for.",
    "body": "Write what the article says.",
}


def _problem(name: str, text: str) -> str:
    if name in MISSING and is_empty(text):
        return MISSING[name]
    if len(text) > LONGEST[name]:
        return f"This has {len(text):,} characters; the limit is {LONGEST[name]:,}."
    for at, character in enumerate(text):
        if unicodedata.category(character) in ("Cc", "Cs") and character not in LAYOUT:
            return f"Character {at + 1} is the control character U+{ord(character):04X}; remove it."
    return ""


def _line(text: str) -> str:
    """One line: what was typed on several is joined."""
    return " ".join(text.split())


def _paragraphs(text: str) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.rstrip(" \t") for line in lines).strip("\n")
