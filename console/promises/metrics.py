"""Promise metrics by day, for a period and for the one before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Count, F, Q, QuerySet
from django.db.models.functions import TruncDate

from projects.models import Project
from tools.models import Promise, PromiseState

KEPT = Q(state=PromiseState.KEPT)
LATE = Q(closed_at__gt=F("due_at"))


@dataclass(frozen=True)
class PromiseCounts:
    """Promise counts by outcome. `late` counts promises kept after they were due; `kept` doesn't include them."""

    kept: int = 0
    late: int = 0
    open: int = 0
    broken: int = 0
    withdrawn: int = 0

    @property
    def made(self) -> int:
        return self.kept + self.late + self.open + self.broken + self.withdrawn

    @property
    def kept_rate(self) -> float | None:
        """Percentage of closed promises kept on time, not counting withdrawn ones. None if there are none."""
        over = self.kept + self.late + self.broken
        return 100 * self.kept / over if over else None


@dataclass(frozen=True)
class PromiseMetrics:
    """Metrics for a period of calendar days that ends today, and totals for the period before."""

    days: Sequence[date]
    by_day: Mapping[date, PromiseCounts]
    now: PromiseCounts
    before: PromiseCounts


def promise_metrics(project: Project, *, days: int, now: datetime, timezone: str) -> PromiseMetrics:
    """Promises made in the last `days` calendar days of a time zone, by the day they were made."""
    zone = ZoneInfo(timezone)
    local = now.astimezone(zone)
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
    since, earlier = midnight - timedelta(days=days - 1), midnight - timedelta(days=2 * days - 1)
    rows = Promise.objects.filter(project_id=project.pk)
    current = rows.filter(created_at__gte=since)
    return PromiseMetrics(
        days=[(since + timedelta(days=number)).date() for number in range(days)],
        by_day=_by_day(current, zone),
        now=_counts(current.aggregate(**_sums())),
        before=_counts(rows.filter(created_at__gte=earlier, created_at__lt=since).aggregate(**_sums())),
    )


def _by_day(rows: QuerySet[Promise], zone: ZoneInfo) -> dict[date, PromiseCounts]:
    # The model's default ordering would split the groups.
    grouped = rows.order_by().annotate(day=TruncDate("created_at", tzinfo=zone)).values("day").annotate(**_sums())
    return {row["day"]: _counts(row) for row in grouped}


def _sums() -> dict[str, Any]:
    others = {state.value: Count("pk", filter=Q(state=state)) for state in PromiseState if state != PromiseState.KEPT}
    return {**others, "kept": Count("pk", filter=KEPT & ~LATE), "late": Count("pk", filter=KEPT & LATE)}


def _counts(row: Mapping[str, Any]) -> PromiseCounts:
    return PromiseCounts(**{name: row[name] for name in ("kept", "late", "open", "broken", "withdrawn")})
