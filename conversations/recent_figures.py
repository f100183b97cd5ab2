"""Figures of busy projects, counted once a minute by each web process. A quiet project's are always of this moment."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass
from uuid import UUID

from conversations.figures import Figures, Period, project_figures
from projects.models import Project

# Counting so many messages takes a quarter of a second.
BUSY = 50_000
KEPT_SECONDS = 60.0
MOST_KEPT = 256


@dataclass(frozen=True)
class Kept:
    figures: Figures
    until: float


_kept: OrderedDict[UUID, Kept] = OrderedDict()


def recent_figures(project: Project, period: Period) -> Figures:
    """The figures as they are, or as they were less than a minute ago."""
    kept = _kept.get(project.pk)
    if kept and kept.until > time.monotonic() and kept.figures.period.since == period.since:
        return kept.figures
    figures = project_figures(project, period)
    if figures.now.messages + figures.before.messages >= BUSY:
        _kept[project.pk] = Kept(figures, until=time.monotonic() + KEPT_SECONDS)
        _kept.move_to_end(project.pk)
        if len(_kept) > MOST_KEPT:
            _kept.popitem(last=False)
    return figures
