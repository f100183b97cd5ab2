"""The use of a project's limits, for the page that shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q
from django.db.models.functions import Now

from projects.models import Project
from projects.records.attributes import Resolved, resolve_attributes
from tools.engine.execution.deduplication import EXECUTED_STATES
from tools.engine.limit_alerts import DAY, UNITS, VISITORS, todays_alerts
from tools.engine.model_budget import read_budget, read_spent
from tools.engine.policy import POLICIES, VISITOR_WINDOW, policy_with
from tools.models import Effect, LimitAlert


@dataclass(frozen=True)
class Usage:
    """A limit: how much of `most` is used, what staff has added to it today, and the alert that can be lifted."""

    limit: str
    used: int
    most: int
    added: int
    alert: LimitAlert | None


def usage_of(project: Project) -> Sequence[Usage]:
    """The use of every limit, in the order of UNITS. Runs in the tenant's transaction."""
    used = {**_effects(project), **read_spent(project.pk)}
    attributes, alerts = resolve_attributes(project), list(todays_alerts(project.pk))
    most = {**dict(_limits(attributes)), **read_budget(attributes)}
    return [_usage(limit, used[limit], most[limit], alerts) for limit in UNITS]


def _usage(limit: str, used: int, most: int, alerts: Sequence[LimitAlert]) -> Usage:
    own = [alert for alert in alerts if alert.limit == limit]
    added = sum(alert.most for alert in own if alert.lifted_at is not None)
    reached = next((alert for alert in own if alert.is_reached and alert.lifted_at is None), None)
    return Usage(limit, used, most + added, added, reached)


def _effects(project: Project) -> Mapping[str, int]:
    """The effects that count, by limit."""
    kinds = [kind for kind, policy in POLICIES.items() if policy.max_per_project is not None]
    rows = Effect.objects.filter(
        project_id=project.pk, kind__in=kinds, state__in=EXECUTED_STATES, started_at__gt=Now() - DAY
    )
    by_visitors = Count("pk", filter=~Q(visitor="") & Q(started_at__gt=Now() - VISITOR_WINDOW))
    counts = dict.fromkeys(kinds, (0, 0))
    for kind, sent, visitors in rows.order_by().values_list("kind").annotate(sent=Count("pk"), visitors=by_visitors):
        counts[kind] = sent, visitors
    return {
        name: number
        for kind, (sent, visitors) in counts.items()
        for name, number in ((kind, sent), (f"{kind}_{VISITORS}", visitors))
    }


def _limits(attributes: Mapping[str, Resolved]) -> Iterator[tuple[str, int]]:
    for kind in POLICIES:
        policy = policy_with(kind, attributes)
        if policy.max_per_project is not None:
            yield kind, policy.max_per_project
        if policy.max_from_visitors is not None:
            yield f"{kind}_{VISITORS}", policy.max_from_visitors
