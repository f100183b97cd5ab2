"""The daily budget of a project's model calls: money where the model has a price, otherwise tokens.

The replies of a project over its budget are refused. What earlier replies set off still runs, because promises have to
be detected and kept.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from uuid import UUID

from projects.models import Project
from projects.models.attribute_catalogue import MODEL_COST_LIMIT, MODEL_TOKEN_LIMIT
from projects.records.attributes import Resolved, resolve_attributes
from tenancy.postgresql.prepared import Prepared
from tenancy.scope import current_organization_id
from tools.engine.limit_alerts import UNITS, has_room
from tools.models import Limit

SPENT = "The model budget is spent:"
MOST_USD, MOST_TOKENS = 100, 50_000_000
SETTINGS: Mapping[str, tuple[str, int]] = {
    Limit.MODEL_COST: (MODEL_COST_LIMIT, MOST_USD),
    Limit.MODEL_TOKENS: (MODEL_TOKEN_LIMIT, MOST_TOKENS),
}
# A project within its budget isn't checked again for this long by the same process.
CHECKED_SECONDS = 5.0
MOST_KEPT = 10_000

_SPENT = Prepared("""
select floor(coalesce(sum(cost), 0)), coalesce(sum(input_tokens + output_tokens) filter (where cost is null), 0)
from jobs_modelcall
where organization_id = %s and project_id = %s and started_at > statement_timestamp() - interval '1 day'
  and (cost is null or cost > 0)
""")
_checked_at: dict[UUID, float] = {}


def is_checked(project_id: UUID) -> bool:
    """True if the project was within its budget a moment ago."""
    return time.monotonic() - _checked_at.get(project_id, -CHECKED_SECONDS) < CHECKED_SECONDS


def find_spent_budget(project: Project) -> str:
    """Return the budget that the project has spent, as a reason; "" if it may go on. Runs in the tenant's transaction.

    Stores alerts as for the limits of effects.
    """
    spent, limits = read_spent(project.pk), read_budget(resolve_attributes(project))
    for name, most in limits.items():
        if not has_room(project.pk, name, used=spent[name], most=most):
            return f"{SPENT} the limit of {most:,} {UNITS[name]} is reached. Staff can lift it under Limits."
    if len(_checked_at) >= MOST_KEPT:
        _checked_at.clear()
    _checked_at[project.pk] = time.monotonic()
    return ""


def read_spent(project_id: UUID) -> Mapping[str, int]:
    """The whole USD and the unpriced tokens of the project's calls within a day."""
    [(cost, tokens)] = _SPENT(current_organization_id(), project_id)
    return {Limit.MODEL_COST: int(cost), Limit.MODEL_TOKENS: int(tokens)}


def read_budget(attributes: Mapping[str, Resolved]) -> Mapping[str, int]:
    """The budget that the project has set, or the default."""
    own = {name: attributes[key].value for name, (key, _) in SETTINGS.items() if key in attributes}
    return {name: own[name] if isinstance(own.get(name), int) else most for name, (_, most) in SETTINGS.items()}
