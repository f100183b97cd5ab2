"""The promise page: kept rate, chart and list."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, cast
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from console.access import enter, zone_of
from console.dashboard.charts import Axis, Chart, Series, stacked
from console.effects.unknown_outcomes import open_questions
from console.inbox.query import CELL, parse_cell
from console.layout import shell_context
from console.parameters import parse_choice, parse_uuid, period_of
from console.promises.figures import NOT_SENT_STATE, STATES, UNOWNED, promises_of
from console.promises.metrics import PromiseCounts, PromiseMetrics, promise_metrics
from console.promises.rows import STATES as STATE_SIGNS
from console.promises.rows import list_promises
from console.timestamps import month_day, short_date, short_day
from conversations.analytics.outcomes import Slice
from conversations.analytics.period import Period
from conversations.models import Channel, Conversation
from jobs.errors import WrongState
from projects.common.translation import lazy
from projects.models import Project, User
from projects.models.key import Scope
from tenancy.prepared_queries import PreparedValues
from tenancy.scope import tenant_tx
from tools.engine.promise_answers import ANSWERS
from tools.engine.tool_words import tool_choices
from tools.models import Promise, PromiseState

PERIODS = (7, 30, 90)
USUAL = 30
# Value of the parameter `of` that shows test conversations instead of customers.
TESTS = "tests"
TAB_LABELS = {
    "": lazy("All"),
    **{state: word for state, (_, _, word) in STATE_SIGNS.items()},
    NOT_SENT_STATE: lazy("Not sent"),
    UNOWNED: lazy("Unassigned"),
}
CONFIRMATIONS = {PromiseState.KEPT: lazy("Marked as kept."), PromiseState.WITHDRAWN: lazy("Withdrawn.")}


@dataclass(frozen=True)
class ListQuery:
    """Period and filters from the query string; an empty value means no filter."""

    days: int
    state: str
    tool: str
    channel: str
    before: UUID | None
    tests: bool = False
    cell: Slice = field(default_factory=Slice)

    @property
    def is_chosen(self) -> bool:
        """True if the period is one of chosen days, rather than the last ones."""
        return bool(self.cell.since or self.cell.until)

    def period(self, now: datetime, *, timezone: str) -> Period:
        """The chosen days: those of the address, or the last ones. Raises UnknownFilter."""
        return period_of(replace(self.cell, timezone=timezone), days=self.days, now=now)

    def conversations(self, project: Project) -> QuerySet[Conversation] | None:
        """The conversations of the chosen channel and topic; None for all."""
        if not (self.channel or self.cell.topic):
            return None
        rows = Conversation.objects.filter(project=project, **({"channel": self.channel} if self.channel else {}))
        return Slice(topic=self.cell.topic).narrow(rows).order_by()

    def address(self, **changes: Any) -> str:
        """Query string with changes applied; empty values are left out."""
        days = "" if self.days == USUAL else self.days
        known = {"days": days, "state": self.state, "tool": self.tool, "channel": self.channel}
        known |= {name: getattr(self.cell, name) for name in ("since", "until", "hour", "topic")}
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
    period = query.period(now, timezone=zone)
    metrics = promise_metrics(project, period=period, tests=query.tests)
    listed = list_promises(
        project,
        period=period,
        now=now,
        state=query.state,
        tool=query.tool,
        spoken=query.conversations(project),
        hour=query.cell.hour,
        before=query.before,
        tests=query.tests,
    )
    return {
        "query": query,
        "now": metrics.now,
        "rate": _rate(metrics.now.kept_rate),
        "on_time": _rate(metrics.now.on_time_rate),
        "change": change_of(metrics),
        "chart": chart_of(metrics, query),
        "tabs": _tabs(query, metrics.now),
        "periods": [
            (days, query.address(**_last(days)), not query.is_chosen and days == query.days) for days in PERIODS
        ],
        "chosen": _chosen(period) if query.is_chosen else "",
        "hour": f"{int(query.cell.hour):02d}:00" if query.cell.hour else "",
        "kept_fields": [(name, value) for name in CELL if (value := getattr(query.cell, name))],
        "whole": query.address(since="", until="", hour="", topic=""),
        "tools": tool_choices(tool for (tool,) in _TOOLS(project.pk)),
        "channels": Channel.choices,
        "days": listed.days,
        "next": query.address(before=listed.next) if listed.next else "",
        "is_first": query.before is None,
        "is_narrowed": _is_narrowed(query),
        "has_any": metrics.now.made > 0 or query.tests or bool(_ANY(project.pk)),
        "has_tests": query.tests or bool(_ANY_IN_TESTS(project.pk)),
        "wider": query.address(**({"state": "", "tool": "", "channel": ""} if _is_narrowed(query) else {"days": 90})),
        "switch": query.address(of="" if query.tests else TESTS, state="", tool="", channel=""),
        **open_questions(project, zone=zone),
    }


def parse_query(parameters: QueryDict) -> ListQuery:
    return ListQuery(
        days=int(parse_choice(parameters, "days", [str(period) for period in PERIODS]) or USUAL),
        state=parse_choice(parameters, "state", STATES),
        tool=parameters.get("tool", "").replace("\x00", "")[:120],
        channel=parse_choice(parameters, "channel", Channel.values),
        before=parse_uuid(parameters.get("before", "")),
        tests=bool(parse_choice(parameters, "of", [TESTS])),
        cell=replace(parse_cell(parameters), outcome="", tool=""),
    )


def _last(days: int) -> dict[str, Any]:
    return {"days": "" if days == USUAL else days, "since": "", "until": "", "hour": "", "topic": ""}


def _chosen(period: Period) -> str:
    first, last = period.first_day, period.last_day
    if first == last:
        return short_date(first)
    return gettext("%(first)s to %(last)s") % {"first": short_date(first), "last": short_date(last)}


def _is_narrowed(query: ListQuery) -> bool:
    return bool(query.state or query.tool or query.channel or query.cell.hour or query.cell.topic)


def _tabs(query: ListQuery, counts: PromiseCounts) -> list[Tab]:
    numbers = {"": counts.made, **{state: getattr(counts, state) for state in STATES}}
    numbers["kept"] += counts.late
    return [
        Tab(str(TAB_LABELS[state]), count, query.address(state=state), state == query.state)
        for state, count in numbers.items()
    ]


_TOOLS = PreparedValues(
    lambda project: (
        Promise.objects.filter(project_id=project).exclude(tool="").order_by("tool").values_list("tool").distinct()
    ),
    kinds=(UUID,),
)
_ANY = PreparedValues(lambda project: promises_of(Project(pk=project)).values_list("pk")[:1], kinds=(UUID,))
_ANY_IN_TESTS = PreparedValues(
    lambda project: promises_of(Project(pk=project), tests=True).values_list("pk")[:1], kinds=(UUID,)
)


def _rate(rate: float | None) -> str:
    """A rate with one decimal; shows 100 only if there is no exception."""
    if rate is None:
        return "–"
    return "100" if rate == 100 else number_format(min(rate, 99.9), 1)


def change_of(metrics: PromiseMetrics) -> str:
    """A sentence that compares the kept rate with the period before; empty if either is unknown."""
    now, before = metrics.now.kept_rate, metrics.before.kept_rate
    if now is None or before is None:
        return ""
    if abs(now - before) < 0.05:
        return gettext("Same as the previous %(days)s days.") % {"days": len(metrics.days)}
    sentence = (
        gettext("Up from %(rate)s %% in the previous %(days)s days.")
        if now > before
        else gettext("Down from %(rate)s %% in the previous %(days)s days.")
    )
    return sentence % {"rate": number_format(before, 1), "days": len(metrics.days)}


def chart_of(metrics: PromiseMetrics, query: ListQuery) -> Chart:
    """Stacked chart of promises by day and outcome."""
    counts = [metrics.by_day.get(day, PromiseCounts()) for day in metrics.days]
    series = [
        Series(gettext("Kept"), "c-okl", [day.kept + day.late for day in counts]),
        Series(gettext("Open"), "c-soft", [day.open for day in counts]),
        Series(gettext("Broken"), "c-bad", [day.broken for day in counts]),
        Series(gettext("Not sent"), "c-warn", [day.not_sent for day in counts]),
        Series(gettext("Withdrawn"), "c-mute", [day.withdrawn for day in counts]),
    ]
    names = [short_day(day) for day in metrics.days]
    addresses = [query.address(since=day.isoformat(), until=day.isoformat()) for day in metrics.days]
    axis = Axis(names, names, urls=addresses, now=len(names) - 1)
    return stacked(series, axis, height=190, unit="", summary=_summary(metrics))


def _summary(metrics: PromiseMetrics) -> str:
    now = metrics.now
    if not now.made:
        return gettext("No promises in the last %(days)s days.") % {"days": len(metrics.days)}
    broke = [month_day(day) for day in metrics.days if metrics.by_day.get(day, PromiseCounts()).broken]
    summary = gettext(
        "Promises by day over %(days)s days: %(kept)s kept, %(open)s open, %(broken)s broken, %(not_sent)s not sent, "
        "%(withdrawn)s withdrawn."
    ) % {
        "days": len(metrics.days),
        "kept": now.kept + now.late,
        "open": now.open,
        "broken": now.broken,
        "not_sent": now.not_sent,
        "withdrawn": now.withdrawn,
    }
    if not broke:
        return summary
    return f"{summary} " + gettext("Some broke on %(days)s.") % {"days": ", ".join(broke[-5:])}
