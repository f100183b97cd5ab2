"""The dashboard: weekly metrics, items that need attention, and onboarding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from console.access import enter, zone_of
from console.dashboard.attention import Attention, Matter, what_needs_you
from console.dashboard.charts import NARROW, Chart, Series, lines, stacked
from console.dashboard.metrics import DAYS, Period, Turns, last_days
from console.dashboard.metrics_cache import recent_figures
from console.dashboard.onboarding import Step, first_steps, hide_first_steps
from console.dashboard.stats import stats_of
from console.layout import shell_context
from console.timestamps import format_timestamp
from conversations.common.business_hours import working_status
from projects.models.key import Scope
from projects.models.permissions import Entry
from tenancy.scope import tenant_tx

NONE = "No replies in this period."
COUNTING = "Loading."


@dataclass(frozen=True)
class Charts:
    turns: Chart
    first_token: Chart
    freshness: Chart


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def dashboard(request: HttpRequest, project_slug: str) -> HttpResponse:
    """Show the dashboard; POST hides the onboarding checklist for good.

    Metrics of a busy project may still be counting; static/js/dashboard.js then reloads them.
    """
    is_post = request.method == "POST"
    entry = enter(request, project_slug, verb=Scope.CONFIGURE if is_post else Scope.READ)
    now = timezone.now()
    period = last_days(now, timezone=zone_of(entry))
    with tenant_tx(entry.project.organization.pk):
        if is_post:
            hide_first_steps(entry.project)
        else:
            attention = what_needs_you(entry.project)
            steps = first_steps(entry.project)
            # Last, so that a background count doesn't slow the other queries.
            figures = recent_figures(entry.project, period)
    if is_post:
        return redirect("dashboard", project_slug=project_slug)
    context = {
        **shell_context(request, entry),
        **_today(entry, now),
        **_steps(steps, entry),
        **_attention(attention, entry),
        "is_empty": figures is not None and figures.is_empty,
        "counted": f"{figures.period.now:%H:%M}" if figures else "",
        "stats": stats_of(figures),
        "charts": charts_of(period, figures.days) if figures else awaited_charts(period),
    }
    return render(request, "dashboard/dashboard.html", context)


def charts_of(period: Period, days: Sequence[Turns]) -> Charts:
    """Charts of the week, by day."""
    labels = [f"{day:%a}" for day in period.days]
    return Charts(
        turns=_turns(days, labels), first_token=_first_token(days, labels), freshness=_freshness(days, labels)
    )


def awaited_charts(period: Period) -> Charts:
    """Placeholder charts: empty, on axes without labels."""
    empty = charts_of(period, [Turns()] * DAYS)
    return Charts(turns=_blank(empty.turns), first_token=_blank(empty.first_token), freshness=_blank(empty.freshness))


def _blank(chart: Chart) -> Chart:
    return replace(chart, grid=[replace(line, label="") for line in chart.grid], summary=COUNTING)


def _turns(days: Sequence[Turns], labels: list[str]) -> Chart:
    series = [
        Series("Chat", "c-act", [day.chats for day in days]),
        Series("Phone", "c-soft", [day.calls for day in days]),
        Series("Messengers", "c-mute", [day.messengers for day in days]),
    ]
    counts = [day.count for day in days]
    most = max(counts)
    summary = f"Turns by day, most on {labels[counts.index(most)]} with {most:,}." if most else NONE
    return stacked(series, labels=labels, height=190, unit="", summary=summary)


def _first_token(days: Sequence[Turns], labels: list[str]) -> Chart:
    series = [
        Series("p95", "l2", [day.p95_ms for day in days]),
        Series("median", "l1", [day.median_ms for day in days]),
    ]
    medians = [day.median_ms for day in days if day.median_ms is not None]
    summary = f"Median time to first token by day, {min(medians):.0f} to {max(medians):.0f} ms." if medians else NONE
    return lines(series, labels=labels, height=160, unit=" ms", summary=summary)


def _freshness(days: Sequence[Turns], labels: list[str]) -> Chart:
    def shares(name: str) -> list[float | None]:
        return [100 * getattr(day, name) / day.directed if day.directed else None for day in days]

    series = [
        Series("fresh", "c-act", shares("fresh")),
        Series("stale", "c-soft", shares("stale")),
        Series("waiting", "c-mute", shares("waiting")),
    ]
    known = [share for share in shares("fresh") if share is not None]
    summary = (
        f"Share of replies with fresh directives by day, {min(known):.0f} to {max(known):.0f} %." if known else NONE
    )
    return stacked(series, labels=labels, height=132, unit="%", summary=summary, width=NARROW, whole=100)


def _today(entry: Entry, now: datetime) -> dict[str, Any]:
    """Today's date in the business's time zone, and its opening status."""
    version = entry.project.agent_version
    local = now.astimezone(ZoneInfo(zone_of(entry)))
    day = f"{local:%A}, {local.day} {local:%B}"
    if version is None or not version.config.hours:
        return {"today": day}
    status = working_status(version.config, at=now)
    said = status.reason if status.is_open or status.reason.startswith("closed") else f"closed: {status.reason}"
    return {"today": f"{day}, {said}"}


def _steps(steps: list[Step], entry: Entry) -> dict[str, Any]:
    """The checklist, for members who may configure the project."""
    if not steps or not entry.may(Scope.CONFIGURE):
        return {"steps": []}
    done = sum(step.is_done for step in steps)
    following = next(step for step in steps if not step.is_done)
    return {"steps": steps, "next_step": following, "steps_done": done, "steps_left": len(steps) - done}


def _attention(attention: Attention, entry: Entry) -> dict[str, Any]:
    rows = [
        {"matter": matter, "url": _url(matter, entry), "at": format_timestamp(matter.at, zone=zone_of(entry))}
        for matter in attention.matters
    ]
    return {"matters": rows, "matters_count": attention.count}


def _url(matter: Matter, entry: Entry) -> str:
    if matter.section:
        return reverse(matter.page, kwargs={"project_slug": entry.project.slug, "section": matter.section})
    return reverse(matter.page, args=[entry.project.slug, *([matter.id] if matter.id else [])]) + matter.query
