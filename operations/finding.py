"""Findings about the installation, and what to do about them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import zip_longest


class State(StrEnum):
    """The state of a finding, in the words of the pages' styles."""

    OK = "ok"
    # Worth a look, but nobody notices it yet.
    WARN = "warn"
    # Somebody notices it, or soon will.
    BAD = "bad"


@dataclass(frozen=True)
class Finding:
    """One sentence about a part, and what to do if something is wrong with it."""

    state: State
    says: str
    action: str = ""


@dataclass(frozen=True)
class Table:
    """Rows below a section's findings. `links` are the addresses that the first cells lead to, if there are such."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    links: tuple[str, ...] = ()

    @property
    def linked_rows(self) -> list[tuple[tuple[str, ...], str]]:
        """Each row with its link, which may be empty."""
        return list(zip_longest(self.rows, self.links, fillvalue=""))  # type: ignore[arg-type]  # links are fewer


@dataclass(frozen=True)
class Section:
    """A part of the installation with its findings."""

    title: str
    findings: tuple[Finding, ...]
    tables: tuple[Table, ...] = field(default=())

    @property
    def state(self) -> State:
        """The worst state of the findings."""
        states = {finding.state for finding in self.findings}
        return next((state for state in (State.BAD, State.WARN) if state in states), State.OK)


def ok(says: str) -> Finding:
    return Finding(State.OK, says)


def warn(says: str, action: str) -> Finding:
    return Finding(State.WARN, says, action)


def bad(says: str, action: str) -> Finding:
    return Finding(State.BAD, says, action)


def worst(sections: Iterable[Section]) -> State:
    """The state of the whole installation."""
    return Section("", tuple(finding for section in sections for finding in section.findings)).state
