"""Promise metrics by day, for a period and for the one before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Count, F, Q, QuerySet
from django.db.models.functions import Coalesce, TruncDate

from console.promises.figures import made_in, promises_of, unowned
from conversations.analytics.period import Period
from projects.models import Project
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
    rows = promises_of(project, tests=tests)
    current = made_in(rows, period)
    return PromiseMetrics(
        days=[period.first_day + timedelta(days=number) for number in range(period.length)],
        by_day=_by_day(current, ZoneInfo(period.timezone)),
        now=replace(_counts(current.aggregate(**_sums())), unowned=unowned(current).count()),
        before=_counts(made_in(rows, period.before).aggregate(**_sums())),
    )


def _by_day(rows: QuerySet[Promise], zone: ZoneInfo) -> dict[date, PromiseCounts]:
    # The model's default ordering would split the groups.
    grouped = rows.order_by().annotate(day=TruncDate("created_at", tzinfo=zone)).values("day").annotate(**_sums())
    return {row["day"]: _counts(row) for row in grouped}


def _sums() -> dict[str, Any]:
    states = [state for state in PromiseState if state != PromiseState.KEPT]
    others = {state.value: _count(Q(state=state) & ~NOT_SENT) for state in states}
    return {**others, "not_sent": _count(NOT_SENT), "kept": _count(KEPT & ~LATE), "late": _count(KEPT & LATE)}


def _count(which: Q) -> Count:
    """The promises, with those of one effect counted once: a repeated promise shares the effect of the first."""
    return Count(Coalesce("effect_id", "pk"), filter=which, distinct=True)


def _counts(row: Mapping[str, Any]) -> PromiseCounts:
    return PromiseCounts(**{name: row[name] for name in ("kept", "late", "open", "broken", "withdrawn", "not_sent")})
