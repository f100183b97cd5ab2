"""The score of each prompt rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class RuleReading:
    """A model's answer to one case of a rule. `error` is set if the call failed."""

    rule: str
    passed: bool
    error: str = ""


@dataclass(frozen=True)
class RuleScore:
    """The cases of a rule, those whose answer follows it, and those without an answer."""

    cases: int = 0
    passed: int = 0
    errors: int = 0

    @property
    def failed(self) -> int:
        return self.cases - self.passed - self.errors

    def plus(self, reading: RuleReading) -> RuleScore:
        return RuleScore(self.cases + 1, self.passed + reading.passed, self.errors + bool(reading.error))


def score_rules(readings: Iterable[RuleReading]) -> dict[str, RuleScore]:
    """The score of each rule, in order of the readings."""
    scores: dict[str, RuleScore] = {}
    for reading in readings:
        scores[reading.rule] = scores.get(reading.rule, RuleScore()).plus(reading)
    return scores


def rule_table(readings: Sequence[RuleReading]) -> str:
    """A Markdown table with one row per rule, and their total."""
    scores = score_rules(readings)
    total = score_rules(RuleReading("all", reading.passed, reading.error) for reading in readings)
    rows = [
        f"| {rule} | {score.cases} | {score.passed} | {score.failed} | {score.errors} |"
        for rule, score in [*scores.items(), *total.items()]
    ]
    head = ["| prompt rule | cases | passed | failed | unanswered |", "| --- | ---: | ---: | ---: | ---: |"]
    return "\n".join([*head, *rows])


def rule_figures(readings: Sequence[RuleReading]) -> Mapping[str, Any]:
    """The scores for `evaluation.json`."""
    return {
        rule: {"cases": score.cases, "passed": score.passed, "failed": score.failed, "unanswered": score.errors}
        for rule, score in score_rules(readings).items()
    }
