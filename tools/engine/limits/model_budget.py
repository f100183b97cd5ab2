"""The budgets of model calls: of a project for a day, and of a project and its organization for a month.

Money counts where the model has a price, otherwise tokens. At a limit the agent stops. Work that people asked for, or
that keeps the agent's promises, may use a reserve beyond it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from jobs.errors import GiveUp
from projects.common.api_error import Conflict
from projects.models import Project
from projects.records.attributes import resolve_attributes
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.limits.alerts import has_room
from tools.engine.limits.catalogue import amount_of, limit_of
from tools.engine.limits.counters import read_day, read_use
from tools.engine.limits.organization import SetBy, read_organization_limits
from tools.models import Limit

SPENT, FULL = "The model budget is spent:", "The storage is full:"
# The reserve of staff and todos, in percent of a limit.
RESERVE_PERCENT = 10
# A project within its budget isn't checked again for this long by the same process.
CHECKED_SECONDS = 5.0
MOST_KEPT = 10_000
MONTHLY = (Limit.MONTH_COST, Limit.MONTH_TOKENS)
_checked_at: dict[tuple[UUID, Share], float] = {}


class Share(StrEnum):
    """The part of a budget that work may use."""

    AGENT = "agent"
    RESERVE = "reserve"


@dataclass(frozen=True)
class Budget:
    """A limit, how much of it is used, and the end of the sentence that says that it is reached."""

    limit: str
    used: int
    most: int
    advice: str
    of_organization: bool = False


def is_checked(project_id: UUID, share: Share = Share.AGENT) -> bool:
    """True if the project was within its budget a moment ago."""
    return time.monotonic() - _checked_at.get((project_id, share), -CHECKED_SECONDS) < CHECKED_SECONDS


def forget_checks() -> None:
    """Check every project again at its next call, because a limit was changed."""
    _checked_at.clear()


async def require_budget(
    organization_id: UUID, project_id: UUID, share: Share, *, otherwise: type[Exception] = GiveUp
) -> None:
    """Raise `otherwise` with the reason if the project has spent its budget. No transaction may be open."""
    if not is_checked(project_id, share) and (reason := await in_db(_find, organization_id, project_id, share)):
        raise otherwise(reason)


def refuse_if_spent(project: Project) -> None:
    """Raise Conflict if the project has spent its budget with the reserve, before staff's own model call. Runs in the
    tenant's transaction.
    """
    if reason := find_spent_budget(project, Share.RESERVE):
        raise Conflict(reason, code="model_budget_spent")


def find_spent_budget(project: Project, share: Share = Share.AGENT) -> str:
    """Return the budget that the project has spent, as a reason; "" if it may go on. Runs in the tenant's transaction.

    Stores alerts as for the limits of effects.
    """
    for budget in _budgets(project):
        if budget.limit == Limit.STORAGE and share is Share.RESERVE:
            continue
        room = has_room(
            project.pk,
            budget.limit,
            used=budget.used,
            most=budget.most,
            of_organization=budget.of_organization,
            reserve_percent=RESERVE_PERCENT if share is Share.RESERVE else 0,
        )
        if not room:
            return _reason(budget)
    _note(project.pk, share)
    return ""


def is_budget_reason(reason: str) -> bool:
    """True for a reason of this module."""
    return reason.startswith((SPENT, FULL))


def _find(organization_id: UUID, project_id: UUID, share: Share) -> str:
    with tenant_tx(organization_id):
        return find_spent_budget(Project.objects.get(pk=project_id), share)


def _budgets(project: Project) -> Iterator[Budget]:
    """The budgets that are set, and their use."""
    attributes, organization = resolve_attributes(project), read_organization_limits()
    for limit, used in read_day(project.pk).items():
        yield Budget(limit, used, limit_of(limit, attributes) or 0, "Staff can lift it under Limits.")
    own = {limit: most for limit in (*MONTHLY, Limit.STORAGE) if (most := limit_of(limit, attributes)) is not None}
    use = read_use(project.pk, {*own, *organization})
    for limit, most in own.items():
        yield Budget(limit, use[limit][0], most, "Raise it under Limits.")
    for limit in (*MONTHLY, Limit.STORAGE):
        if (ceiling := organization.find(limit)) is not None:
            yield Budget(limit, use[limit][1], ceiling.most, ADVICE[ceiling.set_by], of_organization=True)


ADVICE = {
    SetBy.ORGANIZATION: "An owner can raise it under Limits.",
    SetBy.OPERATOR: "Only the server administrator can raise it.",
}


def _reason(budget: Budget) -> str:
    start = FULL if budget.limit == Limit.STORAGE else SPENT
    whose = "the organization’s" if budget.of_organization else "the"
    return f"{start} {whose} limit of {amount_of(budget.limit, budget.most)} is reached. {budget.advice}"


def _note(project_id: UUID, share: Share) -> None:
    """Remember that the project was within its budget. If the agent may go on, so may everybody."""
    if len(_checked_at) >= MOST_KEPT:
        _checked_at.clear()
    for one in Share if share is Share.AGENT else (share,):
        _checked_at[project_id, one] = time.monotonic()
