"""Promise metrics by day, for a period and for the one before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import cache
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Count, F, Q, QuerySet, Value
from django.db.models.functions import Coalesce, TruncDate

from console.promises.figures import made_between, promises_of, unowned
from conversations.analytics.period import Period
from projects.models import Project
from tenancy.prepared_queries import PreparedValues
from tenancy.scope import current_organization_id
from tools.models import NOT_SENT, Promise, PromiseState

KEPT = Q(state=PromiseState.KEPT)
LATE = Q(closed_at__gt=F("due_at"))


@dataclass(frozen=True)
class PromiseCounts:
    """Promise counts by outcome.

    `late` counts promises kept after they were due; `kept` doesn't include them. `not_sent` counts those whose message is
    in the outbox, which are neither kept nor broken. `unowned` counts the open ones that a person has to act on and that
    nobody has taken on.
    """

    kept: int = 0
    late: int = 0
    open: int = 0
    broken: int = 0
    withdrawn: int = 0
    not_sent: int = 0
    unowned: int = 0

    @property
    def made(self) -> int:
        return self.kept + self.late + self.open + self.broken + self.withdrawn + self.not_sent

    @property
    def kept_rate(self) -> float | None:
        """Percentage of kept and broken promises that were kept, also late. None if there are none."""
        over = self.kept + self.late + self.broken
        return 100 * (self.kept + self.late) / over if over else None

    @property
    def on_time_rate(self) -> float | None:
        """Percentage of kept and broken promises that were kept on time. None if there are none."""
        over = self.kept + self.late + self.broken
        return 100 * self.kept / over if over else None


@dataclass(frozen=True)
class PromiseMetrics:
    """Metrics for a period of calendar days, and totals for the period before."""

    days: Sequence[date]
    by_day: Mapping[date, PromiseCounts]
    now: PromiseCounts
    before: PromiseCounts


def promise_metrics(project: Project, *, period: Period, tests: bool = False) -> PromiseMetrics:
    """Promises made to customers in a period, by the day they were made.

    With `tests`, those of test conversations instead, which no figure includes.
    """
    before = period.before
    [now], [earlier] = (_TOTALS[tests](project.pk, one.since, one.until) for one in (period, before))
    [[without_owner]] = _UNOWNED[tests](project.pk, period.since, period.until)
    days = _by_day(period.timezone, tests=tests)(project.pk, period.since, period.until)
    return PromiseMetrics(
        days=[period.first_day + timedelta(days=number) for number in range(period.length)],
        by_day={day: _counts(row) for day, *row in days},
        now=replace(_counts(now), unowned=without_owner),
        before=_counts(earlier),
    )


def _prepared(select: Callable[[QuerySet[Promise]], QuerySet[Any, Any]], *, tests: bool) -> PreparedValues:
    """A query of the promises made between two moments, compiled once: that costs several times what running it does."""

    def rows(project_id: UUID, since: datetime, until: datetime) -> QuerySet[Any, Any]:
        project = Project(pk=project_id, organization_id=current_organization_id())
        # The model's default ordering would split the groups.
        return select(made_between(promises_of(project, tests=tests), since, until).order_by())

    return PreparedValues(rows, kinds=(UUID, datetime, datetime))


@cache
def _by_day(timezone: str, *, tests: bool) -> PreparedValues:
    day = TruncDate("created_at", tzinfo=ZoneInfo(timezone))
    return _prepared(lambda rows: rows.annotate(day=day).values_list("day").annotate(**_sums()), tests=tests)


def _sums() -> dict[str, Count]:
    states = [state for state in PromiseState if state != PromiseState.KEPT]
    others = {state.value: _count(Q(state=state) & ~NOT_SENT) for state in states}
    return {**others, "not_sent": _count(NOT_SENT), "kept": _count(KEPT & ~LATE), "late": _count(KEPT & LATE)}


def _count(which: Q) -> Count:
    """The promises, with those of one effect counted once: a repeated promise shares the effect of the first."""
    return Count(Coalesce("effect_id", "pk"), filter=which, distinct=True)


_NAMES = tuple(_sums())


def _counts(row: Sequence[int]) -> PromiseCounts:
    return PromiseCounts(**dict(zip(_NAMES, row, strict=True)))


def _in_total(rows: QuerySet[Promise], **sums: Count) -> QuerySet[Any, Any]:
    """One row, because nothing groups by a constant."""
    return rows.annotate(group=Value(1)).values("group").annotate(**sums).values_list(*sums)


def _totals() -> dict[bool, PreparedValues]:
    """The counts of all promises of a period: under False those of customers, under True those of test conversations."""
    return {tests: _prepared(lambda rows: _in_total(rows, **_sums()), tests=tests) for tests in (False, True)}


_TOTALS = _totals()
_UNOWNED = {
    tests: _prepared(lambda rows: _in_total(unowned(rows), number=Count("pk")), tests=tests) for tests in (False, True)
}
