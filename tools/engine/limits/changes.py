"""Setting the limits of a project and of its organization."""

from __future__ import annotations

from typing import cast
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext

from projects.common.api_error import Unprocessable
from projects.models import AuditAction, Project, User
from projects.records.attributes import resolve_attributes, set_attribute, unset_attribute
from projects.records.audit import record_change
from tools.engine.limits.catalogue import RULES, amount_of, limit_of
from tools.engine.limits.model_budget import forget_checks
from tools.engine.limits.organization import read_organization_limits
from tools.engine.limits.quotas import forget_quotas
from tools.engine.policy import HIGHEST_LIMIT
from tools.models import OrganizationLimit

# The words between the actor and the limit, in the audit log.
OWN, SHARED = "the limit of the project", "the limit of the organization"


def set_project_limit(project: Project, limit: str, most: int | None, *, by: User | None, actor: str = "") -> None:
    """Set a limit of a project; with None, the default holds again. Raises Unprocessable.

    If `by` is None, the actor is the API key named by `actor`.
    """
    _check(most)
    before = limit_of(limit, resolve_attributes(project))
    if most is None:
        unset_attribute(project, RULES[limit].setting)
    else:
        set_attribute(project, RULES[limit].setting, most)
    after = limit_of(limit, resolve_attributes(project))
    if after != before:
        _record(project, OWN, limit, before, after, by=by, actor=actor)


def set_organization_limit(project: Project, limit: str, most: int | None, *, by: User | None, actor: str = "") -> None:
    """Set a limit of the organization that a project belongs to, or remove it with None. Raises Unprocessable.

    If `by` is None, the actor is the API key named by `actor`.
    """
    _check(most)
    highest = read_organization_limits().by_operator.get(limit)
    if most is not None and highest is not None and most > highest:
        sentence = gettext("The server administrator allows at most %(amount)s. Enter %(most)s or less.") % {
            "amount": amount_of(limit, highest),
            "most": f"{highest:,}",
        }
        raise Unprocessable("above_the_operators_limit", sentence, field="most")
    row = OrganizationLimit.objects.select_for_update().filter(limit=limit).first()
    before = row.most if row else None
    if most is None:
        OrganizationLimit.objects.filter(limit=limit).delete()
    else:
        OrganizationLimit.objects.update_or_create(limit=limit, defaults={"most": most, "set_by": by})
    if most != before:
        _record(project, SHARED, limit, before, most, by=by, actor=actor)


def _check(most: int | None) -> None:
    if most is not None and not 0 <= most <= HIGHEST_LIMIT:
        sentence = gettext("A limit is a whole number from 0 to %(highest_limit)s, not %(most)s. 0 allows nothing.") % {
            "highest_limit": format(HIGHEST_LIMIT, ","),
            "most": format(most, ","),
        }
        raise Unprocessable("invalid_limit", sentence, field="most")


def _record(
    project: Project,
    whose: str,
    limit: str,
    before: int | None,
    after: int | None,
    *,
    by: User | None,
    actor: str = "",
) -> None:
    record_change(
        AuditAction.LIMIT_CHANGED,
        organization_id=cast(UUID, project.organization_id),
        by=by,
        actor=actor,
        subject=f"{whose}: {'none' if after is None else amount_of(limit, after)}",
        project=project if whose == OWN else None,
        before={"limit": limit, "most": before},
        after={"limit": limit, "most": after},
    )
    transaction.on_commit(forget)


def forget() -> None:
    """Let this process see the change at once. Others do within seconds."""
    forget_quotas()
    forget_checks()
