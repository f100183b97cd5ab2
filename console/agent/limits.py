"""The limits page: today's use of each limit, and lifting one that is reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from console.access import zone_of
from console.agent.page import page_context, tab_url
from console.parameters import parse_uuid
from console.timestamps import Timestamp, format_timestamp
from jobs.errors import WrongState
from projects.models import User
from projects.models.key import Scope
from projects.models.permissions import Entry, enter_project
from tenancy.scope import tenant_tx
from tools.engine.limit_alerts import UNITS, lift
from tools.engine.limit_usage import Usage, usage_of
from tools.models import LimitAlert


@dataclass(frozen=True)
class Row:
    """A limit with its use. `alert` is the one that staff may lift, `percent` the width of the bar."""

    title: str
    used: str
    most: str
    percent: int
    tone: str
    word: str
    alert: UUID | None
    at: Timestamp | None
    adds: str


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def limits_page(request: HttpRequest, project_slug: str, section: str) -> HttpResponse:
    """Show the limits; POST lifts one for a day."""
    is_post = request.method == "POST"
    entry = enter_project(cast(User, request.user), project_slug, verb=Scope.OPERATE if is_post else Scope.READ)
    if is_post:
        _lift(request, entry)
        return redirect(tab_url(project_slug, "limits"))
    with tenant_tx(entry.project.organization.pk):
        rows = [_row(usage, zone=zone_of(entry)) for usage in usage_of(entry.project)]
    return render(request, "agent/limits.html", {**page_context(request, entry, tab="limits"), "rows": rows})


def _lift(request: HttpRequest, entry: Entry) -> None:
    with tenant_tx(entry.project.organization.pk):
        alerts = LimitAlert.objects.select_related("project").filter(project=entry.project)
        alert_id = parse_uuid(request.POST.get("alert", ""))
        alert = alerts.filter(pk=alert_id).first() if alert_id else None
        if alert is None:
            raise Http404
        try:
            lift(alert, by=cast(User, request.user))
        except WrongState as error:
            messages.warning(request, str(error))
        else:
            messages.success(request, f"Lifted: {alert.most:,} more for 24 hours.")


def _row(usage: Usage, *, zone: str) -> Row:
    unit, alert = UNITS[usage.limit], usage.alert
    tone, word = _state(usage)
    return Row(
        title=unit[:1].upper() + unit[1:],
        used=f"{usage.used:,}",
        most=f"{usage.most:,}",
        percent=min(100, round(100 * usage.used / usage.most)) if usage.most else 100,
        tone=tone,
        word=word,
        alert=alert.pk if alert else None,
        at=format_timestamp(alert.created_at, zone=zone) if alert else None,
        adds=f"{alert.most:,}" if alert and alert.most else "",
    )


def _state(usage: Usage) -> tuple[str, str]:
    if usage.alert is not None:
        return "bad", "Reached"
    if usage.added:
        return "act", "Lifted"
    return ("warn", "Half used") if 2 * usage.used >= usage.most else ("ok", "")
