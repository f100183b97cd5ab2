"""Dashboard metrics: the last seven days against the seven before, without test conversations.

Ids are ordered by creation time, so a period is a range of the index on (organization, id).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from django.db import connection

from console.promises.metrics import PromiseCounts, promise_metrics
from projects.models import Project
from tenancy.ids import uuid7_floor

DAYS = 7
WEEK = timedelta(days=DAYS)

# `is_now` is null between the two periods: the previous one ends at the same time of day as the current one.
TURNS = """
with spoken as (
    select case when t.created_at >= %(since)s then true when t.created_at <= %(until)s then false end as is_now,
        (t.created_at at time zone %(timezone)s)::date as day, c.channel, t.freshness, t.quality_score,
        extract(epoch from t.first_token_at - t.created_at) * 1000 as ms, t.message_id is not null as is_answer
    from conversations_turn t
    join conversations_conversation c on c.organization_id = t.organization_id and c.id = t.conversation_id
    where t.organization_id = %(organization)s and t.id >= %(floor)s and c.project_id = %(project)s
        and c.metadata -> 'playground' is distinct from 'true'
)
select is_now, day, count(*), count(*) filter (where channel = any(%(calls)s)) as calls,
    count(*) filter (where channel = any(%(messengers)s)) as messengers,
    percentile_cont(array[0.5, 0.95]) within group (order by ms) filter (where is_answer and ms is not null) as ms,
    count(*) filter (where freshness = 'fresh') as fresh, count(*) filter (where freshness = 'stale') as stale,
    count(*) filter (where freshness = 'waiting') as waiting,
    avg(quality_score)::float8 as quality, count(quality_score) as scored
from spoken group by grouping sets ((is_now), (is_now, day))
"""

# Counting scans all messages of the organization in both weeks, whatever their project.
MANY = """
select count(*) >= %(most)s as are_many from (
    select 1 from conversations_message where organization_id = %(organization)s and id >= %(floor)s limit %(most)s
) them
"""

COUNTS = {
    "conversations": """
        select case when created_at >= %(since)s then true when created_at <= %(until)s then false end as is_now,
            count(*) as value
        from conversations_conversation
        where organization_id = %(organization)s and id >= %(floor)s and project_id = %(project)s
            and metadata -> 'playground' is distinct from 'true' group by 1
    """,
    "messages": """
        select case when m.created_at >= %(since)s then true when m.created_at <= %(until)s then false end as is_now,
            count(*) as value
        from conversations_message m
        join conversations_conversation c on c.organization_id = m.organization_id and c.id = m.conversation_id
        where m.organization_id = %(organization)s and m.id >= %(floor)s and c.project_id = %(project)s
            and c.metadata -> 'playground' is distinct from 'true' group by 1
    """,
    "cost": """
        with tests as (
            select id from conversations_conversation
            where organization_id = %(organization)s and project_id = %(project)s and metadata -> 'playground' = 'true'
        )
        select case when started_at >= %(since)s then true when started_at <= %(until)s then false end as is_now,
            sum(cost) filter (where not is_test) as value, sum(cost) filter (where is_test) as tests
        from (
            select m.started_at, m.cost,
                coalesce(coalesce(t.conversation_id, m.subject_id) in (select id from tests), false) as is_test
            from jobs_modelcall m
            left join conversations_turn t on t.organization_id = m.organization_id and t.id = m.turn_id
            where m.organization_id = %(organization)s and m.project_id = %(project)s and m.id >= %(floor)s
                and m.started_at >= %(before)s
        ) calls group by 1
    """,
    "failed_jobs": """
        with tests as (
            select id from conversations_conversation
            where organization_id = %(organization)s and project_id = %(project)s and metadata -> 'playground' = 'true'
        )
        select case when finished_at >= %(since)s then true when finished_at <= %(until)s then false end as is_now,
            count(*) as value
        from jobs_job
        where organization_id = %(organization)s and project_id = %(project)s and state = 'failed'
            and finished_at >= %(before)s and subject_id not in (select id from tests)
            and subject_id not in (
                select id from tools_effect
                where organization_id = %(organization)s and conversation_id in (select id from tests)
            ) group by 1
    """,
}


@dataclass(frozen=True)
class Period:
    """Seven calendar days in a time zone, up to now; the previous period ends at the same time of day."""

    now: datetime
    since: datetime
    timezone: str

    @property
    def days(self) -> list[date]:
        return [self.since.date() + timedelta(days=number) for number in range(DAYS)]


@dataclass(frozen=True)
class Turns:
    """Turns of a day or a week.

    Times are those of replies to customers, in milliseconds. `fresh`, `stale` and `waiting` count replies that could use
    directives. `quality` is 1 to 10, over `scored` turns.
    """

    count: int = 0
    calls: int = 0
    messengers: int = 0
    median_ms: float | None = None
    p95_ms: float | None = None
    fresh: int = 0
    stale: int = 0
    waiting: int = 0
    quality: float | None = None
    scored: int = 0

    @property
    def chats(self) -> int:
        return self.count - self.calls - self.messengers

    @property
    def directed(self) -> int:
        return self.fresh + self.stale + self.waiting

    @property
    def fresh_share(self) -> float | None:
        """Between 0 and 1."""
        return self.fresh / self.directed if self.directed else None


@dataclass(frozen=True)
class Week:
    """Totals of seven days. `cost` is in USD, or None when no model has a price; `test_cost` is that of tests."""

    turns: Turns
    conversations: int
    messages: int
    cost: Decimal | None
    failed_jobs: int
    test_cost: Decimal | None = None


@dataclass(frozen=True)
class Figures:
    period: Period
    now: Week
    before: Week
    days: list[Turns]
    promises: PromiseCounts

    @property
    def is_empty(self) -> bool:
        """True if both weeks have no messages."""
        return not (self.now.messages or self.before.messages)


def last_days(now: datetime, *, timezone: str) -> Period:
    """Today and the six days before it, in the business's time zone."""
    local = now.astimezone(ZoneInfo(timezone))
    today = local.replace(hour=0, minute=0, second=0, microsecond=0)
    return Period(now=local, since=today - timedelta(days=DAYS - 1), timezone=timezone)


def is_busy(project: Project, period: Period, *, most: int) -> bool:
    """Return True if counting would scan at least `most` messages. Reads at most that many."""
    return bool(_rows(MANY, {**_values(project, period), "most": most})[0]["are_many"])


def project_figures(project: Project, period: Period) -> Figures:
    """The project's metrics. Call inside the tenant's transaction."""
    values = _values(project, period)
    turns = _rows(TURNS, values)
    by_day = {row["day"]: _turns(row) for row in turns if row["is_now"] and row["day"]}
    totals = {row["is_now"]: _turns(row) for row in turns if row["day"] is None}
    counts = {name: {row["is_now"]: row for row in _rows(sql, values)} for name, sql in COUNTS.items()}
    weeks = [_week(counts, turns=totals.get(is_now, Turns()), is_now=is_now) for is_now in (True, False)]
    promises = promise_metrics(project, days=DAYS, now=period.now, timezone=period.timezone).now
    days = [by_day.get(day, Turns()) for day in period.days]
    return Figures(period, now=weeks[0], before=weeks[1], days=days, promises=promises)


def _values(project: Project, period: Period) -> dict[str, Any]:
    return {
        "organization": project.organization_id,
        "project": project.pk,
        "since": period.since,
        "before": period.since - WEEK,
        "until": period.now - WEEK,
        "floor": uuid7_floor(period.since - WEEK),
        "timezone": period.timezone,
        "calls": ["phone", "webcall"],
        "messengers": ["sms", "whatsapp", "telegram"],
    }


def _rows(sql: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        names = [column.name for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _turns(row: dict[str, Any]) -> Turns:
    median_ms, p95_ms = row["ms"] or (None, None)
    names = ("count", "calls", "messengers", "fresh", "stale", "waiting", "quality", "scored")
    return Turns(median_ms=median_ms, p95_ms=p95_ms, **{name: row[name] for name in names})


def _week(counts: dict[str, dict[bool, dict[str, Any]]], *, turns: Turns, is_now: bool) -> Week:
    found = {name: rows.get(is_now, {}).get("value") for name, rows in counts.items()}
    return Week(
        turns=turns,
        conversations=found["conversations"] or 0,
        messages=found["messages"] or 0,
        cost=found["cost"],
        failed_jobs=found["failed_jobs"] or 0,
        test_cost=counts["cost"].get(is_now, {}).get("tests"),
    )
