"""The browsers in which a person takes push messages: turned on, tested and removed; and their service worker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from notices.models import Send
from notices.push.lane import content_of_test
from notices.push.sending import Receiver, checked_receiver
from notices.push.subscriptions import HERE, add_browser, browser_name, remove_browsers, renew_browser, send_test
from projects.common.api_error import ApiError
from projects.common.crypto import WrongSecret
from projects.models import User

SERVICE_WORKER = Path(settings.STATICFILES_DIRS[0]) / "service-worker.js"
FIELDS = ("endpoint", "p256dh", "auth", "before")


@require_safe
def service_worker(request: HttpRequest) -> HttpResponse:
    """The script that shows push messages. Its scope is the folder of its address: the console's pages."""
    response = HttpResponse(SERVICE_WORKER.read_bytes(), content_type="text/javascript; charset=utf-8")
    response.headers["Cache-Control"] = "no-cache"
    return response


@login_required
@require_POST
def browsers(request: HttpRequest) -> HttpResponse:
    """Turn notifications on in this browser, or renew what it subscribed with, if it names what it was `before`.

    Answers `{"browser": id}`, and an empty id if the browser is not one of the person's.
    """
    user = cast(User, request.user)
    name = browser_name(request.headers.get("User-Agent", ""))
    try:
        posted = _posted(request.body)
        receiver = _receiver(posted)
        if "before" in posted:
            browser = renew_browser(user, receiver, name=name, before=posted["before"])
        else:
            browser = add_browser(user, receiver, name=name)
    except ApiError as error:
        return JsonResponse({"error": error.message, "field": error.field}, status=422)
    if browser is None:
        request.session.pop(HERE, None)
    else:
        request.session[HERE] = browser
    return JsonResponse({"browser": browser or ""})


@login_required
@require_POST
def test(request: HttpRequest, browser: str) -> HttpResponse:
    """Send a test. No transaction is open meanwhile."""
    content = content_of_test(reverse("notice_settings"))
    try:
        result = async_to_sync(send_test)(cast(User, request.user), browser, content)
    except WrongSecret as error:
        messages.error(request, str(error))
        return redirect("notice_settings")
    if result is None:
        raise Http404
    if result.state is Send.SENT:
        messages.success(request, gettext("Sent. Check that it appears in that browser."))
    else:
        messages.error(request, result.error)
    return redirect("notice_settings")


@login_required
@require_POST
def remove(request: HttpRequest, browser: str) -> HttpResponse:
    """Turn notifications off in a browser. Its own page ends the subscription there when it opens next."""
    if not remove_browsers(cast(User, request.user), [browser]):
        raise Http404
    if request.session.get(HERE) == browser:
        del request.session[HERE]
    messages.success(request, gettext("Notifications are off in that browser."))
    return redirect("notice_settings")


def _posted(body: bytes) -> dict[str, str]:
    """Raises ApiError."""
    try:
        posted: Any = json.loads(body)
    except ValueError:
        posted = None
    if not isinstance(posted, dict) or not all(isinstance(posted.get(name, ""), str) for name in FIELDS):
        raise ApiError("invalid_body", gettext("Send a JSON object with an endpoint, p256dh and auth."))
    return posted


def _receiver(posted: dict[str, str]) -> Receiver:
    return checked_receiver(posted.get("endpoint", ""), p256dh=posted.get("p256dh", ""), auth=posted.get("auth", ""))
