"""Tokenizer: words, contractions, sentences and quotation spans."""

from __future__ import annotations

import re
from dataclasses import dataclass

from offline_model.wordlist import words

TOKEN = re.compile(
    r"[\w.+-]+@[\w-]+\.[\w.-]*\w|https?://\S+|\d+(?:[:.,]\d+)*(?:\s?(?:[ap]m\b|[ap]\.m\.?))?|e\.g\.|i\.e\.|[ap]\.m\."
    r"|[^\W\d_]+(?:['’][^\W\d_]+)*(?:-[^\W\d_]+)*|[.!?…]+|[^\w\s]",
    re.IGNORECASE,
)
ENDINGS = {
    "n't": "not",
    "'ll": "will",
    "'ve": "have",
    "'m": "am",
    "'re": "are",
    "'d": "would",
    "'s": "is",
}
SPECIAL = {
    "won't": ("will", "not"),
    "can't": ("can", "not"),
    "cannot": ("can", "not"),
    "shan't": ("shall", "not"),
    "let's": ("let", "us"),
    "gonna": ("going", "to"),
    "wanna": ("want", "to"),
    "gotta": ("have", "to"),
    "lemme": ("let", "me"),
    "e-mail": ("email",),
    "e-mails": ("emails",),
    "e-mailing": ("emailing",),
    "e-mailed": ("emailed",),
    "ok": ("okay",),
}
IS_AFTER = words("it that there what here he she who where everything this")
ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|[ap]\.m|mr|mrs|ms|dr|st|no|approx|vs))$", re.IGNORECASE)
QUOTED = (
    re.compile(r"“[^”]*”"),
    re.compile(r'"[^"]*"'),
    re.compile(r"«[^»]*»"),
    re.compile(r"„[^“”]*[“”]"),
    re.compile(r"(?<![\w])[‘'](?=\w)[^‘’'\n]*(?:['’]\w+[^‘’'\n]*)*[’'](?!\w)"),
)
END_MARKS = ".!?…"


@dataclass(frozen=True)
class Word:
    """Normalized word with its position."""

    text: str
    start: int
    end: int
    is_quoted: bool = False

    @property
    def is_mark(self) -> bool:
        return not self.text[:1].isalnum()


@dataclass(frozen=True)
class Sentence:
    """The words of one sentence, with its end mark left off."""

    words: tuple[Word, ...]
    mark: str

    @property
    def is_question(self) -> bool:
        return "?" in self.mark

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)


def read_sentences(text: str) -> list[Sentence]:
    """The sentences of a text. A line break ends a sentence, an abbreviation's dot does not."""
    quoted = quoted_spans(text)
    sentences: list[Sentence] = []
    words: list[Word] = []
    previous_end = 0
    for match in TOKEN.finditer(text):
        if words and "\n" in text[previous_end : match.start()]:
            _close(sentences, words, mark="")
        previous_end = match.end()
        if match[0][0] in END_MARKS:
            if _ends_sentence(text, match):
                _close(sentences, words, mark=match[0])
            continue
        is_quoted = any(start <= match.start() < end for start, end in quoted)
        words += _take_apart(match[0], match.start(), is_quoted, following=text[match.end() : match.end() + 6])
    _close(sentences, words, mark="")
    return sentences


def _close(sentences: list[Sentence], words: list[Word], *, mark: str) -> None:
    if words:
        sentences.append(Sentence(tuple(words), mark))
        words.clear()
    elif sentences and mark:
        last = sentences.pop()
        sentences.append(Sentence(last.words, last.mark + mark))


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    if "." not in match[0] or len(match[0]) > 1:
        return True
    after = text[match.end() : match.end() + 1]
    return (not after or not after.isalnum()) and not ABBREVIATION.search(text[: match.start()])


def _take_apart(raw: str, start: int, is_quoted: bool, *, following: str) -> list[Word]:
    """A token's words in normal form: "I'll" is i + will, "can't" is can + not."""
    text = raw.lower().replace("’", "'")
    end = start + len(raw)
    parts = SPECIAL.get(text)
    if text.endswith("'s") and following.strip().lower().startswith("been"):
        parts = (text[:-2], "has")
    if parts is None:
        parts = _contraction(text)
    return [Word(part, start, end, is_quoted) for part in parts]


def _contraction(text: str) -> tuple[str, ...]:
    for ending, word in ENDINGS.items():
        stem = text.removesuffix(ending)
        if stem != text and stem:
            if ending == "'s" and stem not in IS_AFTER:
                return (text,)
            return (stem, word)
    return (text,)


def quoted_spans(text: str) -> list[tuple[int, int]]:
    """The spans between quotation marks; marks around the whole text don't count."""
    whole = text.strip()
    spans = [match.span() for pattern in QUOTED for match in pattern.finditer(text)]
    return [(start, end) for start, end in spans if end - start < len(whole)]
