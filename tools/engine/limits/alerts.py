"""Alerts about limits: nearly used up, or reached. Staff lifts a reached limit of a day for another day."""

from __future__ import annotations

from typing import cast
from uuid import UUID

from django.db.models.functions import Now
from django.utils.translation import gettext, ngettext

from jobs.errors import WrongState
from notices.digest import Digest
from notices.models import NoticeKind
from notices.services import notify
from projects.common.translation import lazy
from projects.models import AuditAction, User
from projects.models.key import Scope
from projects.models.permissions import VERBS
from projects.records.audit import record_change
from tenancy.postgresql.prepared import Prepared
from tenancy.scope import current_organization_id
from tools.engine.limits.catalogue import RULES, Window, amount_of
from tools.engine.limits.usage import open_alerts, recent_alerts, sentence_of
from tools.models import LimitAlert, LimitNotice

LANE = "limit_notice"
# Concurrent transactions create one alert, not one each.
_LOCK = Prepared("select 1 from pg_advisory_xact_lock(hashtextextended(%s, 0))")


def has_room(
    project_id: UUID, limit: str, *, used: int, most: int, of_organization: bool = False, reserve_percent: int = 0
) -> bool:
    """Return True if a limit isn't reached, counting what staff has added today. Runs in the tenant's transaction.

    Stores an alert when the limit is reached, and when it nearly is; of a day's limit once a day, of others once a
    month. With a reserve, the limit is exceeded by that part of it.
    """
    rule = RULES[limit]
    if used < most and not rule.is_near(used, most):
        return True
    _LOCK(f"alerts:{current_organization_id() if of_organization else project_id}:{limit}")
    known = [alert for alert in recent_alerts(project_id, limit) if alert.of_organization is of_organization]
    highest = most + sum(alert.most for alert in known if alert.lifted_at is not None)
    is_reached = used >= highest
    # A lifted limit that is reached again is a new alert; half of it is none.
    same = [alert for alert in known if alert.is_reached is is_reached and (alert.lifted_at is None or not is_reached)]
    if not any(alert.most == most for alert in same) and (is_reached or not any(alert.most == most for alert in known)):
        _raise(
            LimitAlert(
                project_id=project_id,
                limit=limit,
                of_organization=of_organization,
                is_reached=is_reached,
                # The message that is about to be sent counts, too.
                used=used + (rule.window is Window.DAY and not is_reached),
                most=most,
            )
        )
    return used < highest + highest * reserve_percent // 100


def lift(alert: LimitAlert, *, by: User | None, actor: str = "") -> None:
    """Add the limit once more for a day. Raises WrongState if somebody has lifted it already, or if it can't be lifted.

    If `by` is None, the actor is the API key named by `actor`.
    """
    if not RULES[alert.limit].can_be_lifted:
        raise WrongState(
            gettext("Only daily and ten-minute limits can be raised for a day. Change this one under Limits.")
        )
    rows = LimitAlert.objects.filter(pk=alert.pk, is_reached=True, lifted_at=None)
    if rows.update(lifted_at=Now(), lifted_by=by) != 1:
        raise WrongState(gettext("This limit has already been raised."))
    record_change(
        AuditAction.LIMIT_LIFTED,
        organization_id=cast(UUID, alert.organization_id),
        by=by,
        actor=actor,
        subject=f"the limit of {amount_of(alert.limit, alert.most)}",
        project=alert.project,
        after={"limit": alert.limit, "added": alert.most},
    )


def _raise(alert: LimitAlert) -> None:
    alert.save()
    NOTICES.queue(alert.project_id, cause=str(alert.pk))
    notify(alert.project_id, kind=NoticeKind.LIMIT, subject=alert.pk, text=sentence_of(alert))


NOTICES = Digest(
    lane=LANE,
    notices=LimitNotice.objects,
    waiting=open_alerts,
    is_for=lambda alert, member: Scope.OPERATE in VERBS[member.role],
    since=lambda alert: alert.created_at,
    text=sentence_of,
    headline=lambda count: (
        ngettext("%(count)s limit needs your attention", "%(count)s limits need your attention", count)
        % {"count": count}
    ),
    note=lazy("Nothing over a limit is done until you raise it."),
    page="agent/limits",
    kind=NoticeKind.LIMIT,
)
