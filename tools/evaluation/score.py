"""Precision and recall of a model's reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tools.evaluation.cases import FIRED, OUTCOMES, Case


@dataclass(frozen=True)
class CaseReading:
    """A model's read of a case: "fired" or a rule for each mentioned tool. `error` is set if the call failed.

    `unserved` are the quotes of commitments that no tool serves.
    """

    case: Case
    outcomes: Mapping[str, str]
    error: str = ""
    unserved: Sequence[str] = ()

    @property
    def fired(self) -> frozenset[str]:
        return frozenset(tool for tool, outcome in self.outcomes.items() if outcome == FIRED)

    @property
    def is_right(self) -> bool:
        """True if exactly the expected tools fired."""
        return self.fired == self.case.expects_to_fire


@dataclass(frozen=True)
class Tally:
    """Counts of true positives, false positives and false negatives."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.right + other.right, self.wrong + other.wrong, self.missed + other.missed)

    @property
    def precision(self) -> float | None:
        """The share of found items that are right; None if nothing was found."""
        found = self.right + self.wrong
        return self.right / found if found else None

    @property
    def recall(self) -> float | None:
        """The share of existing items that were found; None if there were none."""
        there = self.right + self.missed
        return self.right / there if there else None

    def holds(self, threshold: float) -> bool:
        """True if neither figure is below the threshold. An undefined figure passes."""
        return all(figure is None or figure >= threshold for figure in (self.precision, self.recall))


def tally(reads: Iterable[CaseReading]) -> Tally:
    """Tally of the tools that fired."""
    return sum((_of_sets(read.fired, read.case.expects_to_fire) for read in reads), Tally())


def tally_by(reads: Sequence[CaseReading], key: Callable[[Case], str]) -> dict[str, Tally]:
    """Tally of the tools that fired, grouped by a key of the case, in order of the cases."""
    groups: dict[str, list[CaseReading]] = {}
    for read in reads:
        groups.setdefault(key(read.case), []).append(read)
    return {name: tally(group) for name, group in groups.items()}


def tally_by_tool(reads: Sequence[CaseReading]) -> dict[str, Tally]:
    """Tally per tool of the cases in which it fired."""
    tools = {tool for read in reads for tool in (*read.case.expect, *read.outcomes)}
    return {tool: sum((_of_tool(read, tool) for read in reads), Tally()) for tool in sorted(tools)}


def tally_by_rule(reads: Sequence[CaseReading]) -> dict[str, Tally]:
    """Tally per rule. Only tools that the case labels are counted."""
    pairs = [(outcome, read.outcomes.get(tool, "")) for read in reads for tool, outcome in read.case.expect.items()]
    return {
        rule: Tally(
            right=sum(expected == found == rule for expected, found in pairs),
            wrong=sum(found == rule != expected for expected, found in pairs),
            missed=sum(expected == rule != found for expected, found in pairs),
        )
        for rule in OUTCOMES
    }


def _of_tool(read: CaseReading, tool: str) -> Tally:
    return _of_sets(read.fired & {tool}, read.case.expects_to_fire & {tool})


def _of_sets(found: frozenset[str], there: frozenset[str]) -> Tally:
    return Tally(right=len(found & there), wrong=len(found - there), missed=len(there - found))
