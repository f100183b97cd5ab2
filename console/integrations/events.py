"""Forms of the event subscriptions on the integrations page."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from console.agent.page import tab_url
from console.integrations.event_section import EventTrial, RefusedSubscription
from console.integrations.views import EVENT_SECRET, TAB, show_page
from console.people.one_time_secrets import keep_once
from console.restorations import snapshot_of
from console.undo import announce_undoable
from projects.common.api_error import ApiError
from projects.common.stored_sentences import translated
from projects.common.translation import lazy
from projects.models import User
from projects.models.key import Scope
from projects.models.permissions import Entry, enter_project
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.events import service
from tools.engine.events.service import SavedSubscription, SubscriptionEdit
from tools.engine.events.trial import TrialDelivery, TrialEvent, prepare_test, send_test_event
from tools.models import DeliveryState, SubscriptionTarget

SEPARATORS = re.compile(r"[\s,]+")
SENTENCES = {
    DeliveryState.ACKNOWLEDGED: lazy("The endpoint acknowledged the test event ({status})."),
    DeliveryState.ACCEPTED: lazy("The endpoint accepted the test event (202). It acknowledges events later."),
}


@login_required
@require_POST
def add(request: HttpRequest, project_slug: str) -> HttpResponse:
    """Add a subscription. The secret of an endpoint is shown once, on the next page."""
    entry = _entry(request, project_slug)
    return _save(request, entry, None, lambda edit: service.add_subscription(entry.project, edit))


@login_required
@require_POST
def change(request: HttpRequest, project_slug: str, subscription_id: UUID) -> HttpResponse:
    """Change a subscription."""
    entry = _entry(request, project_slug)
    return _save(
        request, entry, subscription_id, lambda edit: service.change_subscription(entry.project, subscription_id, edit)
    )


@login_required
@require_POST
def remove(request: HttpRequest, project_slug: str, subscription_id: UUID) -> HttpResponse:
    """Remove a subscription."""
    entry = _entry(request, project_slug)
    with tenant_tx(entry.project.organization.pk):
        kept = snapshot_of(service.get_subscription(entry.project, subscription_id))
        service.remove_subscription(entry.project, subscription_id)
    announce_undoable(request, entry, gettext("Subscription removed."), kind="subscription", kept=kept)
    return redirect(tab_url(project_slug, TAB))


@login_required
@require_POST
def new_secret(request: HttpRequest, project_slug: str, subscription_id: UUID) -> HttpResponse:
    """Create a new signing secret, shown once on the next page."""
    entry = _entry(request, project_slug)
    try:
        with tenant_tx(entry.project.organization.pk):
            secret = service.rotate_secret(entry.project, subscription_id)
    except ApiError as error:
        return show_page(request, entry, event_trial=EventTrial(subscription_id, is_ok=False, sentence=error.message))
    keep_once(request, EVENT_SECRET, secret, organization_id=entry.project.organization.pk)
    return redirect(tab_url(project_slug, TAB))


@login_required
async def test(request: HttpRequest, project_slug: str, subscription_id: UUID) -> HttpResponseBase:
    """Send a test event and report the result. No transaction is open during the test."""
    user = cast(User, await request.auser())
    entry = await in_db(enter_project, user, project_slug, verb=Scope.CONFIGURE, is_developer=True)
    if request.method != "POST":
        return redirect(tab_url(project_slug, TAB))
    delivery = await send_test_event(await in_db(_prepare, entry, subscription_id))
    trial = _trial(subscription_id, delivery)
    if request.headers.get("Accept") == "application/json":
        return JsonResponse({"ok": trial.is_ok, "sentence": trial.sentence})
    return await in_db(show_page, request, entry, event_trial=trial)


def _entry(request: HttpRequest, project_slug: str) -> Entry:
    return enter_project(cast(User, request.user), project_slug, verb=Scope.CONFIGURE, is_developer=True)


def _prepare(entry: Entry, subscription_id: UUID) -> TrialEvent:
    with tenant_tx(entry.project.organization.pk):
        return prepare_test(service.get_subscription(entry.project, subscription_id))


def _save(
    request: HttpRequest,
    entry: Entry,
    subscription_id: UUID | None,
    save: Callable[[SubscriptionEdit], SavedSubscription],
) -> HttpResponse:
    edit = _read_edit(request)
    try:
        with tenant_tx(entry.project.organization.pk):
            saved = save(edit)
    except ApiError as error:
        refused = RefusedSubscription(subscription_id, edit, error.field or "", error.message)
        return show_page(request, entry, refused=refused)
    if saved.secret:
        keep_once(request, EVENT_SECRET, saved.secret, organization_id=entry.project.organization.pk)
    messages.success(request, gettext("Subscription saved."))
    return redirect(tab_url(entry.project.slug, TAB))


def _read_edit(request: HttpRequest) -> SubscriptionEdit:
    """The submitted form. The URL of a client of the stream is dropped: the form always has the field."""
    target = request.POST.get("target", "")
    is_stream = target == SubscriptionTarget.STREAM
    return SubscriptionEdit(
        target=SubscriptionTarget.STREAM if is_stream else SubscriptionTarget.ENDPOINT,
        url="" if is_stream else request.POST.get("url", "").strip()[:2000],
        events=tuple(one for one in SEPARATORS.split(request.POST.get("events", "")[:4000]) if one),
        is_enabled="is_enabled" in request.POST,
    )


def _trial(subscription_id: UUID, delivery: TrialDelivery) -> EventTrial:
    if delivery.state is DeliveryState.FAILED:
        return EventTrial(subscription_id, is_ok=False, sentence=translated(delivery.error))
    sentence = SENTENCES[delivery.state].format(status=delivery.http_status)
    return EventTrial(subscription_id, is_ok=True, sentence=sentence)
