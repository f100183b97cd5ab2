"""Detection of invisible and lookalike characters in text that staff approve."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

WORD = re.compile(r"[^\W\d_]+")
# Letters of other alphabets that look like Latin ones.
LOOKALIKES = frozenset("авекмнорстухіјѕԁһԛԝАВЕКМНОРСТУХІЈЅԌԚԜαβεικμνορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧօսհոցԼՕՍ")
# Letters that render as nothing, and unusual blanks. Unicode format and control characters are handled by category.
INKLESS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
HARMLESS_CONTROLS = frozenset("\n\t\r")
HARMLESS_BLANKS = frozenset(" \u00a0\u2009\u202f\u3000")
JOINER, EMOJI_LOOK = "\u200d", "\ufe0f"


@dataclass(frozen=True)
class Piece:
    """A piece of text. For a marked character, `hidden` is its Unicode name and `text` a visible stand-in.

    `kind` is "ins" or "del" within a diff, otherwise "same".
    """

    text: str
    hidden: str = ""
    kind: str = "same"


def mark_hidden(text: str, *, kind: str = "same") -> list[Piece]:
    """Split the text so that every invisible or lookalike character is a piece of its own."""
    doubtful = {at: _name(text[at]) for at in _doubtful(text)}
    pieces, start = [], 0
    for at in sorted(doubtful):
        if at > start:
            pieces.append(Piece(text[start:at], kind=kind))
        pieces.append(Piece(_sign(text[at]), hidden=doubtful[at], kind=kind))
        start = at + 1
    if start < len(text):
        pieces.append(Piece(text[start:], kind=kind))
    return pieces


def hidden_count(pieces: Iterable[Piece]) -> int:
    """Number of marked characters, not counting deleted text."""
    return sum(1 for piece in pieces if piece.hidden and piece.kind != "del")


def _doubtful(text: str) -> Iterator[int]:
    yield from (at for at, letter in enumerate(text) if not letter.isascii() and _is_hidden(text, at))
    yield from (at for at, letter in enumerate(text) if letter < " " and letter not in HARMLESS_CONTROLS)
    if not text.isascii():
        is_latin = _count(text, "LATIN") * 2 > sum(map(str.isalpha, text))
        for word in WORD.finditer(text):
            yield from (word.start() + at for at in _lookalikes(word[0], is_latin_text=is_latin))


def _is_hidden(text: str, at: int) -> bool:
    letter = text[at]
    if letter in (JOINER, EMOJI_LOOK) and at and unicodedata.category(text[at - 1]) in ("So", "Sk"):
        return False
    category = unicodedata.category(letter)
    is_blank = category in ("Zs", "Zl", "Zp") and letter not in HARMLESS_BLANKS
    return is_blank or category in ("Cf", "Cc", "Co", "Cn") or letter in INKLESS or _is_variation(letter)


def _is_variation(letter: str) -> bool:
    return "\ufe00" <= letter <= "\ufe0f" or "\U000e0100" <= letter <= "\U000e01ef"


def _lookalikes(word: str, *, is_latin_text: bool) -> Iterator[int]:
    """Positions of letters that imitate Latin ones: mixed with Latin letters, or a whole lookalike word in a Latin text."""
    if word.isascii():
        return
    has_latin = any(map(_is_latin, word))
    is_disguise: Callable[[str], bool] = _is_styled if not has_latin else _is_foreign
    all_alike = is_latin_text and all(letter in LOOKALIKES for letter in word)
    yield from (at for at, letter in enumerate(word) if is_disguise(letter) or all_alike)


def _is_foreign(letter: str) -> bool:
    return letter in LOOKALIKES or _is_styled(letter)


def _is_styled(letter: str) -> bool:
    """Return True for styled variants of an ASCII letter, such as mathematical or full-width ones."""
    plain = unicodedata.normalize("NFKC", letter)
    return not letter.isascii() and plain != letter and plain.isascii() and plain.isalpha()


def _is_latin(letter: str) -> bool:
    return letter.isascii() or unicodedata.name(letter, "").startswith("LATIN")


def _count(text: str, script: str) -> int:
    return sum(1 for letter in text if letter.isalpha() and unicodedata.name(letter, "").startswith(script))


def _name(letter: str) -> str:
    return f"U+{ord(letter):04X} {unicodedata.name(letter, 'without a name')}".strip()


def _sign(letter: str) -> str:
    """A lookalike letter as itself; an invisible character as its code point."""
    return letter if letter.isalpha() and letter not in INKLESS else f"U+{ord(letter):04X}"
