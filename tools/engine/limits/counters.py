"""The use of the limits of models and of storage, by a project and by its whole organization."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from uuid import UUID

from tenancy.postgresql.prepared import Prepared
from tenancy.scope import current_organization_id
from tools.engine.limits.catalogue import MB
from tools.models import Limit

# The use of a project, and that of its organization.
Use = Mapping[str, tuple[int, int]]

_DAY = Prepared("""
select floor(coalesce(sum(cost), 0)), coalesce(sum(input_tokens + output_tokens) filter (where cost is null), 0)
from jobs_modelcall
where organization_id = %s and project_id = %s and started_at > statement_timestamp() - interval '1 day'
  and (cost is null or cost > 0)
""")
_MONTH = Prepared("""
select floor(coalesce(sum(cost) filter (where project_id = %s), 0)), floor(coalesce(sum(cost), 0)),
    coalesce(sum(unpriced_tokens) filter (where project_id = %s), 0)::bigint,
    coalesce(sum(unpriced_tokens), 0)::bigint
from (
    select p.id as project_id, u.cost, u.unpriced_tokens
    from projects_project p join jobs_modelusage u on u.organization_id = p.organization_id and u.project_id = p.id
    where p.organization_id = %s and u.day >= date_trunc('month', statement_timestamp() at time zone 'utc')::date
) of_month
""")
_STORED = Prepared("""
select coalesce(sum(bytes) filter (where project_id = %s), 0)::bigint, coalesce(sum(bytes), 0)::bigint
from projects_storedbytes where organization_id = %s
""")


def read_day(project_id: UUID) -> Mapping[str, int]:
    """The whole USD and the unpriced tokens of the project's calls within a day."""
    [(cost, tokens)] = _DAY(current_organization_id(), project_id)
    return {Limit.MODEL_COST: int(cost), Limit.MODEL_TOKENS: int(tokens)}


def read_month(project_id: UUID) -> Use:
    """The whole USD and the unpriced tokens of the calls of this month, in UTC."""
    [(cost, cost_of_all, tokens, tokens_of_all)] = _MONTH(project_id, project_id, current_organization_id())
    return {Limit.MONTH_COST: (int(cost), int(cost_of_all)), Limit.MONTH_TOKENS: (int(tokens), int(tokens_of_all))}


def read_storage(project_id: UUID) -> Use:
    """The whole MB that are stored."""
    own, all = read_stored_bytes(project_id)
    return {Limit.STORAGE: (own // MB, all // MB)}


def read_stored_bytes(project_id: UUID) -> tuple[int, int]:
    """The bytes that are stored, by the project and by its organization."""
    [(own, all)] = _STORED(project_id, current_organization_id())
    return int(own), int(all)


def read_use(project_id: UUID, limits: Collection[str]) -> Use:
    """The use of those of these limits that are among `limits`. Nothing is read for others."""
    use: dict[str, tuple[int, int]] = {}
    if Limit.MONTH_COST in limits or Limit.MONTH_TOKENS in limits:
        use |= read_month(project_id)
    if Limit.STORAGE in limits:
        use |= read_storage(project_id)
    return use
