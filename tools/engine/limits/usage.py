"""The use of the limits of a project and its organization, and the alerts about them that still hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, DurationField, Q, QuerySet, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, Now, TruncMonth
from django.utils.translation import gettext

from projects.api.throttling import tokens_taken
from projects.models import Project
from projects.records.attributes import Resolved, resolve_attributes
from tenancy.prepared_queries import PreparedQuery, PreparedValues
from tools.engine.execution.deduplication import EXECUTED_STATES
from tools.engine.hooks import count_open_conversations
from tools.engine.limits.buckets import buckets_of
from tools.engine.limits.catalogue import RULES, Window, amount_of, limit_of
from tools.engine.limits.counters import Use, read_day, read_use
from tools.engine.limits.organization import Ceiling, SetBy, read_organization_limits
from tools.engine.policy import POLICIES, VISITOR_WINDOW
from tools.models import OF_ORGANIZATIONS, Effect, Limit, LimitAlert

DAY = timedelta(days=1)
VISITORS = "visitors"
# Alerts about these hold until the month ends, or until the use or the limit changes.
LASTING = [limit for limit, rule in RULES.items() if rule.window is Window.MONTH or limit == Limit.STORAGE]


@dataclass(frozen=True)
class Usage:
    """The use of a limit. `ceiling` is None while no limit is set.

    `added` is what staff has added today, and `alert` the one that says that the limit is reached.
    """

    limit: str
    used: int
    ceiling: Ceiling | None
    of_organization: bool = False
    added: int = 0
    alert: LimitAlert | None = None

    @property
    def most(self) -> int | None:
        """The limit with what was added."""
        return self.ceiling.most + self.added if self.ceiling else None

    @property
    def is_reached(self) -> bool:
        return self.most is not None and self.used >= self.most

    @property
    def is_near(self) -> bool:
        return self.most is not None and (self.is_reached or RULES[self.limit].is_near(self.used, self.most))


def usage_of(project: Project) -> list[Usage]:
    """The use of every limit of a project, then of those of its organization. Runs in the tenant's transaction."""
    alerts, use = _RECENT_ALERTS(project.pk), read_use(project.pk, OF_ORGANIZATIONS)
    found = (*_of_project(project, use), *_of_organization(project, use))
    return [_with_alerts(usage, alerts) for usage in found]


def recent_alerts(project_id: object, limit: str | None = None) -> QuerySet[LimitAlert]:
    """The alerts of a day, those that were lifted within a day, and lasting ones of this month; newest first."""
    yesterday = _ago(DAY)
    recent = Q(created_at__gt=yesterday) | Q(lifted_at__gt=yesterday)
    lasting = Q(limit__in=LASTING, created_at__gte=TruncMonth(Now(), tzinfo=UTC))
    rows = LimitAlert.objects.filter(recent | lasting, Q(project_id=project_id) | Q(of_organization=True))
    return rows.filter(**({"limit": limit} if limit else {})).order_by("-created_at")


def open_alerts(project: Project) -> Sequence[LimitAlert]:
    """The newest alert of each limit that still holds and wasn't lifted; reached limits first."""
    newest = {(alert.limit, alert.of_organization): alert for alert in reversed(_RECENT_ALERTS(project.pk))}
    alerts = [alert for alert in newest.values() if alert.lifted_at is None]
    if any(alert.limit in LASTING for alert in alerts):
        holding = {(one.limit, one.of_organization) for one in usage_of(project) if one.is_near}
        alerts = [one for one in alerts if one.limit not in LASTING or (one.limit, one.of_organization) in holding]
    return sorted(alerts, key=lambda alert: (alert.is_reached, alert.created_at), reverse=True)


_RECENT_ALERTS = PreparedQuery(recent_alerts, kinds=(UUID,))


def sentence_of(alert: LimitAlert) -> str:
    """The alert in one sentence."""
    words = {"amount": amount_of(alert.limit, alert.most), "used": f"{alert.used:,}"}
    if alert.is_reached and alert.of_organization:
        return gettext("The organization’s limit of %(amount)s was reached.") % words
    if alert.is_reached:
        return gettext("The limit of %(amount)s was reached.") % words
    if alert.of_organization:
        return gettext("The organization has used %(used)s of %(amount)s.") % words
    return gettext("%(used)s of %(amount)s used.") % words


def _with_alerts(usage: Usage, alerts: Sequence[LimitAlert]) -> Usage:
    own = [one for one in alerts if one.limit == usage.limit and one.of_organization is usage.of_organization]
    added = sum(alert.most for alert in own if alert.lifted_at is not None)
    reached = next((alert for alert in own if alert.is_reached and alert.lifted_at is None), None)
    if usage.limit in LASTING and not usage.is_reached:
        reached = None
    return Usage(usage.limit, usage.used, usage.ceiling, usage.of_organization, added, reached)


def _of_project(project: Project, use: Use) -> Iterator[Usage]:
    attributes = resolve_attributes(project)
    used = {
        **_effects(project),
        **read_day(project.pk),
        **{limit: own for limit, (own, _) in use.items()},
        Limit.OPEN: count_open_conversations(project.pk),
    }
    for limit, rule in RULES.items():
        most = limit_of(limit, attributes)
        ceiling = None if most is None else Ceiling(most, _set_by(rule.setting, attributes))
        taken = tokens_taken(buckets_of(project, own=most)) if limit == Limit.TURNS else used[limit]
        yield Usage(limit, taken, ceiling)


def _of_organization(project: Project, use: Use) -> Iterator[Usage]:
    limits = read_organization_limits()
    used = {limit: all for limit, (_, all) in use.items()}
    used[Limit.OPEN] = count_open_conversations(None)
    for limit in OF_ORGANIZATIONS:
        ceiling = limits.find(limit)
        most = ceiling.most if ceiling else None
        taken = tokens_taken(buckets_of(project, shared=most)) if limit == Limit.TURNS else used[limit]
        yield Usage(limit, taken, ceiling, of_organization=True)


def _set_by(setting: str, attributes: Mapping[str, Resolved]) -> SetBy:
    return SetBy.PROJECT if setting in attributes else SetBy.DEFAULT


def _effects(project: Project) -> Mapping[str, int]:
    """The effects that count, by limit."""
    counts = dict.fromkeys(_limited_kinds(), (0, 0))
    for kind, sent, visitors in _COUNTED(project.pk):
        counts[kind] = sent, visitors
    return {
        name: number
        for kind, (sent, visitors) in counts.items()
        for name, number in ((kind, sent), (f"{kind}_{VISITORS}", visitors))
    }


def _limited_kinds() -> list[str]:
    return [kind for kind, policy in POLICIES.items() if policy.max_per_project is not None]


def _counted(project_id: UUID) -> QuerySet[Effect, Any]:
    """The effects of a day by kind, and how many of an hour visitors caused."""
    rows = Effect.objects.filter(
        project_id=project_id, kind__in=_limited_kinds(), state__in=EXECUTED_STATES, started_at__gt=_ago(DAY)
    )
    by_visitors = Count("pk", filter=~Q(visitor="") & Q(started_at__gt=_ago(VISITOR_WINDOW)))
    return rows.order_by().values_list("kind").annotate(sent=Count("pk"), visitors=by_visitors)


def _ago(age: timedelta) -> Combinable:
    return Now() - Cast(Value(age), DurationField())


_COUNTED = PreparedValues(_counted, kinds=(UUID,))
