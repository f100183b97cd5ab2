"""Counts beside the links of the side bar: how much of a page waits for a person."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from projects.models import Project


@dataclass(frozen=True)
class Count:
    """How much of a page waits for a person; `failed` of it went wrong."""

    waiting: int
    failed: int = 0


# By the name of the page; filled by the apps whose rows are counted, when they are ready.
COUNTS: dict[str, Callable[[Project], Count]] = {}


def counts_of(project: Project) -> Mapping[str, Count]:
    """Every count, by the name of its page. In a transaction of the project's tenant."""
    return {page: count(project) for page, count in COUNTS.items()}
