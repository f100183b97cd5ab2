"""Figures of busy projects, counted at most once a minute by each web process. A quiet project's are always of this moment.

Only the first visitor waits for a busy project's: whoever comes later sees the figures as they stand, and once these are a
minute old, they are counted anew behind the page.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import cast
from uuid import UUID

from django.db import DatabaseError, connections
from django.utils.timezone import now

from conversations.figures import Figures, Period, last_days, project_figures
from projects.models import Project
from projects.tenancy import tenant_tx

log = logging.getLogger(__name__)

# Counting so many messages takes 20 ms; a million in the quarter, half a second.
BUSY = 5_000
FRESH_SECONDS = 60.0
# Older ones are shown to nobody.
LONGEST_SECONDS = 600.0
MOST_KEPT = 256


@dataclass(frozen=True)
class Kept:
    figures: Figures
    at: float
    """When they were counted, by `time.monotonic`."""


_kept: OrderedDict[UUID, Kept] = OrderedDict()
_counting: dict[UUID, Future[None]] = {}
_lock = Lock()
# One at a time: counting is the database's work, which serves the customers first.
_counter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="figures")


def recent_figures(project: Project, period: Period) -> Figures:
    """The figures as they are, or as they were a short while ago."""
    kept = _kept.get(project.pk)
    age = time.monotonic() - kept.at if kept else LONGEST_SECONDS
    if kept is None or age >= LONGEST_SECONDS or kept.figures.period.since != period.since:
        return _count(project, period)
    if age >= FRESH_SECONDS:
        _count_behind(project, timezone=period.timezone)
    return kept.figures


def _count(project: Project, period: Period) -> Figures:
    figures = project_figures(project, period)
    with _lock:
        _kept.pop(project.pk, None)
        if figures.now.messages + figures.before.messages >= BUSY:
            _kept[project.pk] = Kept(figures, at=time.monotonic())
            if len(_kept) > MOST_KEPT:
                _kept.popitem(last=False)
    return figures


def _count_behind(project: Project, *, timezone: str) -> None:
    """Count anew in a thread, unless that is under way."""
    with _lock:
        running = _counting.get(project.pk)
        if running is None or running.done():
            _counting[project.pk] = _counter.submit(_recount, project, timezone)


def _recount(project: Project, timezone: str) -> None:
    try:
        with tenant_tx(cast(UUID, project.organization_id)):
            _count(project, last_days(now(), timezone=timezone))
    except DatabaseError as error:
        log.warning("The figures of project %s stay as they are: %s", project.pk, error)
    finally:
        connections.close_all()
        _counting.pop(project.pk, None)
