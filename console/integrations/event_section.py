"""The event subscriptions on the integrations page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from console.agent.form_fields import FormField
from console.timestamps import Timestamp, format_timestamp
from projects.common.translation import lazy
from projects.models import Project
from tools.engine.events.service import SubscriptionEdit, edit_of, list_subscriptions
from tools.engine.events.subscribers import event_tools, without_subscriber
from tools.models import EventSubscription, SubscriptionTarget

TARGETS = (
    (SubscriptionTarget.ENDPOINT.value, lazy("Your endpoint")),
    (SubscriptionTarget.STREAM.value, lazy("A client that reads the API stream")),
)
FIELDS = ("target", "url", "events")


@dataclass(frozen=True)
class EventTrial:
    """The result of a test event for one subscription."""

    subscription_id: UUID
    is_ok: bool
    sentence: str


@dataclass(frozen=True)
class RefusedSubscription:
    """A refused form: its subscription, None for a new one, with the input and the error of one field."""

    subscription_id: UUID | None
    edit: SubscriptionEdit
    field: str
    error: str
    status: int = 422


@dataclass(frozen=True)
class SubscriptionForm:
    """The form of a subscription."""

    id: str
    target: FormField
    url: FormField
    events: FormField
    is_enabled: bool
    problem: str
    is_open: bool


@dataclass(frozen=True)
class SubscriptionRow:
    """One subscription with its form, and the result of a test event."""

    subscription: EventSubscription
    form: SubscriptionForm
    trial: EventTrial | None
    tried: Timestamp | None

    @property
    def is_stream(self) -> bool:
        return self.subscription.target == SubscriptionTarget.STREAM


@dataclass(frozen=True)
class EventSection:
    """The project's subscriptions, the form for a new one, and the events of its tools that nobody receives."""

    rows: Sequence[SubscriptionRow]
    new: SubscriptionForm
    unheard: Sequence[str]
    known: Sequence[str]
    targets: Sequence[tuple[str, str]] = TARGETS


def event_section(
    project: Project, *, zone: str, refused: RefusedSubscription | None, trial: EventTrial | None
) -> EventSection:
    """Read the section, in the running transaction."""
    known = sorted(event_tools(project.pk))
    rows = [
        SubscriptionRow(
            row,
            _form(str(row.pk), edit_of(row), refused if refused and refused.subscription_id == row.pk else None),
            trial if trial and trial.subscription_id == row.pk else None,
            format_timestamp(row.last_attempt_at, zone=zone) if row.last_attempt_at else None,
        )
        for row in list_subscriptions(project)
    ]
    new = _form("new", SubscriptionEdit(), refused if refused and refused.subscription_id is None else None)
    return EventSection(rows, new, unheard=sorted(without_subscriber(project.pk, known)), known=known)


def _form(id: str, saved: SubscriptionEdit, refused: RefusedSubscription | None) -> SubscriptionForm:
    edit = refused.edit if refused else saved
    errors = {refused.field: refused.error} if refused else {}
    return SubscriptionForm(
        id=f"events-{id}",
        target=FormField("target", edit.target.value, errors.get("target", "")),
        url=FormField("url", edit.url, errors.get("url", "")),
        events=FormField("events", " ".join(edit.events), errors.get("events", "")),
        is_enabled=edit.is_enabled,
        problem=refused.error if refused and refused.field not in FIELDS else "",
        is_open=refused is not None,
    )
