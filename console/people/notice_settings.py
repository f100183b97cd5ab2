"""The member's notice settings: ways by kind, Slack, frequency and quiet hours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import time
from typing import Any, cast
from uuid import UUID

from asgiref.sync import async_to_sync
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from console.parameters import parse_uuid
from console.timestamps import Timestamp, format_timestamp
from notices import slack
from notices.models import Frequency, NoticeKind, NoticeSettings, Send, Way
from notices.preferences import DEFAULT
from notices.push.subscriptions import HERE, browsers_of
from notices.push.vapid import public_key
from notices.settings import NoticeChoices, save_settings, settings_of, slack_address
from projects.common.api_error import ApiError
from projects.common.mail import has_server
from projects.models import Member, User
from projects.models.agent_config import time_zones
from tenancy.scope import tenant_tx
from tenancy.tenant_lookup import find_organizations


@dataclass(frozen=True)
class Place:
    """An organization of the user."""

    id: UUID
    name: str


@dataclass(frozen=True)
class Cell:
    way: str
    label: str
    is_on: bool


@dataclass(frozen=True)
class KindRow:
    """A kind of notices, with a checkbox for each way."""

    kind: str
    label: str
    cells: Sequence[Cell]


@dataclass(frozen=True)
class BrowserRow:
    """A browser of the person that takes push messages."""

    browser: str
    name: str
    is_here: bool
    added: Timestamp
    sent: Timestamp | None
    error: str


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def notice_settings(request: HttpRequest) -> HttpResponse:
    """Notice settings in one organization: the one of the query, or the user's first."""
    user = cast(User, request.user)
    places = _places(user)
    wanted = parse_uuid(request.GET.get("organization", ""))
    place = next((one for one in places if one.id == wanted), None) if wanted else next(iter(places), None)
    if wanted and place is None:
        raise Http404
    if place is None:
        return render(request, "people/notices.html", {"places": places, "errors": {}})
    if request.method == "POST":
        return _act(request, user, place, places)
    with tenant_tx(place.id):
        stored = settings_of(Member.objects.get(user=user))
    return _render(request, places, place, stored)


def _act(request: HttpRequest, user: User, place: Place, places: Sequence[Place]) -> HttpResponse:
    if request.POST.get("do") == "test":
        _send_test(request, user, place)
        return _back(place)
    try:
        with tenant_tx(place.id):
            member = Member.objects.get(user=user)
            save_settings(member, _choices(request.POST))
    except ApiError as error:
        typed = _typed(user, place, request.POST)
        return _render(request, places, place, typed, errors={error.field or "": error.message})
    messages.success(request, gettext("Notification settings saved."))
    return _back(place)


def _send_test(request: HttpRequest, user: User, place: Place) -> None:
    """Send a test to the stored address. No transaction is open meanwhile."""
    with tenant_tx(place.id):
        url = slack_address(settings_of(Member.objects.get(user=user)))
    if not url:
        messages.error(request, gettext("Save a webhook address first."))
        return
    result = async_to_sync(slack.send)(url, slack.TEST)
    if result.state is Send.SENT:
        messages.success(request, gettext("Sent. Check that it arrives in Slack."))
    else:
        messages.error(request, result.error)


def _choices(posted: QueryDict) -> NoticeChoices:
    typed = posted.get("slack_url", "").strip()
    return NoticeChoices(
        ways={kind: posted.getlist(kind) for kind in NoticeKind.values},
        frequency=posted.get("frequency", ""),
        quiet_from=_time(posted, "quiet_from"),
        quiet_to=_time(posted, "quiet_to"),
        timezone=posted.get("timezone", "").strip(),
        slack_url=typed or ("" if posted.get("slack_remove") == "yes" else None),
    )


def _time(posted: QueryDict, name: str) -> time | None:
    text = posted.get(name, "").strip()
    try:
        return time.fromisoformat(text).replace(tzinfo=None) if text else None
    except ValueError as error:
        raise ApiError("invalid_time", gettext("Enter a time, such as 22:00."), field="quiet_to") from error


def _typed(user: User, place: Place, posted: QueryDict) -> NoticeSettings:
    """The stored settings with what was typed, to be corrected. Nothing is saved."""
    with tenant_tx(place.id):
        settings = settings_of(Member.objects.get(user=user))
    settings.ways = {kind: posted.getlist(kind) for kind in NoticeKind.values}
    settings.timezone, settings.frequency = posted.get("timezone", ""), posted.get("frequency", "")
    with suppress(ApiError):
        settings.quiet_from = _time(posted, "quiet_from")
        settings.quiet_to = _time(posted, "quiet_to")
    return settings


def _render(
    request: HttpRequest,
    places: Sequence[Place],
    place: Place,
    settings: NoticeSettings,
    *,
    errors: Mapping[str, str] | None = None,
) -> HttpResponse:
    context: dict[str, Any] = {
        "places": places,
        "place": place,
        "settings": settings,
        "is_new": settings._state.adding and not errors,
        "rows": [_row(kind, settings) for kind in NoticeKind],
        "ways": list(Way),
        "frequencies": Frequency.choices,
        "zones": sorted(time_zones()),
        "has_slack": bool(settings.slack_url),
        "has_mail": has_server(),
        "push_key": public_key(),
        "browsers": _browsers(request),
        "errors": errors or {},
    }
    return render(request, "people/notices.html", context, status=422 if errors else 200)


def _row(kind: NoticeKind, settings: NoticeSettings) -> KindRow:
    chosen = settings.ways.get(kind.value, DEFAULT[kind.value])
    return KindRow(kind.value, str(kind.label), [Cell(way.value, str(way.label), way.value in chosen) for way in Way])


def _browsers(request: HttpRequest) -> list[BrowserRow]:
    return [
        BrowserRow(
            browser=one.browser,
            name=one.name,
            is_here=one.browser == request.session.get(HERE),
            added=format_timestamp(one.created_at),
            sent=format_timestamp(one.sent_at) if one.sent_at else None,
            error=one.error,
        )
        for one in browsers_of(cast(User, request.user))
    ]


def _places(user: User) -> list[Place]:
    """The user's organizations, oldest membership first."""
    found = []
    for organization_id in find_organizations(user_id=user.pk):
        with tenant_tx(organization_id):
            member = Member.objects.select_related("organization").get(user=user)
            found.append(Place(organization_id, member.organization.name))
    return found


def _back(place: Place) -> HttpResponse:
    return redirect(f"{reverse('notice_settings')}?organization={place.id}")
