"""The labeled pairs of the rules of detection, rerank and arguments: one JSON Lines file per skill."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StrictBool

from tools.evaluation.cases import Case, CaseMessage, Expected, Part
from tools.evaluation.rules.checks import CheckedPair

FOLDER = Path(__file__).parent
Pair = TypeVar("Pair", bound=BaseModel)


class DetectionCase(BaseModel):
    """One answer of a pair: in one the tool fires, in the other the rule holds it back.

    `expect` is as in `Case`. `unserved` tells if a commitment that no tool serves has to be found; None doesn't ask.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    rule: str
    channel: str = "chat"
    conversation: tuple[CaseMessage, ...] = ()
    answer: Annotated[str, Field(min_length=1)]
    expect: Expected
    unserved: StrictBool | None = None

    def as_case(self) -> Case:
        return Case(
            id=self.rule,
            language="en",
            part=Part.SEEN,
            channel=self.channel,
            conversation=self.conversation,
            answer=self.answer,
            expect=self.expect,
        )


class RerankCase(BaseModel):
    """One answer of a pair: the same rivals, of which each answer means another."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rule: str
    channel: str = "chat"
    conversation: tuple[CaseMessage, ...] = ()
    answer: Annotated[str, Field(min_length=1)]
    rivals: tuple[str, ...]
    winner: str


def detection_cases() -> list[DetectionCase]:
    return list(read_pairs(FOLDER / "detect.jsonl", DetectionCase))


def rerank_cases() -> list[RerankCase]:
    return list(read_pairs(FOLDER / "rerank.jsonl", RerankCase))


def arguments_pairs() -> list[CheckedPair]:
    return list(read_pairs(FOLDER / "arguments.jsonl", CheckedPair))


def read_pairs(path: Path, kind: type[Pair]) -> Iterator[Pair]:
    """The lines of a file. Raises pydantic.ValidationError."""
    return (kind.model_validate_json(line) for line in path.read_text(encoding="utf-8").splitlines())
