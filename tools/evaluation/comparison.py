"""A run beside the one before: what fails newly comes first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from tools.evaluation.cases import OUTCOMES
from tools.models import CaseResult, EvaluationRun, ResultState, RunState

# States of a case that was run.
READ = frozenset({ResultState.PASSED.value, ResultState.FAILED.value, ResultState.ERROR.value})
FAILING = frozenset({ResultState.FAILED.value, ResultState.ERROR.value})


class Change(StrEnum):
    """A result beside that of the run before, in the order of a list."""

    NEWLY_FAILING = "newly_failing"
    FAILING = "failing"
    NEWLY_PASSING = "newly_passing"
    PASSING = "passing"
    WAITING = "waiting"
    SKIPPED = "skipped"


ORDER = tuple(Change)


@dataclass(frozen=True)
class ComparedResult:
    """A result, its state in the run before, if the case was in it, and the change."""

    result: CaseResult
    before: str | None

    @property
    def change(self) -> Change:
        state = self.result.state
        if state == ResultState.WAITING:
            return Change.WAITING
        if state == ResultState.SKIPPED:
            return Change.SKIPPED
        if state in FAILING:
            return Change.NEWLY_FAILING if self.before == ResultState.PASSED else Change.FAILING
        return Change.NEWLY_PASSING if self.before in FAILING else Change.PASSING


@dataclass(frozen=True)
class RuleScore:
    """The labels of one outcome: how many there are, and how many were read so; `before` in the run before."""

    outcome: str
    labels: int
    passed: int
    before: int | None


@dataclass(frozen=True)
class Comparison:
    """A run with its results, and the finished run before it, if there is one."""

    run: EvaluationRun
    previous: EvaluationRun | None
    results: Sequence[ComparedResult]
    rules: Sequence[RuleScore]

    def count(self, *changes: Change) -> int:
        return sum(one.change in changes for one in self.results)


def compare(run: EvaluationRun) -> Comparison:
    """The run beside the last one before it that was finished."""
    earlier = EvaluationRun.objects.filter(project=run.project_id, number__lt=run.number, state=RunState.DONE)
    previous = earlier.order_by("-number").first()
    results = _results(run)
    known = {one.case_id: one for one in _results(previous)} if previous else {}
    compared = [ComparedResult(one, known[one.case_id].state if one.case_id in known else None) for one in results]
    compared.sort(key=lambda one: ORDER.index(one.change))
    return Comparison(run, previous, compared, _rules(results, known))


def _results(run: EvaluationRun) -> list[CaseResult]:
    return list(CaseResult.objects.filter(run=run, case__deleted_at=None).select_related("case"))


def _rules(results: Sequence[CaseResult], known: Mapping[UUID, CaseResult]) -> list[RuleScore]:
    read = [one for one in results if one.state in READ]
    before = [known[one.case_id] for one in read if one.case_id in known]
    scores = []
    for outcome in OUTCOMES:
        if labels := [one for result in read for one in _labels(result, outcome)]:
            passed = [one for result in before for one in _labels(result, outcome)]
            scores.append(RuleScore(outcome, len(labels), sum(labels), sum(passed) if before else None))
    return scores


def _labels(result: CaseResult, outcome: str) -> list[bool]:
    """For each tool that the case labels with the outcome: True if the model read it so."""
    tools = [tool for tool, expected in result.case.expected.items() if expected == outcome]
    return [result.outcomes.get(tool) == outcome for tool in tools]
