"""Changes of event subscriptions. They take effect with the next event."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import cast
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404
from django.utils.translation import gettext

from projects.common import crypto
from projects.common.api_error import ApiError, Conflict, Unprocessable
from projects.common.translation import lazy
from projects.models import Project
from projects.models.organization import lock_project
from tools.engine.events.subscribers import read_signing, secrets_field
from tools.engine.registry import builtin_tools
from tools.engine.signing_secrets import StoredSecret, rotated
from tools.engine.validation.names import NAME, RESERVED_EVENTS
from tools.engine.validation.options import url_problems
from tools.models import EventSubscription, SubscriptionTarget

MAX_SUBSCRIPTIONS = 20
NO_URL = lazy("A client of the API's stream has no URL; remove it, or choose the target endpoint.")
UNSIGNED = lazy("Only an endpoint has a signing secret; this subscription is read from the API's stream.")
BUILT_IN = lazy("{event} is handled by Makegood itself. Subscribe to the events of your own tools.")
RESERVED = lazy("{event} is a system event of Makegood. Subscribe to the events of your own tools.")
MALFORMED = lazy("{event} is no name of an event. Use a letter, then letters, digits, _ or -, at most 64 characters.")


@dataclass(frozen=True)
class SubscriptionEdit:
    """The content of a subscription. Empty `events` mean all events without a subscriber of their own."""

    target: SubscriptionTarget = SubscriptionTarget.ENDPOINT
    url: str = ""
    events: Sequence[str] = ()
    is_enabled: bool = True


@dataclass(frozen=True)
class SavedSubscription:
    """A saved subscription. `secret` is set only when its endpoint gets its first one."""

    row: EventSubscription
    secret: str | None = None


class EventTaken(Conflict):
    """Another subscription receives this event already."""

    def __init__(self, event: str) -> None:
        sentence = (
            gettext("Another subscription is for the event %(event)s already. Change or disable that one.")
            if event
            else gettext("Another subscription is for all events already. Change or disable that one.")
        )
        super().__init__(sentence % {"event": event}, code="event_taken", field="events")


def list_subscriptions(project: Project) -> QuerySet[EventSubscription]:
    """The project's subscriptions, oldest first."""
    return EventSubscription.objects.filter(project=project).order_by("created_at", "id")


def get_subscription(project: Project, subscription_id: UUID) -> EventSubscription:
    """A subscription of the project. Raises Http404."""
    row = list_subscriptions(project).filter(pk=subscription_id).first()
    if row is None:
        raise Http404
    return row


def add_subscription(project: Project, edit: SubscriptionEdit) -> SavedSubscription:
    """Add a subscription. Raises ApiError for invalid content, EventTaken. Concurrent saves are serialized."""
    lock_project(project.pk)
    _require_room(project)
    return _save(EventSubscription(project=project), edit)


def change_subscription(project: Project, subscription_id: UUID, edit: SubscriptionEdit) -> SavedSubscription:
    """Replace a subscription's content. Raises Http404, ApiError, EventTaken. Concurrent saves are serialized."""
    lock_project(project.pk)
    return _save(get_subscription(project, subscription_id), edit)


def remove_subscription(project: Project, subscription_id: UUID) -> None:
    """Delete a subscription. Raises Http404."""
    get_subscription(project, subscription_id).delete()


def restore_subscription(subscription: EventSubscription) -> None:
    """Store a subscription again that has just been removed, as it was. Raises EventTaken, and Conflict at the limit."""
    project = subscription.project
    lock_project(project.pk)
    _require_room(project)
    _require_untaken(subscription, edit_of(subscription))
    # Raw: it keeps its times.
    subscription.save_base(raw=True, force_insert=True)


def rotate_secret(project: Project, subscription_id: UUID) -> str:
    """Create a new signing secret, to be shown once. The previous one stays valid for a day. Raises Http404, ApiError."""
    lock_project(project.pk)
    row = get_subscription(project, subscription_id)
    if row.target != SubscriptionTarget.ENDPOINT:
        raise Conflict(UNSIGNED, code="no_secret")
    return _new_secret(row)


def edit_of(row: EventSubscription) -> SubscriptionEdit:
    """The content of a stored subscription."""
    return SubscriptionEdit(SubscriptionTarget(row.target), row.url, tuple(row.events), row.is_enabled)


def _require_room(project: Project) -> None:
    if (count := list_subscriptions(project).count()) >= MAX_SUBSCRIPTIONS:
        raise Conflict(
            gettext("The project has %(count)s subscriptions; the limit is %(max_subscriptions)s.")
            % {"count": count, "max_subscriptions": MAX_SUBSCRIPTIONS},
            code="too_many",
        )


def _save(row: EventSubscription, edit: SubscriptionEdit) -> SavedSubscription:
    for problem in _problems(edit):
        raise problem
    _require_untaken(row, edit)
    is_endpoint = edit.target is SubscriptionTarget.ENDPOINT
    row.target, row.url, row.is_enabled = edit.target, edit.url if is_endpoint else "", edit.is_enabled
    row.events = list(dict.fromkeys(edit.events))
    if not is_endpoint:
        row.secrets = ""
    row.save()
    return SavedSubscription(row, secret=_new_secret(row) if is_endpoint and not row.secrets else None)


def _problems(edit: SubscriptionEdit) -> Iterator[ApiError]:
    if edit.target is SubscriptionTarget.ENDPOINT:
        yield from (Unprocessable("invalid", one.message, field="url") for one in url_problems(edit.url, path="url"))
    elif edit.url:
        yield Unprocessable("invalid", NO_URL, field="url")
    for event in edit.events:
        if why_not := _why_not(event):
            yield Unprocessable("invalid", why_not.format(event=event[:80]), field="events")


def _why_not(event: str) -> str:
    """The reason why nobody can subscribe to an event, or ""."""
    if event in builtin_tools():
        return BUILT_IN
    if event in RESERVED_EVENTS:
        return RESERVED
    return "" if NAME.fullmatch(event) else MALFORMED


def _require_untaken(row: EventSubscription, edit: SubscriptionEdit) -> None:
    """Raise EventTaken if another enabled subscription is for one of the same events, or for all as this one."""
    if not edit.is_enabled:
        return
    others = list_subscriptions(row.project).filter(is_enabled=True).exclude(pk=row.pk)
    for events in others.values_list("events", flat=True):
        if not events and not edit.events:
            raise EventTaken("")
        if both := sorted({*events} & {*edit.events}):
            raise EventTaken(both[0])


def _new_secret(row: EventSubscription) -> str:
    stored: list[StoredSecret] = []
    with suppress(crypto.WrongSecret):  # a new secret replaces those that can't be decrypted
        stored = read_signing(row)
    signing = rotated(stored)
    organization_id = cast(UUID, row.organization_id)
    row.secrets = crypto.encrypt(json.dumps(signing), organization_id=organization_id, field=secrets_field(row))
    EventSubscription.objects.filter(pk=row.pk).update(secrets=row.secrets)
    return signing[0]["secret"]
