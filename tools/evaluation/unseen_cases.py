"""Labelled English answers that were written without knowledge of the offline model's grammar.

The first set was scored before anyone tuned to it, then read while the grammar was improved. The second is only ever
scored: its figures predict text that nobody has seen.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from pydantic import ValidationError

from tools.evaluation.cases import BadCase, Case, Part

UNSEEN = Path(__file__).with_name("unseen")


class UnseenSet(StrEnum):
    FIRST = "first"
    SECOND = "second"

    @property
    def part(self) -> Part:
        return Part.SEEN if self is UnseenSet.FIRST else Part.HELD_OUT


def load_unseen(name: UnseenSet) -> list[Case]:
    """The cases of an unseen set. Raises BadCase with file and line."""
    path = UNSEEN / f"{name}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    return [_case(line, name=name, at=f"{path.name}, line {number}") for number, line in enumerate(lines, 1)]


def _case(line: str, *, name: UnseenSet, at: str) -> Case:
    try:
        case = Case.model_validate_json(line)
    except ValidationError as error:
        raise BadCase(f"{at}: {error}") from error
    if case.part is not name.part:
        raise BadCase(f"{at}: {case.id} is of the other part.")
    return case
