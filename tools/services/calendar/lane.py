"""The lane that writes bookings to the calendar: commit `sending`, send the request, commit its outcome.

The outcome policy of the ledger applies (`tools.engine.execution.outcome_policy`): an unavailable calendar is retried
for a quarter of an hour, a refusal is final.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from jobs.enqueue import enqueue
from jobs.failpoints import failpoint
from jobs.fence import prove
from jobs.lanes import ClaimedJob, Lane, Mode, Queue
from jobs.models import State
from jobs.outages import until_stored
from outbound.errors import BlockedAddress, InvalidRequest, NotSent, OutboundError, Unreadable
from outbound.guard import Response
from projects.common.crypto import WrongSecret
from projects.connections.integrations import Connection, mark_needs_reauth, open_source
from projects.models import Project
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine import ledger
from tools.engine.execution.effect_run import Change, EffectRun, Start
from tools.engine.execution.outcome import Outcome
from tools.models import AfterAction, Booking, BookingState, Effect, EffectState
from tools.services.calendar.availability import KIND, calendar_client
from tools.services.calendar.caldav_client import Calendar, SignInRefused, describe_status, is_sign_in_refused
from tools.services.calendar.event import build_event, event_name
from tools.services.calendar.event_sync import LANE, SUPERSEDED, catch_up, plan_sync, sync_job
from tools.services.messaging.base import needs_reauth, refused_sign_in

log = logging.getLogger(__name__)

ADAPTER = "caldav"
GONE = (404, 410)
# The server stored nothing: temporarily, or for lack of space.
BUSY, FULL = (423, 429, 503), (507,)
NOT_CONNECTED = "The calendar is no longer connected."
RECONNECT_FIRST = "Connect the calendar again. Its bookings are then written to it."
UNREADABLE = "The calendar’s password can’t be read. Connect it again."


@dataclass(frozen=True)
class SyncContext:
    """One attempt: the current booking and the calendar client."""

    effect: Effect
    booking: Booking
    project: Project
    connection: Connection
    calendar: Calendar

    @property
    def is_written(self) -> bool:
        """True if the event should exist; otherwise it is deleted."""
        return self.booking.state == BookingState.CONFIRMED

    @property
    def url(self) -> str:
        return self.calendar.event_url(event_name(self.booking))


class CalendarRun(EffectRun):
    """The run of a booking's sync. The booking is locked, and nobody is told: the booking is valid regardless."""

    def __init__(self, effect: Effect, booking_id: UUID) -> None:
        super().__init__(effect, now=timezone.now())
        self.booking_id = booking_id

    def rule_input(self) -> None:
        """None: the business's own calendar is concerned, and no customer."""

    def find_repeated(self) -> None:
        """None: writing the same event twice changes nothing."""

    def announce(self, change: Change, *, after_actions: Sequence[AfterAction] = ()) -> None:
        """The booking's page reads the effect."""

    def queue_attempt(self, due_at: datetime) -> None:
        enqueue([sync_job(self.effect, self.booking_id, run_after=due_at)])

    def queue_callback_check(self, due_at: datetime) -> None:
        raise TypeError("A calendar never answers later.")


def calendar_lane() -> Lane:
    """The lane as the workers know it."""
    return Lane(
        name=LANE,
        queue=Queue.WORK,
        mode=Mode.QUEUE,
        handler=run_calendar,
        lock=lock_booking,
        on_failed=fail_calendar,
        on_run_again=write_again,
    )


async def run_calendar(job: ClaimedJob) -> None:
    """Run one attempt at an effect. Does nothing if the effect is finished or replaced by a later one."""
    context = await in_db(_begin, job)
    if context is None:
        return
    failpoint("calendar.sending_pre_bytes")
    outcome = await _execute(context)
    failpoint("calendar.response_pre_commit")
    await until_stored(_settle, job, context, outcome)


def fail_calendar(job: ClaimedJob, reason: str) -> None:
    """Record the job's final failure. An effect in `sending` may have happened, so it becomes unknown."""
    effect = Effect.objects.get(pk=job.cause_id)
    CalendarRun(effect, job.subject_id).fail(reason)


def write_again(booking_id: UUID, ordinal: int) -> None:
    """Plan the sync again when staff reruns a failed job."""
    plan_sync(Booking.objects.get(pk=booking_id))


def lock_booking(booking_id: UUID) -> None:
    """Lock the booking before its jobs and effects, in the order that every writer uses."""
    Booking.objects.select_for_update(no_key=True).filter(pk=booking_id).first()


@contextmanager
def _job_transaction(job: ClaimedJob) -> Iterator[Booking]:
    """Open a transaction with the current, locked booking. Raises LeaseLost before anything is written."""
    with tenant_tx(job.organization_id):
        lock_booking(job.subject_id)
        prove(job)
        yield Booking.objects.select_related("resource").get(pk=job.subject_id)


def _begin(job: ClaimedJob) -> SyncContext | None:
    with _job_transaction(job) as booking:
        effect = Effect.objects.get(pk=job.cause_id)
        run = CalendarRun(effect, booking.pk)
        try:
            connection = _connection(effect, booking)
        except _NothingToSend as over:
            if effect.state in ledger.OPEN:
                run.end(Outcome.failed(over.reason), state=over.state)
            prove(job, finish=State.DONE)
            return None
        if run.begin() is not Start.READY:
            prove(job, finish=State.DONE)
            return None
        project = Project.objects.select_related("agent_version").get(pk=booking.project_id)
        return SyncContext(effect, booking, project, connection, calendar_client(connection))


def _connection(effect: Effect, booking: Booking) -> Connection:
    """Return the calendar's connection. Raises _NothingToSend."""
    if effect.state not in ledger.OPEN:
        raise _NothingToSend(EffectState(effect.state), "")
    if booking.calendar_effect_id != effect.pk:
        raise _NothingToSend(EffectState.CANCELLED, SUPERSEDED)
    try:
        connection = open_source(booking.project_id, KIND)
    except WrongSecret:
        raise _NothingToSend(EffectState.FAILED, UNREADABLE) from None
    if connection is None:
        raise _NothingToSend(EffectState.CANCELLED, NOT_CONNECTED)
    if connection.needs_reauth:
        raise _NothingToSend(EffectState.FAILED, RECONNECT_FIRST)
    return connection


async def _execute(context: SyncContext) -> Outcome:
    method = "PUT" if context.is_written else "DELETE"
    details: dict[str, Any] = {"request": {"method": method, "event": context.url}, "adapter": ADAPTER}
    try:
        answer = await (_write(context) if context.is_written else context.calendar.delete(event_name(context.booking)))
    except (BlockedAddress, InvalidRequest) as error:
        return Outcome.failed(str(error), **details)
    except Unreadable as error:
        answer = Response(error.status, {}, b"", truncated=False)
    except NotSent as error:
        return Outcome.not_sent(str(error), **details)
    except OutboundError as error:
        return Outcome.unknown(str(error), **details)
    return _outcome(answer, context, {**details, "http_status": answer.status})


async def _write(context: SyncContext) -> Response:
    """Write the event. Overwrite only if it was written before, or if an attempt with a lost response created it."""
    name, event = event_name(context.booking), build_event(context.booking, context.project, at=timezone.now())
    is_new = context.booking.calendar_url != context.url
    answer = await context.calendar.put(name, event, is_new=is_new)
    if is_new and answer.status == 412:
        return await context.calendar.put(name, event, is_new=False)
    return answer


def _outcome(answer: Response, context: SyncContext, details: dict[str, Any]) -> Outcome:
    status = answer.status
    if 200 <= status < 300 or (not context.is_written and status in GONE):
        # The agent is not told: it has confirmed the booking, which is valid regardless of the event.
        return Outcome.done("", **details)
    if is_sign_in_refused(answer):
        return refused_sign_in(SignInRefused.__doc__ or "", **details)
    if status in BUSY:
        return Outcome.not_sent(describe_status(status), **details)
    if status >= 500 and status not in FULL:
        return Outcome.unknown(describe_status(status), **details)
    return Outcome.failed(describe_status(status), **details)


def _settle(job: ClaimedJob, context: SyncContext, outcome: Outcome) -> None:
    effect = context.effect
    with _job_transaction(job):
        effect.refresh_from_db()
        CalendarRun(effect, job.subject_id).settle(outcome)
        if needs_reauth(outcome) and mark_needs_reauth(context.connection.source_id, tried=context.connection):
            log.warning("The calendar of project %s has to be connected again.", context.project.pk)
        if effect.state == EffectState.DONE:
            url = context.url if context.is_written else ""
            Booking.objects.filter(pk=job.subject_id).update(calendar_url=url)
            # The calendar is available again, so write what it missed.
            catch_up(context.project, unanswered_only=True)
        prove(job, finish=State.DONE)


class _NothingToSend(Exception):
    """The effect ends without a request, in a given state and for a given reason."""

    def __init__(self, state: EffectState, reason: str) -> None:
        super().__init__(reason)
        self.state, self.reason = state, reason
