"""Rows of the page of regression cases: each case with its result in a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from console.effects.labels import StateLabel
from conversations.models import Channel, Turn
from projects.common.stored_sentences import translated
from projects.common.translation import lazy
from projects.models import Project
from tools.evaluation.cases import FIRED
from tools.evaluation.comparison import Change, ComparedResult, Comparison, RuleScore
from tools.evaluation.runs import cases_of
from tools.models import CaseResult, KeptCase, ResultState

CHANGES: Mapping[str, StateLabel] = {
    Change.NEWLY_FAILING: StateLabel("bad", "alert-triangle", lazy("Newly failing")),
    Change.FAILING: StateLabel("bad", "circle-x", lazy("Failed")),
    Change.NEWLY_PASSING: StateLabel("ok", "circle-check", lazy("Passes again")),
    Change.PASSING: StateLabel("ok", "circle-check", lazy("Passed")),
    Change.WAITING: StateLabel("act", "loader-2", lazy("Waiting")),
    Change.SKIPPED: StateLabel("mute", "circle-minus", lazy("Skipped")),
}
NO_ANSWER = StateLabel("warn", "wifi-off", lazy("No response"))
NOT_RUN = StateLabel("mute", "circle-dotted", lazy("Not run yet"))
OUTCOMES: Mapping[str, str] = {
    FIRED: lazy("Fires"),
    "in_progress": lazy("Held back: already under way"),
    "completed": lazy("Held back: said as done"),
    "future_step": lazy("Held back: a later step"),
    "offer": lazy("Held back: an offer"),
    "subject": lazy("Held back: someone else does it"),
    "negation": lazy("Held back: the agent said it won’t"),
    "quotation": lazy("Held back: quoted"),
    "condition": lazy("Held back: a condition isn’t met"),
    "": lazy("Not mentioned"),
}
CHANNELS = dict(Channel.choices)


@dataclass(frozen=True)
class Label:
    """A tool's expected outcome and the one in the run; `found` is empty without a result.

    `is_wrong` is a tool that fires and shouldn't, or doesn't and should.
    """

    tool: str
    expected: str
    found: str
    is_right: bool
    is_wrong: bool


@dataclass(frozen=True)
class Row:
    """A case. `conversation_id` is empty once its conversation was deleted, or if it was written by hand."""

    id: UUID
    answer: str
    channel: str
    state: StateLabel
    labels: Sequence[Label]
    error: str
    conversation_id: UUID | None
    turn_id: UUID | None


@dataclass(frozen=True)
class RuleRow:
    """The score of an outcome. `before` is empty if there is nothing to compare with; `tone` colors a change."""

    label: str
    passed: int
    labels: int
    before: str
    tone: str


def case_rows(project: Project, comparison: Comparison | None) -> list[Row]:
    """The cases of a run, newly failing ones first, then those that aren't in it."""
    compared = list(comparison.results) if comparison else []
    known = {one.result.case_id for one in compared}
    others = [case for case in cases_of(project).order_by("-id") if case.pk not in known]
    turns = [one.result.case.turn_id for one in compared] + [case.turn_id for case in others]
    spoken = _conversations(project, [turn for turn in turns if turn])
    return [*(_run_row(one, spoken) for one in compared), *(_row(case, NOT_RUN, None, spoken) for case in others)]


def rule_rows(comparison: Comparison) -> list[RuleRow]:
    return [_rule_row(one) for one in comparison.rules]


def _conversations(project: Project, turns: Sequence[UUID]) -> Mapping[UUID, UUID]:
    """Conversations by turn, of this project only."""
    rows = Turn.objects.filter(pk__in=turns, conversation__project=project)
    return dict(rows.values_list("pk", "conversation_id"))


def _run_row(one: ComparedResult, spoken: Mapping[UUID, UUID]) -> Row:
    result = one.result
    is_silent = result.state == ResultState.ERROR and one.change is not Change.NEWLY_FAILING
    return _row(result.case, NO_ANSWER if is_silent else CHANGES[one.change], result, spoken)


def _row(case: KeptCase, state: StateLabel, result: CaseResult | None, spoken: Mapping[UUID, UUID]) -> Row:
    is_read = result is not None and result.state in (ResultState.PASSED, ResultState.FAILED)
    return Row(
        id=case.pk,
        answer=case.answer,
        channel=CHANNELS.get(case.channel, case.channel),
        state=state,
        labels=_labels(case.expected, result.outcomes if result and is_read else None),
        error=translated(result.error) if result else "",
        conversation_id=spoken.get(case.turn_id) if case.turn_id else None,
        turn_id=case.turn_id,
    )


def _labels(expected: Mapping[str, str], outcomes: Mapping[str, str] | None) -> list[Label]:
    """A label for each tool of the case, and for each that fired unexpectedly."""
    fired = [tool for tool, outcome in (outcomes or {}).items() if outcome == FIRED and tool not in expected]
    return [_label(tool, expected.get(tool, ""), outcomes) for tool in (*expected, *fired)]


def _label(tool: str, expected: str, outcomes: Mapping[str, str] | None) -> Label:
    if outcomes is None:
        return Label(tool, OUTCOMES.get(expected, expected), "", is_right=False, is_wrong=False)
    found = outcomes.get(tool, "")
    return Label(
        tool=tool,
        expected=OUTCOMES.get(expected, expected),
        found=OUTCOMES.get(found, found),
        is_right=found == expected,
        is_wrong=(found == FIRED) != (expected == FIRED),
    )


def _rule_row(one: RuleScore) -> RuleRow:
    change = 0 if one.before is None else one.passed - one.before
    return RuleRow(
        label=OUTCOMES.get(one.outcome, one.outcome),
        passed=one.passed,
        labels=one.labels,
        before="" if one.before is None else str(one.before),
        tone="bad" if change < 0 else "ok" if change > 0 else "mute",
    )
