"""The limits page: the use of each limit of the project and its organization, lifting and changing them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from console.access import zone_of
from console.agent.page import page_context, tab_url
from console.parameters import parse_uuid
from console.timestamps import Timestamp, format_timestamp
from jobs.errors import WrongState
from projects.common.api_error import ApiError
from projects.common.numbers import grouped
from projects.common.translation import lazy
from projects.models import User
from projects.models.key import Scope
from projects.models.permissions import Entry, enter_project
from tenancy.scope import tenant_tx
from tools.engine.limits.alerts import lift
from tools.engine.limits.catalogue import RULES, UNITS
from tools.engine.limits.changes import set_organization_limit, set_project_limit
from tools.engine.limits.organization import SetBy
from tools.engine.limits.usage import Usage, usage_of
from tools.models import OF_ORGANIZATIONS, Limit, LimitAlert

# Beside a limit that somebody else has set.
ORIGINS: Mapping[SetBy, str] = {
    SetBy.DEFAULT: lazy("Default"),
    SetBy.OPERATOR: lazy("Set by the server administrator"),
}
# Thousands separators of all languages.
SEPARATORS = ",.’' \u00a0\u202f"
NUMBER = re.compile(rf"-?(?:\d{{1,20}}|\d{{1,3}}(?:[{SEPARATORS}]\d{{3}})+)", re.ASCII)


@dataclass(frozen=True)
class Row:
    """A limit with its use. `alert` is the one that staff may lift, `percent` the width of the bar.

    `typed` is the number in its field, with `error` if it was refused; `if_empty` is the limit without one.
    """

    limit: str
    title: str
    used: str
    most: str
    percent: int
    tone: str
    word: str
    origin: str
    alert: UUID | None
    at: Timestamp | None
    adds: str
    typed: str
    if_empty: str
    error: str
    of_organization: bool


@dataclass(frozen=True)
class Refused:
    """A number that was typed for a limit, and the reason why it wasn't saved."""

    limit: str
    of_organization: bool
    typed: str
    reason: str


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def limits_page(request: HttpRequest, project_slug: str, section: str) -> HttpResponse:
    """Show the limits; POST lifts one for a day, or changes one."""
    is_post, is_change = request.method == "POST", "most" in request.POST
    verb = Scope.CONFIGURE if is_change else Scope.OPERATE if is_post else Scope.READ
    entry = enter_project(cast(User, request.user), project_slug, verb=verb)
    if not is_post:
        return _show(request, entry)
    if is_change and (refused := _change(request, entry)):
        return _show(request, entry, refused)
    if not is_change:
        _lift(request, entry)
    return redirect(tab_url(project_slug, "limits"))


def _show(request: HttpRequest, entry: Entry, refused: Refused | None = None) -> HttpResponse:
    with tenant_tx(entry.project.organization.pk):
        rows = [_row(usage, refused, zone=zone_of(entry)) for usage in usage_of(entry.project)]
    context = {
        **page_context(request, entry, tab="limits"),
        "rows": [row for row in rows if not row.of_organization],
        "shared": [row for row in rows if row.of_organization],
        "is_owner": entry.may(Scope.OWNER),
    }
    return render(request, "agent/limits.html", context, status=422 if refused else 200)


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
            messages.success(request, gettext("Limit raised by %(most)s for 24 hours.") % {"most": grouped(alert.most)})


def _change(request: HttpRequest, entry: Entry) -> Refused | None:
    """Set the limit to the number that was typed, or to none. Returns the reason if it is refused."""
    limit, is_shared = request.POST.get("limit", ""), "organization" in request.POST
    if limit not in (OF_ORGANIZATIONS if is_shared else RULES):
        raise Http404
    if is_shared and not entry.may(Scope.OWNER):
        raise PermissionDenied(gettext("Only owners can change the organization’s limits."))
    typed = request.POST["most"].strip()
    try:
        most = _number(typed)
        with tenant_tx(entry.project.organization.pk):
            if is_shared:
                set_organization_limit(entry.project, limit, most, by=entry.member.user)
            else:
                set_project_limit(entry.project, limit, most, by=entry.member.user)
    except ValueError:
        return Refused(limit, is_shared, typed, gettext("Enter a whole number, such as 200, or leave it empty."))
    except ApiError as error:
        return Refused(limit, is_shared, typed, error.message)
    said = gettext("Saved. 0 blocks all of these.") if most == 0 else gettext("Saved.")
    messages.success(request, said)
    return None


def _number(typed: str) -> int | None:
    """The number; None for an empty field. Thousands may be separated. Raises ValueError."""
    if typed and not NUMBER.fullmatch(typed):
        raise ValueError(typed)
    return int("".join(one for one in typed if one not in SEPARATORS)) if typed else None


def _row(usage: Usage, refused: Refused | None, *, zone: str) -> Row:
    alert = usage.alert if RULES[usage.limit].can_be_lifted else None
    is_refused = refused is not None and (refused.limit, refused.of_organization) == (
        usage.limit,
        usage.of_organization,
    )
    set_by = usage.ceiling.set_by if usage.ceiling else None
    is_own = usage.ceiling is not None and set_by in (SetBy.PROJECT, SetBy.ORGANIZATION)
    default = RULES[usage.limit].default
    tone, word = _state(usage)
    return Row(
        limit=usage.limit,
        title=str(Limit(usage.limit).label),
        used=grouped(usage.used),
        most="" if usage.most is None else f"{grouped(usage.most)} {UNITS.get(usage.limit, '')}".strip(),
        percent=_percent(usage),
        tone=tone,
        word=word,
        origin=str(ORIGINS.get(set_by, "")) if set_by else "",
        alert=alert.pk if alert else None,
        at=format_timestamp(usage.alert.created_at, zone=zone) if usage.alert else None,
        adds=grouped(alert.most) if alert and alert.most else "",
        typed=refused.typed if refused and is_refused else str(usage.ceiling.most) if usage.ceiling and is_own else "",
        if_empty="" if usage.of_organization or default is None else grouped(default),
        error=refused.reason if refused and is_refused else "",
        of_organization=usage.of_organization,
    )


def _percent(usage: Usage) -> int:
    if usage.most is None:
        return 0
    return min(100, round(100 * usage.used / usage.most)) if usage.most else 100


def _state(usage: Usage) -> tuple[str, str]:
    if usage.alert is not None or (usage.is_reached and usage.most is not None):
        return "bad", gettext("Reached")
    if usage.added:
        return "act", gettext("Raised")
    if not usage.is_near:
        return "ok", ""
    return "warn", gettext("Half used") if RULES[usage.limit].can_be_lifted else gettext("Nearly used up")
