"""The home page: figures of a period, what waits for staff, the latest promises, and onboarding."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from console.access import enter, zone_of
from console.dashboard.attention import Attention, what_needs_you
from console.dashboard.charts import Axis, Chart, Series, lines, stacked
from console.dashboard.just_now import just_now
from console.dashboard.metrics import Figures, Slot, project_figures, slots_of
from console.dashboard.onboarding import Step, first_steps, hide_first_steps
from console.dashboard.stats import stats_of
from console.layout import shell_context
from console.parameters import parse_choice
from console.timestamps import format_timestamp, long_day, short_day, short_weekday
from conversations.analytics.definitions import DEFINITIONS, FEWEST
from conversations.analytics.figure_cache import recent_figures
from conversations.analytics.period import Period, last_days
from conversations.common.business_hours import working_status
from projects.common.numbers import grouped
from projects.common.stored_sentences import translated
from projects.models import Project
from projects.models.key import Scope
from projects.models.permissions import Entry
from tenancy.scope import tenant_tx

PERIODS = (1, 7, 30)
USUAL = 7


@dataclass(frozen=True)
class Charts:
    """A chart is None where there is too little to draw."""

    conversations: Chart | None
    first_token: Chart | None


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def dashboard(request: HttpRequest, project_slug: str) -> HttpResponse:
    """Show the home page, or with `part=live` only what changes by itself; POST hides the onboarding checklist for good.

    Figures of a busy project may still be counting; static/js/dashboard.js then reloads them.
    """
    is_post = request.method == "POST"
    entry = enter(request, project_slug, verb=Scope.CONFIGURE if is_post else Scope.READ)
    if is_post:
        with tenant_tx(entry.project.organization.pk):
            hide_first_steps(entry.project)
        return redirect("dashboard", project_slug=project_slug)
    if request.GET.get("part") == "live":
        with tenant_tx(entry.project.organization.pk):
            live, _ = _live(entry)
        return render(request, "dashboard/_live.html", {"project": entry.project, **live})
    return render(request, "dashboard/dashboard.html", _page(request, entry))


def _page(request: HttpRequest, entry: Entry) -> dict[str, Any]:
    now = timezone.now()
    period = last_days(now, days=_days(request), timezone=zone_of(entry))
    with tenant_tx(entry.project.organization.pk):
        live, attention = _live(entry)
        steps = first_steps(entry.project)
        # Last, so that a background count doesn't slow the other queries.
        figures = recent_figures("home", entry.project, period, partial(_count, entry.project, period))
    return {
        **shell_context(request, entry, waiting=attention.count),
        **_today(entry, now),
        **_steps(steps, entry),
        **live,
        **_figures(figures, period, entry.project),
    }


def _days(request: HttpRequest) -> int:
    return int(parse_choice(request.GET, "days", [str(period) for period in PERIODS]) or USUAL)


def _count(project: Project, period: Period) -> Figures:
    """The figures up to now, which may be later than the request that asked for them."""
    return project_figures(project, last_days(timezone.now(), days=period.length, timezone=period.timezone))


def _figures(figures: Figures | None, period: Period, project: Project) -> dict[str, Any]:
    begun = urlencode({"view": "all", "since": period.first_day, "until": period.last_day})
    return {
        "is_empty": figures is not None and figures.is_empty,
        "counted": f"{figures.period.until:%H:%M}" if figures else "",
        "days": period.length,
        "since": period.first_day.isoformat(),
        "until": period.last_day.isoformat(),
        "periods": PERIODS,
        "stats": stats_of(figures) if figures else None,
        "charts": charts_of(figures, project) if figures else None,
        "definitions": DEFINITIONS,
        "fewest": FEWEST,
        "begun_url": f"{reverse('inbox', args=[project.slug])}?{begun}",
        "analytics_url": f"{reverse('analytics', args=[project.slug])}?"
        + urlencode({"since": period.first_day, "until": period.last_day}),
    }


def charts_of(figures: Figures, project: Project) -> Charts:
    """Charts by hour for one day, by day for longer periods."""
    axis = _axis(figures.period, project)
    return Charts(conversations=_conversations(figures, axis), first_token=_first_token(figures, axis))


def _axis(period: Period, project: Project) -> Axis:
    slots, inbox = slots_of(period), reverse("inbox", args=[project.slug])
    now = period.until.replace(tzinfo=None)
    is_hourly = period.is_one_day
    days = [{"view": "all", "since": slot.date(), "until": slot.date()} for slot in slots]
    hours = [{"hour": slot.hour} if is_hourly else {} for slot in slots]
    return Axis(
        names=[f"{slot:%H:%M}" if is_hourly else f"{short_weekday(slot)} {short_day(slot)}" for slot in slots],
        labels=[_label(slot, period) for slot in slots],
        urls=[f"{inbox}?{urlencode(day | hour)}" for day, hour in zip(days, hours, strict=True)],
        now=now.hour if is_hourly else len(slots) - 1,
    )


def _label(slot: datetime, period: Period) -> str:
    if period.is_one_day:
        return str(slot.hour)
    return short_weekday(slot) if period.length <= USUAL else short_day(slot)


def _conversations(figures: Figures, axis: Axis) -> Chart | None:
    volumes = [slot.volume for slot in figures.slots]
    if not figures.now.conversations:
        return None
    series = [
        Series(gettext("Chat"), "c-act", [volume.chats if volume else None for volume in volumes]),
        Series(gettext("Phone"), "c-soft", [volume.calls if volume else None for volume in volumes]),
        Series(gettext("Messengers"), "c-mute", [volume.messengers if volume else None for volume in volumes]),
    ]
    counts = [volume.all if volume else 0 for volume in volumes]
    most = max(counts)
    summary = gettext("Conversations: %(conversations)s. Peak: %(most)s on %(day)s.") % {
        "conversations": grouped(figures.now.conversations),
        "day": axis.names[counts.index(most)],
        "most": grouped(most),
    }
    return stacked(series, axis, height=190, unit="", summary=summary)


def _first_token(figures: Figures, axis: Axis) -> Chart | None:
    drawn = [slot for slot in figures.slots if slot.replies and slot.replies.median_ms is not None]
    if figures.now.replies.count < FEWEST or len(drawn) < 2:
        return None
    series = [
        Series("p95", "l2", [_ms(slot, "p95_ms") for slot in figures.slots]),
        Series(gettext("Median"), "l1", [_ms(slot, "median_ms") for slot in figures.slots]),
    ]
    medians = [value for value in series[1].values if value is not None]
    summary = gettext("Median time to first token, %(least)s to %(most)s ms.") % {
        "least": f"{min(medians):.0f}",
        "most": f"{max(medians):.0f}",
    }
    return lines(series, replace(axis, urls=()), height=160, unit=" ms", summary=summary)


def _ms(slot: Slot, name: str) -> float | None:
    return getattr(slot.replies, name) if slot.replies else None


def _live(entry: Entry) -> tuple[dict[str, Any], Attention]:
    """The matters that wait for staff, and the latest promises."""
    attention, zone = what_needs_you(entry.project, is_developer=entry.member.developer_tools), zone_of(entry)
    matters = [
        {"matter": one, "at": format_timestamp(one.at, zone=zone) if one.at else None}
        for one in (*attention.conversations, *attention.others)
    ]
    return {
        "matters": matters,
        "matters_count": attention.count,
        "news": just_now(entry.project, zone=zone),
    }, attention


def _today(entry: Entry, now: datetime) -> dict[str, Any]:
    """Today's date in the business's time zone, and its opening status."""
    version = entry.project.agent_version
    local = now.astimezone(ZoneInfo(zone_of(entry)))
    day = long_day(local)
    if version is None or not version.config.hours:
        return {"today": day}
    status = working_status(version.config, at=now)
    said = translated(status.reason)
    if not status.is_open and not status.reason.startswith("closed"):
        said = gettext("closed: %(reason)s") % {"reason": said}
    return {"today": f"{day}, {said}"}


def _steps(steps: list[Step], entry: Entry) -> dict[str, Any]:
    """The checklist, for members who may configure the project."""
    if not steps or not entry.may(Scope.CONFIGURE):
        return {"steps": []}
    done = sum(step.is_done for step in steps)
    following = next(step for step in steps if not step.is_done)
    return {"steps": steps, "next_step": following, "steps_done": done, "steps_left": len(steps) - done}
