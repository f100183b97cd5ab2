"""The promise page: kept rate, chart and list."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from console.access import enter, zone_of
from console.dashboard.charts import Chart, Series, stacked
from console.effects.unknown_outcomes import open_questions
from console.layout import shell_context
from console.parameters import parse_uuid
from console.promises.figures import NOT_SENT_STATE, STATES, UNOWNED, promises_of
from console.promises.metrics import PromiseCounts, PromiseMetrics, promise_metrics
from console.promises.rows import list_promises
from conversations.models import Channel
from jobs.errors import WrongState
from projects.models import Project, User
from projects.models.key import Scope
from tenancy.scope import tenant_tx
from tools.engine.promise_answers import ANSWERS
from tools.models import Promise, PromiseState

PERIODS = (7, 30, 90)
USUAL = 30
# Dates that fit on the axis.
MOST_LABELS = 6
# Value of the parameter `of` that shows test conversations instead of customers.
TESTS = "tests"
TAB_LABELS = {NOT_SENT_STATE: "Not sent", UNOWNED: "Needs an owner"}
CONFIRMATIONS = {PromiseState.KEPT: "Marked as kept.", PromiseState.WITHDRAWN: "Withdrawn."}


@dataclass(frozen=True)
class ListQuery:
    """Period and filters from the query string; an empty value means no filter."""

    days: int
    state: str
    tool: str
    channel: str
    before: UUID | None
    tests: bool = False

    def address(self, **changes: Any) -> str:
        """Query string with changes applied; empty values are left out."""
        days = "" if self.days == USUAL else self.days
        known = {"days": days, "state": self.state, "tool": self.tool, "channel": self.channel}
        known["of"] = TESTS if self.tests else ""
        return "?" + urlencode({name: value for name, value in (known | changes).items() if value})


@dataclass(frozen=True)
class Tab:
    label: str
    count: int
    address: str
    is_open: bool


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def promises(request: HttpRequest, project_slug: str) -> HttpResponse:
    """Promises with their metrics. POST marks a promise as kept or withdraws it."""
    is_post = request.method == "POST"
    entry = enter(request, project_slug, verb=Scope.OPERATE if is_post else Scope.READ)
    with tenant_tx(entry.project.organization.pk):
        if is_post:
            _answer(request, entry.project)
        else:
            shown = _shown(entry.project, parse_query(request.GET), zone=zone_of(entry), now=timezone.now())
    if is_post:
        return redirect(f"{request.path}?{request.GET.urlencode()}" if request.GET else request.path)
    return render(request, "promises/promises.html", {**shell_context(request, entry), **shown})


def _answer(request: HttpRequest, project: Project) -> None:
    given = request.POST.get("answer", "")
    if given not in ANSWERS:
        raise Http404
    answer = PromiseState(given)
    try:
        ANSWERS[answer](project, UUID(request.POST.get("promise", "")), by=cast(User, request.user).name)
    except (ValueError, Promise.DoesNotExist) as error:
        raise Http404 from error
    except WrongState as error:
        messages.error(request, str(error))
    else:
        messages.success(request, CONFIRMATIONS[answer])


def _shown(project: Project, query: ListQuery, *, zone: str, now: datetime) -> dict[str, Any]:
    metrics = promise_metrics(project, days=query.days, now=now, timezone=zone, tests=query.tests)
    listed = list_promises(
        project,
        since=metrics.days[0],
        zone=zone,
        now=now,
        state=query.state,
        tool=query.tool,
        channel=query.channel,
        before=query.before,
        tests=query.tests,
    )
    return {
        "query": query,
        "now": metrics.now,
        "rate": _rate(metrics.now.kept_rate),
        "on_time": _rate(metrics.now.on_time_rate),
        "change": change_of(metrics),
        "chart": chart_of(metrics),
        "tabs": _tabs(query, metrics.now),
        "periods": [(days, query.address(days="" if days == USUAL else days), days == query.days) for days in PERIODS],
        "tools": _tools_of(project),
        "channels": Channel.choices,
        "days": listed.days,
        "next": query.address(before=listed.next) if listed.next else "",
        "is_first": query.before is None,
        "is_narrowed": _is_narrowed(query),
        "has_any": metrics.now.made > 0 or query.tests or promises_of(project).exists(),
        "has_tests": query.tests or promises_of(project, tests=True).exists(),
        "wider": query.address(**({"state": "", "tool": "", "channel": ""} if _is_narrowed(query) else {"days": 90})),
        "switch": query.address(of="" if query.tests else TESTS, state="", tool="", channel=""),
        **open_questions(project, zone=zone),
    }


def parse_query(parameters: QueryDict) -> ListQuery:
    days, state, channel = parameters.get("days", ""), parameters.get("state", ""), parameters.get("channel", "")
    return ListQuery(
        days=int(days) if days in {str(period) for period in PERIODS} else USUAL,
        state=state if state in STATES else "",
        tool=parameters.get("tool", "").replace("\x00", "")[:120],
        channel=channel if channel in Channel else "",
        before=parse_uuid(parameters.get("before", "")),
        tests=parameters.get("of") == TESTS,
    )


def _is_narrowed(query: ListQuery) -> bool:
    return bool(query.state or query.tool or query.channel)


def _tabs(query: ListQuery, counts: PromiseCounts) -> list[Tab]:
    numbers = {"": counts.made, **{state: getattr(counts, state) for state in STATES}}
    numbers["kept"] += counts.late
    return [
        Tab(TAB_LABELS.get(state, state.capitalize() or "All"), count, query.address(state=state), state == query.state)
        for state, count in numbers.items()
    ]


def _tools_of(project: Project) -> list[str]:
    rows = Promise.objects.filter(project_id=project.pk).exclude(tool="")
    return list(rows.order_by("tool").values_list("tool", flat=True).distinct())


def _rate(rate: float | None) -> str:
    """A rate with one decimal; shows 100 only if there is no exception."""
    if rate is None:
        return "–"
    return "100" if rate == 100 else f"{min(rate, 99.9):.1f}"


def change_of(metrics: PromiseMetrics) -> str:
    """A sentence that compares the kept rate with the period before; empty if either is unknown."""
    now, before = metrics.now.kept_rate, metrics.before.kept_rate
    if now is None or before is None:
        return ""
    if abs(now - before) < 0.05:
        return f"Same as the previous {len(metrics.days)} days."
    return f"{'Up' if now > before else 'Down'} from {before:.1f} % in the previous {len(metrics.days)} days."


def chart_of(metrics: PromiseMetrics) -> Chart:
    """Stacked chart of promises by day and outcome."""
    counts = [metrics.by_day.get(day, PromiseCounts()) for day in metrics.days]
    series = [
        Series("kept", "c-okl", [day.kept + day.late for day in counts]),
        Series("open", "c-soft", [day.open for day in counts]),
        Series("broken", "c-bad", [day.broken for day in counts]),
        Series("not sent", "c-warn", [day.not_sent for day in counts]),
        Series("withdrawn", "c-mute", [day.withdrawn for day in counts]),
    ]
    names = [f"{day.day} {day:%b}" for day in metrics.days]
    chart = stacked(series, labels=names, height=190, unit="", summary=_summary(metrics))
    return replace(chart, labels=_spaced(chart))


def _spaced(chart: Chart) -> list[Any]:
    """Evenly spaced labels, including today's."""
    step = -(-len(chart.labels) // MOST_LABELS)
    return chart.labels[::-1][::step][::-1]


def _summary(metrics: PromiseMetrics) -> str:
    now = metrics.now
    if not now.made:
        return f"No promises in the last {len(metrics.days)} days."
    broke = [f"{day.day} {day:%B}" for day in metrics.days if metrics.by_day.get(day, PromiseCounts()).broken]
    parts = f"{now.kept + now.late} kept, {now.open} open, {now.broken} broken, "
    parts += f"{now.not_sent} not sent, {now.withdrawn} withdrawn"
    where = f" Some broke on {', '.join(broke[-5:])}." if broke else ""
    return f"Promises by day over {len(metrics.days)} days: {parts}.{where}"
