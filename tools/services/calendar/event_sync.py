"""The calendar follows the book: each change of a booking plans an effect that writes its event as it stands then.

An effect says what the calendar is to know, and never what it is to become: whoever carries it out reads the booking anew. So
of several changes the last one is written, in whatever order they are carried out, and writing it twice changes nothing.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone

from jobs.enqueue import JobRequest, enqueue
from projects.models import Project, Source
from tenancy.postgresql.prepared import Prepared
from tools.engine import effect_decisions, ledger
from tools.engine.definition import RetryPolicy, ToolDefinition
from tools.engine.execution.outcome import Outcome
from tools.models import Booking, BookingState, Effect, EffectOrigin, EffectState
from tools.services.calendar.availability import KIND

LANE = "calendar"
TOOL = "calendar_event"
DEFINITION = ToolDefinition(
    description="Keeps a booking’s event in the connected calendar as the booking is.", use_conversation_history=False
)
WRITTEN_ANEW = "A later change of the booking is written in its place."
# More bookings than these are not caught up with at once.
MOST = 500
# The answers of a server that can't just now.
AWAY = (423, 429, 500, 502, 503, 504)
AGAIN = (EffectState.FAILED, EffectState.CANCELLED, EffectState.UNKNOWN)


# Whoever books looks whether a calendar is connected, and whoever connects one looks what is booked: each sees what the other
# has done, because they do it one after the other. Those who book don't wait for each other.
_BOOKS = Prepared("select 1 from pg_advisory_xact_lock_shared(hashtextextended(%s, 0))")
_CONNECTS = Prepared("select 1 from pg_advisory_xact_lock(hashtextextended(%s, 0))")


def wait_for_bookings(project: Project) -> None:
    """Let those who are booking at this moment commit, and those who come after wait for the end of this transaction."""
    _CONNECTS(f"calendar:{project.pk}")


def follow(booking: Booking) -> None:
    """Plan that the calendar follows what has become of a booking, in the running transaction; nothing without a calendar.

    What a calendar was told of before is planned while none is connected too. It ends as not written, and is caught up with
    when one is connected again: else the event would stand there for good as the booking was.
    """
    _BOOKS(f"calendar:{booking.project_id}")
    earlier = booking.calendar_effect_id
    is_connected = Source.objects.filter(project_id=booking.project_id, kind=KIND, is_enabled=True).exists()
    if not is_connected and earlier is None:
        return
    effect = Effect.objects.create(
        project_id=booking.project_id,
        origin=EffectOrigin.BOOK,
        effect_key=ledger.effect_key(origin=earlier or booking.pk, tool=TOOL, step=0, index=0),
        tool=TOOL,
        tool_origin="built-in",
        kind=TOOL,
        delivery=RetryPolicy.IDEMPOTENT,
        definition=DEFINITION.model_dump(mode="json", by_alias=True),
        arguments={"booking": booking.code, "event": _what(booking)},
        arranged_at=timezone.now(),
    )
    booking.calendar_effect_id = effect.pk
    booking.save(update_fields=["calendar_effect_id"])
    if earlier is not None:
        _close(earlier)
    enqueue([job_of(effect, booking.pk)])


def job_of(effect: Effect, booking_id: UUID, *, run_after: datetime | None = None) -> JobRequest:
    """The job of an effect's next attempt; those of one booking run one after the other."""
    return JobRequest(
        lane=LANE,
        project_id=effect.project_id,
        subject_id=booking_id,
        ordinal=0,
        key=f"{LANE}:{effect.pk}:{effect.attempts}",
        run_after=run_after,
    )


def effect_of(key: str) -> UUID:
    """The effect that a job of `job_of` is about."""
    return UUID(key.split(":")[1])


def catch_up(project: Project, *, unanswered_only: bool = False) -> int:
    """Plan what the calendar doesn't know of the bookings to come: it was connected after them, or couldn't be written to.

    `unanswered_only`: what it never answered to, because it was away; what it refused stays refused.
    """
    source = Source.objects.filter(project=project, kind=KIND, is_enabled=True, needs_reauth=False).first()
    if source is None:
        return 0
    rows = unanswered(project) if unanswered_only else refused(project) | _unwritten(project, source.settings["url"])
    # Whoever changes one of them at this moment plans the same.
    found = list(rows.select_for_update(no_key=True, of=("self",), skip_locked=True)[:MOST])
    for booking in found:
        follow(booking)
    return len(found)


def refused(project: Project) -> QuerySet[Booking]:
    """The bookings to come whose last change the calendar has not taken."""
    failed = Effect.objects.filter(project_id=project.pk, kind=TOOL, state__in=AGAIN)
    return _coming(project).filter(calendar_effect_id__in=failed.values("pk"))


def unanswered(project: Project) -> QuerySet[Booking]:
    """Those of them for which it was away, by its silence or by its own word."""
    was_away = Q(http_status=None) | Q(http_status__in=AWAY)
    asked = Effect.objects.filter(was_away, project_id=project.pk, kind=TOOL, attempts__gt=0)
    return refused(project).filter(calendar_effect_id__in=asked.values("pk"))


def _unwritten(project: Project, url: str) -> QuerySet[Booking]:
    """The bookings to come whose event doesn't stand in the calendar at this address."""
    return _coming(project).filter(state=BookingState.CONFIRMED).exclude(calendar_url__startswith=url)


def _coming(project: Project) -> QuerySet[Booking]:
    return Booking.objects.filter(project_id=project.pk, starts_at__gt=timezone.now()).order_by("starts_at")


def is_calendar_event(effect: Effect) -> bool:
    """Whether the calendar's own lane carries the effect out."""
    return effect.kind == TOOL and effect.origin == EffectOrigin.BOOK


def resolve(effect: Effect, *, happened: bool, by: UUID | None) -> Effect:
    """Staff has looked whether the calendar is as the booking is. If not, it is written again. Raises WrongState."""
    if happened:
        effect_decisions.confirm(effect, by=by)
        return effect
    effect_decisions.send_again(effect, by=by)
    booking = Booking.objects.filter(calendar_effect_id=effect.pk).first()
    if booking is None:
        ledger.cancel(effect, reason=WRITTEN_ANEW)
    else:
        enqueue([job_of(effect, booking.pk)])
    return effect


def _close(effect_id: UUID) -> None:
    """An earlier change needs no writing any more; one that is under way sees it for itself."""
    effect = Effect.objects.get(pk=effect_id)
    if effect.state == EffectState.UNKNOWN:
        ledger.store_outcome(effect, Outcome.failed(WRITTEN_ANEW), state=EffectState.CANCELLED)
    else:
        ledger.cancel(effect, reason=WRITTEN_ANEW)


def _what(booking: Booking) -> str:
    return "written" if booking.state == BookingState.CONFIRMED else "taken out"
