"""Figures of the home page: a period against the one before, without test conversations.

Ids are ordered by creation time, so a period is a range of the index on (organization, id).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from console.promises.metrics import PromiseMetrics, promise_metrics
from conversations.analytics.period import Period
from projects.models import Project
from tenancy.ids import uuid7_floor
from tenancy.replica import reports_connection

HOURS = 24
# `is_now` is null between the two periods: the previous one ends at the same time of day as the current one.
TURNS = """
with spoken as (
    select case when t.created_at >= %(since)s then true when t.created_at <= %(until)s then false end as is_now,
        date_trunc(%(slot)s, t.created_at at time zone %(timezone)s) as slot,
        t.quality_score,
        case when t.message_id is not null then extract(epoch from t.first_token_at - t.created_at) * 1000 end as ms
    from conversations_turn t
    join conversations_conversation c on c.organization_id = t.organization_id and c.id = t.conversation_id
    where t.organization_id = %(organization)s and t.id >= %(floor)s and c.project_id = %(project)s
        and c.metadata -> 'playground' is distinct from 'true'
)
select is_now, slot, count(ms) as replies,
    percentile_cont(array[0.5, 0.95]) within group (order by ms) filter (where ms is not null) as ms,
    avg(quality_score)::float8 as quality, count(quality_score) as scored
from spoken group by grouping sets ((is_now), (is_now, slot))
"""

CONVERSATIONS = """
select case when created_at >= %(since)s then true when created_at <= %(until)s then false end as is_now,
        date_trunc(%(slot)s, created_at at time zone %(timezone)s) as slot,
        count(*) as all,
    count(*) filter (where channel = any(%(calls)s)) as calls,
    count(*) filter (where channel = any(%(messengers)s)) as messengers
from conversations_conversation
where organization_id = %(organization)s and id >= %(floor)s and project_id = %(project)s
    and metadata -> 'playground' is distinct from 'true'
group by 1, 2
"""

TOTALS = {
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
}


@dataclass(frozen=True)
class Replies:
    """Replies of an hour, a day or a period. Times are in milliseconds; `quality` is 1 to 10, over `scored` turns."""

    count: int = 0
    median_ms: float | None = None
    p95_ms: float | None = None
    quality: float | None = None
    scored: int = 0


@dataclass(frozen=True)
class Volume:
    """Conversations that began in an hour, a day or a period."""

    all: int = 0
    calls: int = 0
    messengers: int = 0

    @property
    def chats(self) -> int:
        return self.all - self.calls - self.messengers


@dataclass(frozen=True)
class Totals:
    """Totals of a period. `cost` is in USD, or None when no model has a price; `test_cost` is that of tests."""

    replies: Replies
    conversations: int
    messages: int
    cost: Decimal | None
    test_cost: Decimal | None = None


@dataclass(frozen=True)
class Slot:
    """One hour of a single day, or one day of a longer period. What hasn't begun has no figures."""

    at: datetime
    volume: Volume | None
    replies: Replies | None


@dataclass(frozen=True)
class Figures:
    period: Period
    now: Totals
    before: Totals
    slots: list[Slot]
    promises: PromiseMetrics

    @property
    def is_empty(self) -> bool:
        """True if both periods have no messages."""
        return not (self.now.messages or self.before.messages)


def project_figures(project: Project, period: Period) -> Figures:
    """The project's figures. Call inside the tenant's transaction."""
    values = _values(project, period)
    turns, begun = _rows(TURNS, values), _rows(CONVERSATIONS, values)
    counts = {name: {row["is_now"]: row for row in _rows(sql, values)} for name, sql in TOTALS.items()}
    return Figures(
        period,
        now=_totals(counts, turns, begun, is_now=True),
        before=_totals(counts, turns, begun, is_now=False),
        slots=_slots(period, turns, begun),
        promises=promise_metrics(project, period=period),
    )


def slots_of(period: Period) -> list[datetime]:
    """The hours of a single day, or the days of a longer period, as local times."""
    first = period.since.replace(tzinfo=None)
    step, many = (timedelta(hours=1), HOURS) if period.is_one_day else (timedelta(days=1), period.length)
    return [first + number * step for number in range(many)]


def _values(project: Project, period: Period) -> dict[str, Any]:
    before = period.before
    return {
        "organization": project.organization_id,
        "project": project.pk,
        "since": period.since,
        "before": before.since,
        "until": before.until,
        "floor": uuid7_floor(before.since),
        "timezone": period.timezone,
        "slot": "hour" if period.is_one_day else "day",
        "calls": ["phone", "webcall"],
        "messengers": ["sms", "whatsapp", "telegram", "email"],
    }


def _rows(sql: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    with reports_connection().cursor() as cursor:
        cursor.execute(sql, values)
        names = [column.name for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _slots(period: Period, turns: list[dict[str, Any]], begun: list[dict[str, Any]]) -> list[Slot]:
    replies = {row["slot"]: _replies(row) for row in turns if row["is_now"] and row["slot"]}
    volumes = {row["slot"]: _volume(row) for row in begun if row["is_now"]}
    now = period.until.replace(tzinfo=None)
    return [
        Slot(at, volumes.get(at, Volume()), replies.get(at, Replies())) if at <= now else Slot(at, None, None)
        for at in slots_of(period)
    ]


def _replies(row: dict[str, Any]) -> Replies:
    median_ms, p95_ms = row["ms"] or (None, None)
    return Replies(row["replies"], median_ms, p95_ms, quality=row["quality"], scored=row["scored"])


def _volume(row: dict[str, Any]) -> Volume:
    return Volume(all=row["all"], calls=row["calls"], messengers=row["messengers"])


def _totals(
    counts: dict[str, dict[bool, dict[str, Any]]],
    turns: list[dict[str, Any]],
    begun: list[dict[str, Any]],
    *,
    is_now: bool,
) -> Totals:
    found = [row for row in turns if row["is_now"] is is_now and row["slot"] is None]
    return Totals(
        replies=_replies(found[0]) if found else Replies(),
        conversations=sum(row["all"] for row in begun if row["is_now"] is is_now),
        messages=counts["messages"].get(is_now, {}).get("value") or 0,
        cost=counts["cost"].get(is_now, {}).get("value"),
        test_cost=counts["cost"].get(is_now, {}).get("tests"),
    )
