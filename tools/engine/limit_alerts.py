"""Alerts about a project's limits: half used, or reached. Staff lifts a reached limit for a day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import cast
from uuid import UUID

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from jobs.digest import Digest
from jobs.errors import WrongState
from projects.models import AuditAction, Project, User
from projects.models.key import Scope
from projects.models.permissions import VERBS
from projects.records.audit import record_change
from tenancy.postgresql.prepared import Prepared
from tools.models import Limit, LimitAlert, LimitNotice

LANE = "limit_notice"
DAY = timedelta(days=1)
VISITORS = "visitors"
# What each limit counts.
UNITS: Mapping[str, str] = {limit.value: str(limit.label) for limit in Limit}
# Concurrent transactions create one alert, not one each.
_LOCK = Prepared("select 1 from pg_advisory_xact_lock(hashtextextended(%s, 0))")


def has_room(project_id: UUID, limit: str, *, used: int, most: int) -> bool:
    """Return True if a limit isn't reached, counting what staff has added today. Runs in the tenant's transaction.

    Stores an alert once a day when the limit is reached, and when half of it is used.
    """
    warns = not limit.endswith(VISITORS)
    if used < most and not (warns and 2 * (used + 1) >= most):
        return True
    _LOCK(f"alerts:{project_id}:{limit}")
    today = list(todays_alerts(project_id).filter(limit=limit))
    is_reached = used >= most + sum(alert.most for alert in today if alert.lifted_at is not None)
    # A lifted limit that is reached again is a new alert; half of it is none.
    known = [alert for alert in today if alert.is_reached is is_reached and (alert.lifted_at is None or not is_reached)]
    if not known and (is_reached or not today):
        alert = LimitAlert.objects.create(
            project_id=project_id, limit=limit, is_reached=is_reached, used=used + (not is_reached), most=most
        )
        NOTICES.queue(project_id, cause=str(alert.pk))
    return not is_reached


def todays_alerts(project_id: UUID) -> QuerySet[LimitAlert]:
    """The alerts of a day, and those that were lifted within a day; newest first."""
    return LimitAlert.objects.filter(
        Q(created_at__gt=Now() - DAY) | Q(lifted_at__gt=Now() - DAY), project_id=project_id
    ).order_by("-created_at")


def open_alerts(project: Project) -> Sequence[LimitAlert]:
    """The newest alert of each limit within a day, unless it was lifted; reached limits first."""
    newest = {alert.limit: alert for alert in reversed(todays_alerts(project.pk))}
    alerts = [alert for alert in newest.values() if alert.lifted_at is None]
    return sorted(alerts, key=lambda alert: (alert.is_reached, alert.created_at), reverse=True)


def lift(alert: LimitAlert, *, by: User) -> None:
    """Add the limit once more for a day. Raises WrongState if somebody has lifted it already."""
    rows = LimitAlert.objects.filter(pk=alert.pk, is_reached=True, lifted_at=None)
    if rows.update(lifted_at=Now(), lifted_by=by) != 1:
        raise WrongState("This limit has already been lifted.")
    record_change(
        AuditAction.LIMIT_LIFTED,
        organization_id=cast(UUID, alert.organization_id),
        by=by,
        subject=f"the limit of {alert.most:,} {UNITS[alert.limit]}",
        project=alert.project,
        after={"limit": alert.limit, "added": alert.most},
    )


def sentence_of(alert: LimitAlert) -> str:
    """The alert in one sentence."""
    if alert.is_reached:
        return f"The limit of {alert.most:,} {UNITS[alert.limit]} was reached."
    return f"{alert.used:,} of at most {alert.most:,} {UNITS[alert.limit]}."


NOTICES = Digest(
    lane=LANE,
    notices=LimitNotice.objects,
    waiting=open_alerts,
    is_for=lambda alert, role: Scope.OPERATE in VERBS[role],
    since=lambda alert: alert.created_at,
    text=sentence_of,
    one="A limit needs your attention",
    many="{count} limits need your attention",
    note="What is over a limit isn’t sent until you raise or lift it.",
    page="agent/limits",
)
