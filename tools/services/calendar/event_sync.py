"""Calendar sync: every change of a booking plans an effect that writes the current booking to the calendar.

An effect does not store the target state; each attempt reads the booking again. So the last of several changes wins in
any order of execution, and writing twice changes nothing.
"""

from __future__ import annotations

from datetime import datetime
from typing import cast
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone

from jobs.enqueue import JobRequest, enqueue
from projects.models import Project, Source
from tenancy.postgresql.prepared import Prepared
from tools.engine import effect_decisions, ledger
from tools.engine.catalogue import BUILT_IN, CompiledTool
from tools.engine.definition import RetryPolicy, ToolDefinition
from tools.engine.execution.handler import Place
from tools.engine.execution.outcome import Outcome
from tools.engine.execution.plan import effect_key, plan_effect
from tools.models import Booking, BookingState, Effect, EffectOrigin, EffectState
from tools.services.calendar.availability import KIND

LANE = "calendar"
# Not in the catalogue: no model calls it and no promise fires it.
TOOL = CompiledTool(
    name="calendar_event",
    origin=BUILT_IN,
    why_not="",
    kind="calendar_event",
    delivery=RetryPolicy.IDEMPOTENT,
    definition=ToolDefinition(
        description="Keeps a booking’s event in the connected calendar as the booking is.",
        use_conversation_history=False,
    ),
)
SUPERSEDED = "Replaced by a later change of the booking."
# Most bookings that one catch-up plans.
MOST = 500
# Statuses of a temporarily unavailable server.
UNAVAILABLE = (423, 429, 500, 502, 503, 504)
NOT_WRITTEN = (EffectState.FAILED, EffectState.CANCELLED, EffectState.UNKNOWN)


# A booking checks for a connected calendar, and a new connection checks for bookings. These locks serialize the two, so
# that neither misses the other. Bookings don't block each other.
_LOCK_SHARED = Prepared("select 1 from pg_advisory_xact_lock_shared(hashtextextended(%s, 0))")
_LOCK_EXCLUSIVE = Prepared("select 1 from pg_advisory_xact_lock(hashtextextended(%s, 0))")


def wait_for_bookings(project: Project) -> None:
    """Wait for running bookings to commit, and block new ones until this transaction ends."""
    _LOCK_EXCLUSIVE(f"calendar:{project.pk}")


def plan_sync(booking: Booking) -> None:
    """Plan the sync of a changed booking in the current transaction.

    Does nothing if no calendar is connected, unless the booking was synced before. In that case the effect ends as not
    written and is retried after a reconnect; otherwise the calendar would keep an outdated event.
    """
    _LOCK_SHARED(f"calendar:{booking.project_id}")
    earlier = booking.calendar_effect_id
    is_connected = Source.objects.filter(project_id=booking.project_id, kind=KIND, is_enabled=True).exists()
    if not is_connected and earlier is None:
        return
    effect = plan_effect(
        TOOL,
        _place(booking),
        origin=EffectOrigin.BOOK,
        key=effect_key(origin=earlier or booking.pk, tool=TOOL.name, step=0, index=0),
        arguments={"booking": booking.code, "event": _change(booking)},
    )
    effect.save(force_insert=True)
    booking.calendar_effect_id = effect.pk
    booking.save(update_fields=["calendar_effect_id"])
    if earlier is not None:
        _supersede(earlier)
    enqueue([sync_job(effect, booking.pk)])


def sync_job(effect: Effect, booking_id: UUID, *, run_after: datetime | None = None) -> JobRequest:
    """Return the job for the effect's next attempt. Jobs of one booking run in sequence."""
    return JobRequest(
        lane=LANE,
        project_id=effect.project_id,
        subject_id=booking_id,
        ordinal=0,
        key=f"{LANE}:{effect.pk}:{effect.attempts}",
        run_after=run_after,
    )


def catch_up(project: Project, *, unanswered_only: bool = False) -> int:
    """Plan the sync of upcoming bookings that the calendar is missing, and return their number.

    `unanswered_only` limits it to those that failed because the calendar was unavailable; refused ones stay refused.
    """
    source = Source.objects.filter(project=project, kind=KIND, is_enabled=True, needs_reauth=False).first()
    if source is None:
        return 0
    rows = (
        unanswered_syncs(project)
        if unanswered_only
        else failed_syncs(project) | _unwritten(project, source.settings["url"])
    )
    # A booking that is being changed right now plans its own sync.
    found = list(rows.select_for_update(no_key=True, of=("self",), skip_locked=True)[:MOST])
    for booking in found:
        plan_sync(booking)
    return len(found)


def failed_syncs(project: Project) -> QuerySet[Booking]:
    """Upcoming bookings whose last change was not written."""
    failed = Effect.objects.filter(project_id=project.pk, kind=TOOL.kind, state__in=NOT_WRITTEN)
    return _upcoming(project).filter(calendar_effect_id__in=failed.values("pk"))


def unanswered_syncs(project: Project) -> QuerySet[Booking]:
    """Upcoming bookings whose last sync failed because the server was unreachable or said so (503)."""
    was_away = Q(http_status=None) | Q(http_status__in=UNAVAILABLE)
    asked = Effect.objects.filter(was_away, project_id=project.pk, kind=TOOL.kind, attempts__gt=0)
    return failed_syncs(project).filter(calendar_effect_id__in=asked.values("pk"))


def _unwritten(project: Project, url: str) -> QuerySet[Booking]:
    """Upcoming bookings without an event in the calendar at this URL."""
    return _upcoming(project).filter(state=BookingState.CONFIRMED).exclude(calendar_url__startswith=url)


def _upcoming(project: Project) -> QuerySet[Booking]:
    return Booking.objects.filter(project_id=project.pk, starts_at__gt=timezone.now()).order_by("starts_at")


def is_calendar_event(effect: Effect) -> bool:
    """Return True if the calendar lane executes the effect."""
    return effect.kind == TOOL.kind and effect.origin == EffectOrigin.BOOK


def resolve(effect: Effect, *, happened: bool, by: UUID | None) -> Effect:
    """Record whether the calendar matches the booking, as staff found. If not, write it again. Raises WrongState."""
    if happened:
        effect_decisions.confirm(effect, by=by)
        return effect
    effect_decisions.send_again(effect, by=by)
    booking = Booking.objects.filter(calendar_effect_id=effect.pk).first()
    if booking is None:
        ledger.cancel(effect, reason=SUPERSEDED)
    else:
        enqueue([sync_job(effect, booking.pk)])
    return effect


def _supersede(effect_id: UUID) -> None:
    """Cancel an earlier effect that this one replaces. One that is being sent detects this by itself."""
    effect = Effect.objects.get(pk=effect_id)
    if effect.state == EffectState.UNKNOWN:
        ledger.store_outcome(effect, Outcome.failed(SUPERSEDED), state=EffectState.CANCELLED)
    else:
        ledger.cancel(effect, reason=SUPERSEDED)


def _place(booking: Booking) -> Place:
    """The place of a change in the booking book: no conversation and no channel."""
    return Place(
        organization_id=cast(UUID, booking.organization_id),
        project_id=booking.project_id,
        conversation_id=None,
        turn_id=None,
        channel="",
        timezone="UTC",
        at=timezone.now(),
        contact=None,
    )


def _change(booking: Booking) -> str:
    return "written" if booking.state == BookingState.CONFIRMED else "taken out"
