"""Figures of busy projects, counted in the background.

Each web process counts the same figures in a background thread at most once a minute; those of quiet projects are counted
on every request. The first visitor of a busy project gets none yet. Later ones get the cached figures, which are refreshed
once they are a minute old.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Any, TypeVar, cast
from uuid import UUID

from django.db import DatabaseError, connections

from conversations.analytics.period import Period
from projects.common.logs import describe_error
from projects.models import Project
from tenancy.ids import uuid7_floor
from tenancy.replica import report_tx, reports_connection

log = logging.getLogger(__name__)

# Counting this many messages takes about 20 ms; a million takes half a second or more.
BUSY = 5_000
FRESH_SECONDS = 60.0
# Older figures are never shown.
LONGEST_SECONDS = 600.0
MOST_KEPT = 256

MANY = """
select count(*) >= %(most)s from (
    select 1 from conversations_message
    where organization_id = %(organization)s and id >= %(since)s and id < %(until)s limit %(most)s
) them
"""

T = TypeVar("T")


@dataclass(frozen=True)
class Key:
    """The figures' name, their project and their days."""

    name: str
    project_id: UUID
    period: tuple[str, ...]


@dataclass(frozen=True)
class CachedFigures:
    figures: Any
    at: float
    """`time.monotonic` when they were counted."""


_kept: OrderedDict[Key, CachedFigures] = OrderedDict()
_counting: dict[Key, Future[None]] = {}
_lock = Lock()
# One at a time, so that counting leaves the database to customers.
_counter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="figures")


def recent_figures(name: str, project: Project, period: Period, count: Callable[[], T]) -> T | None:
    """Current or recently cached figures; None while the first count is running.

    `count` runs in the tenant's transaction: in the current one, or in one of the background thread. The two periods are
    read.
    """
    key = _key(name, project, period)
    kept = _shown(key)
    if kept is None and not is_busy(project, period):
        return count()
    if kept is None or _age_seconds(kept) >= FRESH_SECONDS:
        _count_behind(key, project, count)
    return cast("T | None", kept.figures if kept else None)


def fresh_figures(name: str, project: Project, period: Period, count: Callable[[], T]) -> T:
    """Figures that are at most a minute old, counted now if there are none. Quiet projects' are always current."""
    key = _key(name, project, period)
    kept = _shown(key)
    if kept is not None and _age_seconds(kept) < FRESH_SECONDS:
        return cast(T, kept.figures)
    figures = count()
    if is_busy(project, period):
        _keep(key, figures)
    return figures


def is_busy(project: Project, period: Period) -> bool:
    """Return True if counting would scan at least BUSY messages. Reads at most that many."""
    values = {
        "organization": project.organization_id,
        "since": uuid7_floor(period.before.since),
        "until": uuid7_floor(period.until),
        "most": BUSY,
    }
    with reports_connection().cursor() as cursor:
        cursor.execute(MANY, values)
        return bool(cursor.fetchone()[0])


def _key(name: str, project: Project, period: Period) -> Key:
    days = (period.first_day.isoformat(), period.last_day.isoformat(), period.timezone)
    return Key(name, project.pk, days)


def _shown(key: Key) -> CachedFigures | None:
    """The cached figures if they are less than ten minutes old."""
    kept = _kept.get(key)
    return None if kept is None or _age_seconds(kept) >= LONGEST_SECONDS else kept


def _age_seconds(kept: CachedFigures) -> float:
    return time.monotonic() - kept.at


def _count_behind(key: Key, project: Project, count: Callable[[], Any]) -> None:
    """Start a background count unless one is running."""
    with _lock:
        running = _counting.get(key)
        if running is None or running.done():
            _counting[key] = _counter.submit(_count, key, project, count)


def _count(key: Key, project: Project, count: Callable[[], Any]) -> None:
    try:
        with report_tx(cast(UUID, project.organization_id)):
            figures = count()
        _keep(key, figures)
    except DatabaseError as error:
        log.warning("Counting the figures of project %s failed: %s", project.pk, describe_error(error))
    finally:
        connections.close_all()
        _counting.pop(key, None)


def _keep(key: Key, figures: Any) -> None:
    with _lock:
        _kept.pop(key, None)
        _kept[key] = CachedFigures(figures, at=time.monotonic())
        if len(_kept) > MOST_KEPT:
            _kept.popitem(last=False)
