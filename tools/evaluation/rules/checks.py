"""Checks of one answer of a model, and pairs of answers that they have to tell apart."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

SENTENCE = re.compile(r"[^.!?]+[.!?]*")
# A text, or the fields of a structured answer.
Answer = str | dict[str, Any]


def _compiles(pattern: str) -> str:
    re.compile(pattern)
    return pattern


Patterns = Annotated[tuple[Annotated[str, AfterValidator(_compiles)], ...], Field(default=())]


class Check(BaseModel):
    """A check of an answer, or of one `field` of it, by regular expressions that ignore case.

    `at_least` and `at_most` count the items of a list or the sentences of a text.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    field: str = ""
    has: Patterns
    lacks: Patterns
    at_least: Annotated[int, Field(strict=True)] = 0
    at_most: Annotated[int, Field(strict=True)] | None = None

    def holds(self, answer: Answer) -> bool:
        value = answer.get(self.field) if isinstance(answer, Mapping) else answer
        text, count = _text_of(value), _count(value)
        return (
            all(re.search(pattern, text, re.IGNORECASE) for pattern in self.has)
            and not any(re.search(pattern, text, re.IGNORECASE) for pattern in self.lacks)
            and self.at_least <= count
            and (self.at_most is None or count <= self.at_most)
        )


def holds_all(checks: Sequence[Check], answer: Answer) -> bool:
    return all(check.holds(answer) for check in checks)


class CheckedPair(BaseModel):
    """A situation in which a rule decides what is written, with two labeled answers.

    `keeps` is an answer that follows the rule, `breaks` one that doesn't. The checks tell them apart, and are then made
    on the answer of a model. `context` are the variables of the prompt that differ from the usual situation.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    rule: str
    context: dict[str, Any]
    checks: Annotated[tuple[Check, ...], Field(min_length=1)]
    keeps: Answer
    breaks: Answer


def _text_of(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return "\n".join(_text_of(item) for item in value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _count(value: Any) -> int:
    if isinstance(value, list):
        return len(value)
    return sum(bool(sentence.strip()) for sentence in SENTENCE.findall(_text_of(value)))
