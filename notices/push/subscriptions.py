"""The browsers in which a person takes push messages: one row for each of their organizations."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest
from django.utils.translation import gettext

from notices.models import NoticeKind, NoticeSettings, PushSubscription, Send, Way
from notices.preferences import DEFAULT, EMAILED
from notices.push.sending import Content, PushResult, Receiver, opened, send
from projects.common.api_error import ApiError
from projects.models import Member, User
from tenancy.scope import tenant_tx
from tenancy.tenant_lookup import find_organizations

MOST_BROWSERS = 10
# The session's key for the browser that it is in.
HERE = "push_browser"
# By a mark of the User-Agent header. The first that is found names the browser: most claim to be others as well.
BROWSERS = {
    "Edg": "Edge",
    "OPR": "Opera",
    "SamsungBrowser": "Samsung Internet",
    "Firefox": "Firefox",
    "FxiOS": "Firefox",
    "CriOS": "Chrome",
    "Chrome": "Chrome",
    "Safari": "Safari",
}
SYSTEMS = {
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Android": "Android",
    "Windows": "Windows",
    "Mac OS": "macOS",
    "CrOS": "ChromeOS",
    "Linux": "Linux",
}


@dataclass(frozen=True)
class PersonsBrowser:
    """A browser of a person. `sent_at` is the time of the last message to it."""

    browser: str
    name: str
    created_at: datetime
    sent_at: datetime | None
    error: str


def browser_of(endpoint: str) -> str:
    """The name by which rows know a browser: the digest of its endpoint."""
    return hashlib.sha256(endpoint.encode()).hexdigest()


def browser_name(user_agent: str) -> str:
    """A name such as `Firefox (Linux)` from a User-Agent header."""
    browser = next((name for mark, name in BROWSERS.items() if f"{mark}/" in user_agent), gettext("Browser"))
    system = next((name for mark, name in SYSTEMS.items() if mark in user_agent), "")
    return f"{browser} ({system})" if system else browser


def add_browser(user: User, receiver: Receiver, *, name: str) -> str:
    """Take push messages in a browser, in each of the person's organizations. Returns the browser.

    The first one is also chosen as a way for the kinds that are e-mailed by default, unless another kind has it.
    Raises ApiError.
    """
    browser = browser_of(receiver.endpoint)
    for organization_id in find_organizations(user_id=user.pk):
        with tenant_tx(organization_id):
            # Two browsers of one person at once: the limit holds.
            member = Member.objects.select_for_update(no_key=True).get(user=user)
            others = PushSubscription.objects.filter(member=member).exclude(browser=browser)
            if others.count() >= MOST_BROWSERS:
                sentence = gettext("Notifications are on in %(number)s browsers. Remove one first.")
                raise ApiError("too_many_browsers", sentence % {"number": MOST_BROWSERS})
            if not others.exists():
                _choose_browser(member)
            _store(member, organization_id, receiver, name=name)
    return browser


def renew_browser(user: User, receiver: Receiver, *, name: str, before: str) -> str | None:
    """Store the new subscription of a browser. `before` is the id that the browser was known by.

    Returns None if it isn't one of the person's: it was removed elsewhere, or belongs to somebody who signed in before.
    """
    browser = browser_of(receiver.endpoint)
    if not {before, browser} & {known.browser for known in browsers_of(user)}:
        return None
    if before and before != browser:
        remove_browsers(user, [before])
    return add_browser(user, receiver, name=name)


def browsers_of(user: User) -> list[PersonsBrowser]:
    """The person's browsers over all of their organizations, oldest first."""
    found: dict[str, PersonsBrowser] = {}
    for organization_id in find_organizations(user_id=user.pk):
        with tenant_tx(organization_id):
            for row in _rows(user).order_by("created_at"):
                one = PersonsBrowser(row.browser, row.name, row.created_at, row.sent_at, row.error)
                found[row.browser] = _merged(found.get(row.browser, one), one)
    return sorted(found.values(), key=lambda one: one.created_at)


def remove_browsers(user: User, browsers: Sequence[str]) -> int:
    """Send nothing more to these browsers of a person. Returns the number of rows that were deleted."""
    removed = 0
    for organization_id in find_organizations(user_id=user.pk):
        with tenant_tx(organization_id):
            removed += _rows(user).filter(browser__in=browsers).delete()[0]
    return removed


async def send_test(user: User, browser: str, content: Content) -> PushResult | None:
    """Send one message to a browser of the person now. Returns None if it isn't theirs."""
    receiver = await sync_to_async(_receiver)(user, browser)
    if receiver is None:
        return None
    result = await send(receiver, content)
    await sync_to_async(_note_test)(user, browser, result)
    return result


def forget_session(request: HttpRequest | None, user: User | None) -> None:
    """Remove the browser of a session that ends."""
    browser = request.session.get(HERE) if request is not None and hasattr(request, "session") else None
    if user is not None and browser:
        remove_browsers(user, [browser])


def forget_others(request: HttpRequest | None, user: User) -> None:
    """Remove all browsers but that of the request, when a new password signs them out."""
    here = request.session.get(HERE) if request is not None and hasattr(request, "session") else None
    remove_browsers(user, [known.browser for known in browsers_of(user) if known.browser != here])


def _rows(user: User) -> QuerySet[PushSubscription]:
    return PushSubscription.objects.filter(member__user=user)


def _receiver(user: User, browser: str) -> Receiver | None:
    """Raises WrongSecret."""
    for organization_id in find_organizations(user_id=user.pk):
        with tenant_tx(organization_id):
            row = _rows(user).filter(browser=browser).first()
            if row is not None:
                return opened(row.secret, organization_id=organization_id)
    return None


def _note_test(user: User, browser: str, result: PushResult) -> None:
    if result.is_gone:
        remove_browsers(user, [browser])
        return
    for organization_id in find_organizations(user_id=user.pk):
        with tenant_tx(organization_id):
            rows = _rows(user).filter(browser=browser)
            rows.update(error=result.error[:300])
            if result.state is Send.SENT:
                rows.update(sent_at=Now())


def _store(member: Member, organization_id: UUID, receiver: Receiver, *, name: str) -> None:
    PushSubscription.objects.update_or_create(
        member=member,
        browser=browser_of(receiver.endpoint),
        defaults={
            "secret": receiver.sealed(organization_id=organization_id),
            "name": name[:60],
            "error": "",
            "failures": 0,
            "retry_at": None,
        },
    )


def _choose_browser(member: Member) -> None:
    settings = NoticeSettings.objects.filter(member=member).first() or NoticeSettings(member=member)
    chosen = {kind: settings.ways.get(kind, sorted(DEFAULT[kind])) for kind in NoticeKind.values}
    if any(Way.BROWSER in ways for ways in chosen.values()):
        return
    for kind in EMAILED:
        chosen[kind] = [way.value for way in Way if way in {*chosen[kind], Way.BROWSER}]
    settings.ways = {kind: ways for kind, ways in chosen.items() if set(ways) != DEFAULT[kind]}
    settings.save()


def _merged(one: PersonsBrowser, other: PersonsBrowser) -> PersonsBrowser:
    """The latest of a browser's rows, with an error of any of them."""
    times = [row.sent_at for row in (one, other) if row.sent_at is not None]
    return PersonsBrowser(one.browser, one.name, one.created_at, max(times, default=None), one.error or other.error)
