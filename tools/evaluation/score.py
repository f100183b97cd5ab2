"""Precision and recall of what a model read in the cases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tools.evaluation.cases import FIRED, OUTCOMES, Case


@dataclass(frozen=True)
class Read:
    """What a model made of a case: "fired" or a rule for each tool it found mentioned. `error` is why there is none."""

    case: Case
    outcomes: Mapping[str, str]
    error: str = ""

    @property
    def fired(self) -> frozenset[str]:
        return frozenset(tool for tool, outcome in self.outcomes.items() if outcome == FIRED)

    @property
    def is_right(self) -> bool:
        """Whether exactly those tools fired that had to."""
        return self.fired == self.case.expects_to_fire


@dataclass(frozen=True)
class Tally:
    """Found rightly, found wrongly, and not found."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.right + other.right, self.wrong + other.wrong, self.missed + other.missed)

    @property
    def precision(self) -> float | None:
        """The share of what was found that is right; None when nothing was found."""
        found = self.right + self.wrong
        return self.right / found if found else None

    @property
    def recall(self) -> float | None:
        """The share of what there was that was found; None when there was nothing."""
        there = self.right + self.missed
        return self.right / there if there else None

    def holds(self, threshold: float) -> bool:
        """Whether neither figure is below the threshold. A figure that can't be had is not below it."""
        return all(figure is None or figure >= threshold for figure in (self.precision, self.recall))


def tally(reads: Iterable[Read]) -> Tally:
    """Tools that fired."""
    return sum((_of_sets(read.fired, read.case.expects_to_fire) for read in reads), Tally())


def tally_by(reads: Sequence[Read], key: Callable[[Case], str]) -> dict[str, Tally]:
    """Tools that fired, by what the key says of their case, in the order of the cases."""
    groups: dict[str, list[Read]] = {}
    for read in reads:
        groups.setdefault(key(read.case), []).append(read)
    return {name: tally(group) for name, group in groups.items()}


def tally_by_tool(reads: Sequence[Read]) -> dict[str, Tally]:
    """For each tool, the cases in which it fired."""
    tools = {tool for read in reads for tool in (*read.case.expect, *read.outcomes)}
    return {tool: sum((_of_tool(read, tool) for read in reads), Tally()) for tool in sorted(tools)}


def tally_by_rule(reads: Sequence[Read]) -> dict[str, Tally]:
    """For each rule, the tools it was named for; only tools that the case says something about count."""
    pairs = [(outcome, read.outcomes.get(tool, "")) for read in reads for tool, outcome in read.case.expect.items()]
    return {
        rule: Tally(
            right=sum(expected == found == rule for expected, found in pairs),
            wrong=sum(found == rule != expected for expected, found in pairs),
            missed=sum(expected == rule != found for expected, found in pairs),
        )
        for rule in OUTCOMES
    }


def _of_tool(read: Read, tool: str) -> Tally:
    return _of_sets(read.fired & {tool}, read.case.expects_to_fire & {tool})


def _of_sets(found: frozenset[str], there: frozenset[str]) -> Tally:
    return Tally(right=len(found & there), wrong=len(found - there), missed=len(there - found))
