"""The analytics page: figures of a period, each leading to the list behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from console.access import enter, zone_of
from console.dashboard.charts import Axis, Chart, Series, stacked
from console.dashboard.stats import rate_words
from console.layout import shell_context
from console.parameters import parse_choice, parse_days, period_of
from console.timestamps import format_timestamp
from console.tools.catalogue import TRIGGER_LABELS
from conversations.analytics.breakdown import Breakdown, Row, break_down
from conversations.analytics.definitions import DEFINITIONS, FEWEST
from conversations.analytics.figure_cache import recent_figures
from conversations.analytics.outcomes import NONE, Slice
from conversations.analytics.period import Period
from conversations.analytics.questions import Question, unanswered_questions
from conversations.models import Channel
from projects.common.numbers import dollars, grouped
from projects.models import Project
from projects.models.key import Scope
from tenancy.replica import report_tx
from tools.engine.registry import builtin_tools
from tools.engine.tool_words import title_of_tool

PERIODS = (7, 30, 90)
USUAL = 30


@dataclass(frozen=True)
class Cell:
    """A figure and the list behind it. `share` is its percentage of the row's conversations, where that says something."""

    text: str
    url: str = ""
    share: str = ""


@dataclass(frozen=True)
class Line:
    """A row of a table: its name and its figures in the order of the heading. `note` tells tools with the same title apart."""

    label: str
    cells: list[Cell]
    note: str = ""


@dataclass(frozen=True)
class Table:
    """One dimension. `columns` are keys of DEFINITIONS."""

    id: str
    columns: Sequence[str]
    lines: list[Line]


@dataclass(frozen=True)
class Report:
    """Everything that is counted for the page."""

    figures: Breakdown
    questions: list[Question]


@dataclass(frozen=True)
class Links:
    """The lists behind the figures of a period."""

    project: Project
    period: Period

    def conversations(self, **cell: str) -> str:
        return self._to("inbox", view="all", **cell)

    def promises(self, **cell: str) -> str:
        return self._to("promises", **cell)

    def _to(self, view: str, /, **cell: str) -> str:
        days = {"since": self.period.first_day, "until": self.period.last_day}
        return f"{reverse(view, args=[self.project.slug])}?{urlencode({**days, **cell})}"


OUTCOMES = ("conversations", "resolved", "handed_over", "unanswered", "satisfied")
PROMISES = ("promises_kept", "promises_broken", "promises_open", "promises_not_sent")
COLUMNS = (*OUTCOMES, *PROMISES)
CHANNELS = dict(Channel.choices)


@login_required
@require_safe
def analytics(request: HttpRequest, project_slug: str) -> HttpResponse:
    """Figures of a period. Those of a busy project may still be counting; static/js/analytics.js then reloads them."""
    entry = enter(request, project_slug, verb=Scope.READ)
    project, now = entry.project, timezone.now()
    period = parse_period(request.GET, now=now, timezone=zone_of(entry))
    with report_tx(project.organization.pk):
        report = recent_figures("analytics", project, period, partial(_count, project, period))
    links = Links(project, period)
    context = {
        **shell_context(request, entry),
        "first": period.first_day.isoformat(),
        "last": period.last_day.isoformat(),
        "today": now.astimezone(ZoneInfo(period.timezone)).date().isoformat(),
        "periods": [(days, _is_last(period, days, now)) for days in PERIODS],
        "definitions": DEFINITIONS,
        "fewest": FEWEST,
        "is_counting": report is None,
    }
    if report is not None:
        context |= _shown(report, links, zone=period.timezone)
    return render(request, "analytics/analytics.html", context)


def parse_period(parameters: QueryDict, *, now: datetime, timezone: str) -> Period:
    """The days of the query string, or the last ones. Raises UnknownFilter."""
    days = parse_choice(parameters, "days", [str(one) for one in PERIODS])
    since, until = parse_days(parameters)
    return period_of(Slice(since=since, until=until, timezone=timezone), days=int(days or USUAL), now=now)


def _is_last(period: Period, days: int, now: datetime) -> bool:
    return period.length == days and period.last_day == now.astimezone(ZoneInfo(period.timezone)).date()


def _count(project: Project, period: Period) -> Report:
    return Report(break_down(project, period), unanswered_questions(project, period))


def _shown(report: Report, links: Links, *, zone: str) -> dict[str, Any]:
    figures = report.figures
    return {
        "is_empty": not (figures.total.conversations or figures.total.made or figures.total.cost),
        "total": figures.total,
        "totals": dict(zip(COLUMNS, _cells(figures.total, links, COLUMNS), strict=True)),
        "kept_rate": rate_words(figures.total.kept_rate),
        "cost": _cost(figures.total),
        "tables": [
            Table("channel", (*COLUMNS, "cost"), [_line(row, links, "channel") for row in figures.channels]),
            Table("topic", (*COLUMNS, "cost"), [_line(row, links, "topic") for row in figures.topics]),
            Table("tool", ("actions", *COLUMNS), _tools(figures.tools, links)),
            Table(
                "hour",
                (*COLUMNS, "cost"),
                [_line(row, links, "hour") for row in figures.hours if row.conversations or row.made or row.cost],
            ),
        ],
        "chart": _hours(figures, links) if figures.total.conversations >= FEWEST else None,
        "questions": [
            {"words": one.words, "id": one.conversation_id, "at": format_timestamp(one.at, zone=zone)}
            for one in report.questions
        ],
    }


def _line(row: Row, links: Links, dimension: str) -> Line:
    cells = _cells(row, links, COLUMNS, **{dimension: row.key})
    return Line(_label(row, dimension), [*cells, Cell(_cost(row) or "–")])


def _tools(rows: Sequence[Row], links: Links) -> list[Line]:
    titles = Counter(title_of_tool(row.key) for row in rows)
    return [
        Line(
            title := title_of_tool(row.key),
            [Cell(grouped(row.actions) if row.actions else "–"), *_cells(row, links, COLUMNS, tool=row.key)],
            note=_trigger_of(row.key) if titles[title] > 1 else "",
        )
        for row in rows
    ]


def _trigger_of(tool: str) -> str:
    """The main trigger of a built-in tool; empty for others."""
    built_in = builtin_tools().get(tool)
    return str(TRIGGER_LABELS[built_in.moments[0]]) if built_in else ""


def _label(row: Row, dimension: str) -> str:
    """The label in the reader's language. The cached label is in the language of its first reader."""
    if dimension == "channel":
        return str(CHANNELS.get(row.key, row.label))
    return gettext("No topic") if dimension == "topic" and row.key == NONE else row.label


def _cells(row: Row, links: Links, columns: Sequence[str], **cell: str) -> list[Cell]:
    """The counts of a row; zero is a dash without a link."""
    found = []
    for name in columns:
        outcome = name.removeprefix("promises_")
        is_promise = name != outcome
        count = row.promises[outcome] if is_promise else getattr(row, name)
        if not count and name != "satisfied":
            found.append(Cell("–"))
        elif name == "satisfied":
            found.append(_satisfaction(row, links, **cell))
        elif is_promise:
            found.append(Cell(grouped(count), links.promises(state=outcome, **cell)))
        else:
            narrowed = cell if name == "conversations" else {"outcome": name, **cell}
            share = f"{100 * count / row.conversations:.0f} %" if name != "conversations" else ""
            found.append(Cell(grouped(count), links.conversations(**narrowed), share))
    return found


def _satisfaction(row: Row, links: Links, **cell: str) -> Cell:
    if row.satisfaction is None:
        return Cell("–")
    return Cell(
        f"{row.satisfaction:.0f} %",
        links.conversations(rating="any", **cell),
        gettext("of %(number)s") % {"number": grouped(row.rated)},
    )


def _cost(row: Row) -> str:
    return "" if row.cost is None else dollars(row.cost)


def _hours(figures: Breakdown, links: Links) -> Chart:
    """Conversations by the hour of the day they began in."""
    rows = figures.hours
    series = [
        Series(gettext("Resolved by the agent"), "c-act", [row.resolved for row in rows]),
        Series(gettext("Handed over"), "c-soft", [row.handed_over for row in rows]),
        Series(gettext("Other"), "c-mute", [row.conversations - row.resolved - row.handed_over for row in rows]),
    ]
    busiest = max(rows, key=lambda row: row.conversations)
    axis = Axis(
        names=[row.label for row in rows],
        labels=[row.key for row in rows],
        urls=[links.conversations(hour=row.key) for row in rows],
    )
    summary = gettext("Conversations by hour of day. Peak: %(conversations)s at %(label)s.") % {
        "label": busiest.label,
        "conversations": grouped(busiest.conversations),
    }
    return stacked(series, axis, height=190, unit="", summary=summary)
