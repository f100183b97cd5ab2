"""The usage page: what the model calls of a month cost, by day, model, purpose and project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from console.access import enter
from console.dashboard.charts import Axis, Chart, Series, stacked
from console.layout import shell_context
from console.timestamps import month_day
from console.usage.month import Month, parse_month, this_month
from jobs.usage import Part, Usage, read_usage, total_of
from projects.common.numbers import dollars, grouped
from projects.common.translation import lazy
from projects.models import Project, Role
from projects.models.key import Scope
from projects.models.permissions import Entry
from tenancy.prepared_queries import PreparedValues
from tenancy.scope import tenant_tx
from tools.engine.limits.catalogue import UNITS
from tools.engine.limits.usage import Usage as LimitUse
from tools.engine.limits.usage import usage_of
from tools.models import Limit

PURPOSES: Mapping[str, str] = {
    "reply": lazy("Replies to customers"),
    "observer": lazy("Facts about customers"),
    "thoughts": lazy("Directives for the next reply"),
    "detect": lazy("Detecting promises"),
    "rerank": lazy("Choosing between tools"),
    "arguments": lazy("Details for tools"),
    "execute": lazy("Todos"),
    "extract": lazy("Finding open work"),
    "summary": lazy("Summaries"),
    "make_good": lazy("Corrections of broken promises"),
    "draft": lazy("Drafts for your team"),
    "translate": lazy("Translations for your team"),
    "transcription": lazy("Transcriptions of voice messages"),
}
# The limits that the page shows, beside the month's figures.
SHOWN = (Limit.MONTH_COST, Limit.MONTH_TOKENS, Limit.STORAGE, Limit.OPEN)
CHART_HEIGHT = 190


@dataclass(frozen=True)
class Line:
    """A row of a table. `code` is its name in the API, if that differs."""

    name: str
    calls: str
    input_tokens: str
    output_tokens: str
    cost: str
    code: str = ""


@dataclass(frozen=True)
class Budget:
    """A limit that is set, and its use."""

    title: str
    used: str
    most: str
    percent: int
    tone: str


@login_required
@require_safe
def usage(request: HttpRequest, project_slug: str) -> HttpResponse:
    """A month's usage. Members see their project; owners and admins see its organization's other projects, too."""
    entry = enter(request, project_slug, verb=Scope.READ)
    month, project = parse_month(request.GET), entry.project
    with tenant_tx(project.organization.pk):
        days = read_usage(month.first_day, month.last_day, Part.DAY, Part.MODEL, Part.PURPOSE, project_id=project.pk)
        budgets = [_budget(one) for one in usage_of(project) if one.limit in SHOWN and one.ceiling]
        projects = _projects(entry, month)
    total = total_of(days)
    context = {
        **shell_context(request, entry),
        "month": month,
        "title": _title(month),
        "next": month.next if month < this_month() else None,
        "is_now": month == this_month(),
        "total": _line(total, name=""),
        "cost": _dollars(total),
        "cached": _percent(total.cached_tokens, total.input_tokens),
        "unpriced": grouped(total.unpriced_tokens) if total.unpriced_tokens else "",
        "chart": _chart(days, month) if days else None,
        "is_priced": bool(total.cost),
        "models": [_line(row, name=row.model or "") for row in _grouped(days, "model")],
        "purposes": [
            _line(row, name=str(PURPOSES.get(row.purpose or "", row.purpose)), code=row.purpose or "")
            for row in _grouped(days, "purpose")
        ],
        "budgets": budgets,
        "by_project": projects,
    }
    return render(request, "usage/usage.html", context)


def _title(month: Month) -> str:
    return date_format(month.first_day, "F Y")


def _grouped(rows: Sequence[Usage], name: str) -> list[Usage]:
    """The rows summed up by model or purpose, the highest cost first."""
    groups: dict[str, list[Usage]] = {}
    for row in rows:
        groups.setdefault(getattr(row, name), []).append(row)
    sums = [Usage(**{**vars(total_of(some)), name: key}) for key, some in groups.items()]
    return sorted(sums, key=lambda row: (-row.cost, -row.calls))


def _line(row: Usage, *, name: str, code: str = "") -> Line:
    return Line(
        name=name,
        calls=grouped(row.calls),
        input_tokens=grouped(row.input_tokens),
        output_tokens=grouped(row.output_tokens),
        cost=_dollars(row),
        code=code if code != name else "",
    )


def _dollars(row: Usage) -> str:
    """The cost; a dash if none of the calls has a price."""
    if not row.cost and row.unpriced_tokens:
        return "–"
    return dollars(row.cost)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else ""


def _projects(entry: Entry, month: Month) -> list[Line]:
    """The usage of each project of the organization, for owners and admins of more than one."""
    if entry.member.role not in (Role.OWNER, Role.ADMIN):
        return []
    names: dict[UUID, str] = dict(_NAMES())
    if len(names) < 2:
        return []
    rows = read_usage(month.first_day, month.last_day, Part.PROJECT)
    found = [_line(row, name=names.get(row.project, "")) for row in rows if row.project]
    return [*found, _line(total_of(rows), name=gettext("All projects"))] if found else []


_NAMES = PreparedValues(lambda: Project.objects.values_list("pk", "name"), kinds=())


def _budget(one: LimitUse) -> Budget:
    most = one.most or 0
    percent = min(100, round(100 * one.used / most)) if most else 100
    title = str(Limit(one.limit).label)
    if one.of_organization:
        title = gettext("%(limit)s, all projects") % {"limit": title}
    tone = "bad" if one.is_reached else "warn" if one.is_near else "ok"
    return Budget(title, grouped(one.used), f"{grouped(most)} {UNITS.get(one.limit, '')}".strip(), percent, tone)


def _chart(rows: Sequence[Usage], month: Month) -> Chart:
    """Cost by day, or tokens if no call has a price."""
    by_day = {day.day: day for day in _grouped(rows, "day")}
    is_priced = any(row.cost for row in rows)
    days = [month.first_day.replace(day=number) for number in range(1, month.last_day.day + 1)]
    found = [by_day.get(day, Usage()) for day in days]
    values = [float(row.cost) if is_priced else row.input_tokens + row.output_tokens for row in found]
    name = gettext("Cost in USD") if is_priced else gettext("Tokens")
    highest = max(range(len(days)), key=lambda at: values[at])
    return stacked(
        [Series(name, "c-act", values)],
        Axis(
            names=[month_day(day) for day in days],
            labels=[str(day.day) for day in days],
            now=_today(month),
        ),
        height=CHART_HEIGHT,
        unit="",
        summary=gettext("%(name)s by day. Peak: %(day)s.") % {"name": name, "day": month_day(days[highest])},
    )


def _today(month: Month) -> int | None:
    today: date = timezone.now().astimezone(UTC).date()
    return today.day - 1 if month == this_month() else None
