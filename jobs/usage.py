"""The cost of model calls: sums by day or month, model and purpose. Days and months are those of UTC."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from functools import cache
from typing import Any
from uuid import UUID

from tenancy.postgresql.prepared import Prepared
from tenancy.scope import current_organization_id


class Part(StrEnum):
    """The columns that usage is divided by. A purpose is the skill of a call."""

    DAY = "day"
    MONTH = "month"
    PROJECT = "project"
    MODEL = "model"
    PURPOSE = "purpose"


_EXPRESSIONS = {
    Part.DAY: "day",
    Part.MONTH: "date_trunc('month', day)::date",
    Part.PROJECT: "project_id",
    Part.MODEL: "model",
    Part.PURPOSE: "skill",
}
_ROWS = """
select {parts} as calls, sum(input_tokens)::bigint, sum(cached_tokens)::bigint, sum(output_tokens)::bigint,
    sum(unpriced_tokens)::bigint, sum(cost) as cost
from jobs_modelusage
where organization_id = %s and day between %s and %s and (%s::uuid is null or project_id = %s::uuid)
group by {groups} order by {order}
"""


@dataclass(frozen=True, kw_only=True)
class Usage:
    """The calls of a part: a day or month, a project, a model, a purpose. What isn't divided by is None.

    `unpriced_tokens` are those of calls without a price, input and output; they are in the other numbers, too.
    """

    day: date | None = None
    month: date | None = None
    project: UUID | None = None
    model: str | None = None
    purpose: str | None = None
    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    unpriced_tokens: int = 0
    cost: Decimal = Decimal(0)


SUMS = ("calls", "input_tokens", "cached_tokens", "output_tokens", "unpriced_tokens", "cost")


def read_usage(since: date, until: date, *parts: Part, project_id: UUID | None = None) -> list[Usage]:
    """The usage from `since` to `until`, both included, of a project or of the whole organization, divided by parts.

    The newest period comes first, then the highest cost. Runs in the tenant's transaction.
    """
    rows = _statement(parts)(current_organization_id(), since, until, project_id, project_id)
    names = (*(part.value for part in parts), *SUMS)
    return [Usage(**dict(zip(names, row, strict=True))) for row in rows]


def total_of(rows: Sequence[Usage]) -> Usage:
    """The sum of rows."""
    sums: dict[str, Any] = {name: sum(getattr(row, name) for row in rows) for name in SUMS}
    return Usage(**{**sums, "cost": Decimal(sums["cost"])})


@cache
def _statement(parts: Sequence[Part]) -> Prepared:
    columns = "".join(f"{_EXPRESSIONS[part]}, " for part in parts)
    periods = [f"{number} desc" for number, part in enumerate(parts, 1) if part in (Part.DAY, Part.MONTH)]
    keys = [str(number) for number in range(1, len(parts) + 1)]
    order = [*periods, "sum(cost) desc", "sum(calls) desc", *keys]
    return Prepared(_ROWS.format(parts=f"{columns}sum(calls)::bigint", groups=", ".join(keys), order=", ".join(order)))
