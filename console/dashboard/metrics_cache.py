"""Background metrics for busy projects.

Each web process counts a busy project in a background thread at most once a minute; quiet projects are counted on every
request. The first visitor of a busy project gets a placeholder. Later ones get the cached metrics, which are refreshed
once they are a minute old.
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

# Counting this many messages takes about 20 ms; a million takes half a second or more.
BUSY = 5_000
FRESH_SECONDS = 60.0
# Older metrics are never shown.
LONGEST_SECONDS = 600.0
MOST_KEPT = 256


@dataclass(frozen=True)
class CachedMetrics:
    figures: Figures
    at: float
    """`time.monotonic` when they were counted."""


_kept: OrderedDict[UUID, CachedMetrics] = OrderedDict()
_counting: dict[UUID, Future[None]] = {}
_lock = Lock()
# One at a time, so that counting leaves the database to customers.
_counter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="figures")


def recent_figures(project: Project, period: Period) -> Figures | None:
    """Current or recently cached metrics; None while the first count is running."""
    kept = _shown(project, period)
    if kept is None and not is_busy(project, period, most=BUSY):
        return project_figures(project, period)
    if kept is None or _age_seconds(kept) >= FRESH_SECONDS:
        _count_behind(project, timezone=period.timezone)
    return kept.figures if kept else None


def _shown(project: Project, period: Period) -> CachedMetrics | None:
    """The cached metrics if they are less than ten minutes old and of the same days."""
    kept = _kept.get(project.pk)
    if kept is None or _age_seconds(kept) >= LONGEST_SECONDS or kept.figures.period.since != period.since:
        return None
    return kept


def _age_seconds(kept: CachedMetrics) -> float:
    return time.monotonic() - kept.at


def _count_behind(project: Project, *, timezone: str) -> None:
    """Start a background count unless one is running."""
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
        log.warning("Counting the metrics of project %s failed: %s", project.pk, error)
    finally:
        connections.close_all()
        _counting.pop(project.pk, None)


def _keep(project: Project, figures: Figures) -> None:
    with _lock:
        _kept.pop(project.pk, None)
        _kept[project.pk] = CachedMetrics(figures, at=time.monotonic())
        if len(_kept) > MOST_KEPT:
            _kept.popitem(last=False)
