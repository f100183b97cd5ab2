"""The labelled answers: one JSON Lines file per language in `sets/`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from tools.engine.skills.detect import Rule

SETS = Path(__file__).with_name("sets")
FIRED = "fired"
OUTCOMES = (FIRED, *(str(rule) for rule in Rule))


class Part(StrEnum):
    """The part of the set that a case belongs to."""

    SEEN = "seen"
    """May be read while working on a grammar or prompt."""
    HELD_OUT = "held_out"
    """A third of the set, never read for that purpose, so that its score predicts unseen text."""
    KEPT = "kept"
    """A project's own regression case."""


class BadCase(ValueError):
    """A labelled answer is malformed."""


def _known(outcome: str) -> str:
    if outcome not in OUTCOMES:
        raise ValueError(f"{outcome!r} is none of {', '.join(OUTCOMES)}")
    return outcome


Outcome = Annotated[str, AfterValidator(_known)]
Expected = Annotated[dict[str, Outcome], Field(max_length=50)]


class CaseMessage(BaseModel):
    """One message of the conversation before the answer."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    role: Literal["customer", "agent"]
    content: Annotated[str, Field(min_length=1, max_length=8_000)]


class Case(BaseModel):
    """An agent's answer and the expected outcome of each tool.

    `expect` maps each tool whose subject the answer mentions to "fired" or to the rule that holds it back. Other tools
    must not fire, for whatever reason.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    language: str
    part: Part
    channel: str
    conversation: tuple[CaseMessage, ...] = ()
    answer: Annotated[str, Field(min_length=1)]
    expect: Expected

    @property
    def expects_to_fire(self) -> frozenset[str]:
        return frozenset(tool for tool, outcome in self.expect.items() if outcome == FIRED)


def part_of(case_id: str) -> Part:
    """The part of a case, by a hash of its id: a third is held out, independent of how cases are read."""
    return Part.HELD_OUT if hashlib.sha256(case_id.encode()).digest()[0] % 3 == 0 else Part.SEEN


def languages() -> list[str]:
    """The languages of the set, English first."""
    return sorted((path.stem for path in SETS.glob("*.jsonl")), key=lambda language: (language != "en", language))


def load_cases(wanted: Iterable[str] = ()) -> list[Case]:
    """The cases of the given languages, or of all. Raises BadCase with file and line."""
    return [case for language in wanted or languages() for case in _read(SETS / f"{language}.jsonl")]


def _read(path: Path) -> Iterator[Case]:
    if not path.exists():
        raise BadCase(f"There is no set for {path.stem}; there is one for each of {', '.join(languages())}.")
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            case = Case.model_validate_json(line)
        except ValidationError as error:
            raise BadCase(f"{path.name}, line {number}: {error}") from error
        if case.language != path.stem or case.part is not part_of(case.id):
            raise BadCase(f"{path.name}, line {number}: {case.id} is not of this language, or of the other part.")
        yield case
