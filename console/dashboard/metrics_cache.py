"""Figures of busy projects, counted behind the page and at most once a minute by each web process. A quiet project's are always
of this moment.

Nobody waits for a busy project's: whoever comes first is told that they are being counted. Later ones see them as they stand, and
once these are a minute old, they are counted anew.
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

from console.dashboard.metrics import Figures, Period, is_busy, last_days, project_figures
from projects.models import Project
from tenancy.scope import tenant_tx

log = logging.getLogger(__name__)

# Counting so many messages takes 20 ms; a million in the quarter, half a second and more.
BUSY = 5_000
FRESH_SECONDS = 60.0
# Older ones are shown to nobody.
LONGEST_SECONDS = 600.0
MOST_KEPT = 256


@dataclass(frozen=True)
class CachedMetrics:
    figures: Figures
    at: float
    """When they were counted, by `time.monotonic`."""


_kept: OrderedDict[UUID, CachedMetrics] = OrderedDict()
_counting: dict[UUID, Future[None]] = {}
_lock = Lock()
# One at a time: counting is the database's work, which serves the customers first.
_counter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="figures")


def recent_figures(project: Project, period: Period) -> Figures | None:
    """The figures as they are, or as they were a short while ago; None while they are being counted."""
    kept = _shown(project, period)
    if kept is None and not is_busy(project, period, most=BUSY):
        return project_figures(project, period)
    if kept is None or _age_seconds(kept) >= FRESH_SECONDS:
        _count_behind(project, timezone=period.timezone)
    return kept.figures if kept else None


def _shown(project: Project, period: Period) -> CachedMetrics | None:
    """What may still be shown: not older than ten minutes, and of the same days."""
    kept = _kept.get(project.pk)
    if kept is None or _age_seconds(kept) >= LONGEST_SECONDS or kept.figures.period.since != period.since:
        return None
    return kept


def _age_seconds(kept: CachedMetrics) -> float:
    return time.monotonic() - kept.at


def _count_behind(project: Project, *, timezone: str) -> None:
    """Count in a thread, unless that is under way."""
    with _lock:
        running = _counting.get(project.pk)
        if running is None or running.done():
            _counting[project.pk] = _counter.submit(_count, project, timezone)


def _count(project: Project, timezone: str) -> None:
    try:
        with tenant_tx(cast(UUID, project.organization_id)):
            figures = project_figures(project, last_days(now(), timezone=timezone))
        _keep(project, figures)
    except DatabaseError as error:
        log.warning("The figures of project %s could not be counted: %s", project.pk, error)
    finally:
        connections.close_all()
        _counting.pop(project.pk, None)


def _keep(project: Project, figures: Figures) -> None:
    with _lock:
        _kept.pop(project.pk, None)
        _kept[project.pk] = CachedMetrics(figures, at=time.monotonic())
        if len(_kept) > MOST_KEPT:
            _kept.popitem(last=False)
