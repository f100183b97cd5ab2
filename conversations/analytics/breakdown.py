"""Figures of a period by channel, topic, tool and hour of the day."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from django.db.models import BooleanField, Case, Q, Value, When

from conversations.analytics.outcomes import NONE, NUMBER, OUTCOMES, RATINGS, begun_in, with_hour, with_topic
from conversations.analytics.period import Period
from conversations.models import IS_TEST, Channel, Conversation
from projects.models import AgentVersion, Project
from tenancy.ids import uuid7_floor
from tenancy.replica import reports_connection

# Topics and tools that are listed.
MOST_ROWS = 20
HOURS = 24

CONVERSATIONS = """
with talk (id, channel, hour, topic, resolved, handed_over, unanswered, rated, satisfied) as materialized ({talk})
select channel, hour, topic, count(*) as conversations, count(*) filter (where resolved) as resolved,
    count(*) filter (where handed_over) as handed_over, count(*) filter (where unanswered) as unanswered,
    count(*) filter (where rated) as rated, count(*) filter (where satisfied) as satisfied
from talk group by 1, 2, 3
"""
TOOLS = """
with talk (id, channel, hour, topic, resolved, handed_over, unanswered, rated, satisfied) as materialized ({talk}), used as (
    select conversation_id, tool, count(*) as actions from tools_effect
    where organization_id = %s and project_id = %s and created_at >= %s group by 1, 2
)
select used.tool, sum(used.actions)::int as actions, count(*) as conversations,
    count(*) filter (where resolved) as resolved, count(*) filter (where handed_over) as handed_over,
    count(*) filter (where unanswered) as unanswered, count(*) filter (where rated) as rated,
    count(*) filter (where satisfied) as satisfied
from used join talk on talk.id = used.conversation_id group by 1
"""
# Promises of one effect count once: a repeated promise shares the effect of the first.
PROMISES = """
select c.channel, extract(hour from p.created_at at time zone %(timezone)s)::int as hour,
    lower(trim(regexp_replace(d.document ->> 'scenario', %(number)s, ''))) as topic, p.tool,
    case when p.evidence = 'outbox' then 'not_sent' else p.state end as outcome,
    count(distinct coalesce(p.effect_id, p.id)) as promises
from tools_promise p
join conversations_conversation c on c.organization_id = p.organization_id and c.id = p.conversation_id
left join conversations_directives d on d.organization_id = c.organization_id and d.id = c.directives_id
where p.organization_id = %(organization)s and p.project_id = %(project)s and p.id >= %(floor)s
    and p.created_at >= %(since)s and p.created_at < %(until)s
    and c.metadata -> 'playground' is distinct from 'true'
group by 1, 2, 3, 4, 5
"""
# Calls of no conversation, such as the check of a model, are in the total only.
COSTS = """
with spent as (
    select coalesce(t.conversation_id, m.subject_id) as talk,
        extract(hour from m.started_at at time zone %(timezone)s)::int as hour, sum(m.cost) as cost
    from jobs_modelcall m
    left join conversations_turn t on t.organization_id = m.organization_id and t.id = m.turn_id
    where m.organization_id = %(organization)s and m.project_id = %(project)s and m.id >= %(floor)s
        and m.started_at >= %(since)s and m.started_at < %(until)s and m.cost is not null
    group by 1, 2
)
select c.channel, spent.hour, lower(trim(regexp_replace(d.document ->> 'scenario', %(number)s, ''))) as topic,
    sum(spent.cost) as cost
from spent
left join conversations_conversation c on c.organization_id = %(organization)s and c.id = spent.talk
left join conversations_directives d on d.organization_id = c.organization_id and d.id = c.directives_id
where c.metadata -> 'playground' is distinct from 'true'
group by 1, 2, 3
"""
PROMISE_OUTCOMES = ("kept", "open", "broken", "not_sent", "withdrawn")


@dataclass(frozen=True)
class Row:
    """The figures of one channel, topic, tool or hour, or of all. `key` is its value as a filter.

    `cost` is in USD, or None if no model has a price; tools have none. `actions` are those of a tool.
    """

    key: str = ""
    label: str = ""
    conversations: int = 0
    resolved: int = 0
    handed_over: int = 0
    unanswered: int = 0
    rated: int = 0
    satisfied: int = 0
    actions: int = 0
    promises: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(PROMISE_OUTCOMES, 0))
    cost: Decimal | None = None

    @property
    def kept_rate(self) -> float | None:
        """Percentage of kept and broken promises that were kept. None if there are none."""
        over = self.promises["kept"] + self.promises["broken"]
        return 100 * self.promises["kept"] / over if over else None

    @property
    def satisfaction(self) -> float | None:
        """Percentage of ratings that are good. None if there are none."""
        return 100 * self.satisfied / self.rated if self.rated else None

    @property
    def made(self) -> int:
        """The promises of every outcome."""
        return sum(self.promises.values())


@dataclass(frozen=True)
class Breakdown:
    """The figures of a period, in total and by dimension. Dimensions without rows are empty, `hours` has all 24."""

    period: Period
    total: Row
    channels: list[Row]
    topics: list[Row]
    tools: list[Row]
    hours: list[Row]


def break_down(project: Project, period: Period) -> Breakdown:
    """The project's figures. Call inside the tenant's transaction."""
    talk, values = _talk_sql(project, period)
    cells = [
        *_rows(CONVERSATIONS.format(talk=talk), values),
        *_rows(PROMISES, _values(project, period)),
        *_rows(COSTS, _values(project, period)),
    ]
    channels = dict(Channel.choices)
    titles = {NONE: "No topic", **_titles(project)}
    hours = {row.key: row for row in _grouped(cells, "hour", lambda hour: f"{int(hour):02d}:00")}
    used = _rows(TOOLS.format(talk=talk), [*values, project.organization_id, project.pk, period.since])
    promised = [cell for cell in cells if cell.get("tool")]
    return Breakdown(
        period=period,
        total=_sum(cells),
        channels=_grouped(cells, "channel", lambda key: str(channels.get(key, key))),
        topics=_listed(_grouped(cells, "topic", lambda key: titles.get(key, key.capitalize()))),
        tools=_listed(_grouped([*used, *promised], "tool", str)),
        hours=[hours.get(str(hour)) or Row(str(hour), f"{hour:02d}:00") for hour in range(HOURS)],
    )


def _titles(project: Project) -> Mapping[str, str]:
    """The scenarios' titles as written in the settings, by their lower case."""
    version: AgentVersion | None = project.agent_version
    return {one.title.strip().lower(): one.title for one in version.config.scenarios} if version else {}


def _talk_sql(project: Project, period: Period) -> tuple[str, list[Any]]:
    """The conversations that began in the period, one row each, with their outcomes."""
    rows = begun_in(Conversation.objects.filter(project=project), period).exclude(
        pk__in=Conversation.objects.filter(IS_TEST, project=project).values("pk")
    )
    conditions = {
        **{name: condition() for name, condition in OUTCOMES.items()},
        "rated": RATINGS["any"],
        "satisfied": RATINGS["good"],
    }
    outcomes = {f"is_{name}": _flag(condition) for name, condition in conditions.items()}
    found = with_topic(with_hour(rows, period.timezone)).annotate(**outcomes).order_by()
    sql, values = found.values_list("pk", "channel", "hour", "topic", *outcomes).query.sql_with_params()
    return sql, list(values)


def _flag(condition: Q) -> Case:
    return Case(When(condition, then=Value(True)), default=Value(False), output_field=BooleanField())


def _values(project: Project, period: Period) -> dict[str, Any]:
    return {
        "organization": project.organization_id,
        "project": project.pk,
        "since": period.since,
        "until": period.until,
        "floor": uuid7_floor(period.since),
        "timezone": period.timezone,
        "number": NUMBER,
    }


def _rows(sql: str, values: Any) -> list[dict[str, Any]]:
    with reports_connection().cursor() as cursor:
        cursor.execute(sql, values)
        names = [column.name for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _grouped(cells: Iterable[Mapping[str, Any]], dimension: str, label: Callable[[str], str]) -> list[Row]:
    """The cells summed up by a dimension, the most conversations first. Cells without a value are left out."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for cell in cells:
        if (key := _key(cell, dimension)) is not None:
            groups.setdefault(key, []).append(cell)
    rows = [replace(_sum(some), key=key, label=label(key)) for key, some in groups.items()]
    return sorted(rows, key=lambda row: (-row.conversations, -row.made, row.label))


def _key(cell: Mapping[str, Any], dimension: str) -> str | None:
    """The cell's value of a dimension. A conversation may have no topic yet."""
    value = cell.get(dimension)
    if dimension == "topic" and not value and cell.get("channel"):
        return NONE
    return None if value in (None, "") else str(value)


def _listed(rows: list[Row]) -> list[Row]:
    return rows[:MOST_ROWS]


def _sum(cells: Iterable[Mapping[str, Any]]) -> Row:
    found = list(cells)
    costs = list(_known(found, "cost"))
    promises = {
        outcome: sum(cell["promises"] for cell in found if cell.get("outcome") == outcome)
        for outcome in PROMISE_OUTCOMES
    }
    names = ("conversations", "resolved", "handed_over", "unanswered", "rated", "satisfied", "actions")
    counts = {name: sum(_known(found, name)) for name in names}
    return Row(**counts, promises=promises, cost=sum(costs, Decimal()) if costs else None)


def _known(cells: Iterable[Mapping[str, Any]], name: str) -> Iterator[Any]:
    return (cell[name] for cell in cells if cell.get(name) is not None)
