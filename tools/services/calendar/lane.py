"""The lane that writes bookings to the calendar: `sending` committed → the request → its outcome, one commit (E1, F17).

The ledger's own rules say what an attempt means (`tools.engine.execution.outcome_policy`): a calendar that is away is asked again for a
quarter of an hour, one that refuses is not.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils import timezone

from jobs.enqueue import enqueue
from jobs.failpoints import failpoint
from jobs.fence import prove
from jobs.lanes import ClaimedJob, Lane, Mode, Queue, register
from jobs.models import State
from outbound.errors import BlockedAddress, InvalidRequest, NotSent, OutboundError, Unreadable
from outbound.guard import Response
from projects.common.crypto import WrongSecret
from projects.connections.integrations import Connection, mark_needs_reauth, open_source
from projects.models import Project
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine import ledger
from tools.engine.execution.outcome import Outcome
from tools.engine.execution.outcome_policy import NextStep, may_have_happened, next_attempt_at, next_step
from tools.models import Booking, BookingState, Effect, EffectState
from tools.services.calendar.availability import KIND, calendar_over
from tools.services.calendar.caldav_client import Calendar, SignInRefused, is_refused, refusal_of
from tools.services.calendar.event import event_name, event_of
from tools.services.calendar.event_sync import LANE, WRITTEN_ANEW, catch_up, effect_of, follow, job_of
from tools.services.messaging.base import needs_reauth, refused_sign_in

log = logging.getLogger(__name__)

ADAPTER = "caldav"
GONE = (404, 410)
# It took nothing: for now, or because there is no room left.
BUSY, FULL = (423, 429, 503), (507,)
STATES = {NextStep.DONE: EffectState.DONE, NextStep.FAILED: EffectState.FAILED, NextStep.UNKNOWN: EffectState.UNKNOWN}
NOT_CONNECTED = "No calendar is connected any more."
TO_CONNECT_AGAIN = "The calendar has to be connected again; then its bookings are written to it."
UNREADABLE = "The calendar’s password can’t be read any more; connect it again."


@dataclass(frozen=True)
class SyncContext:
    """One attempt: the booking as it stands, and the calendar."""

    effect: Effect
    booking: Booking
    project: Project
    connection: Connection
    calendar: Calendar

    @property
    def is_written(self) -> bool:
        """Whether its event is to stand in the calendar; else it is taken out."""
        return self.booking.state == BookingState.CONFIRMED

    @property
    def url(self) -> str:
        return self.calendar.url_of(event_name(self.booking))


def register_lane() -> None:
    """Make the lane known to the workers."""
    register(
        Lane(
            name=LANE,
            queue=Queue.WORK,
            mode=Mode.QUEUE,
            handler=run_calendar,
            lock=lock_booking,
            on_failed=fail_calendar,
            on_run_again=write_again,
        )
    )


async def run_calendar(job: ClaimedJob) -> None:
    """One attempt at an effect. What is over, or what a later change has taken the place of, is left."""
    work = await in_db(_begin, job)
    if work is None:
        return
    failpoint("calendar.sending_pre_bytes")
    outcome = await _carry_out(work)
    failpoint("calendar.response_pre_commit")
    await in_db(_settle, job, work, outcome)


def fail_calendar(job: ClaimedJob, reason: str) -> None:
    """The job has failed for good: what was begun may have happened."""
    effect = Effect.objects.get(pk=effect_of(job.key))
    state = EffectState.UNKNOWN if effect.state == EffectState.SENDING else EffectState.FAILED
    ledger.store_outcome(effect, Outcome.failed(reason), state=state)


def write_again(booking_id: UUID, ordinal: int) -> None:
    """Staff runs a failed job again: it is planned anew."""
    follow(Booking.objects.get(pk=booking_id))


def lock_booking(booking_id: UUID) -> None:
    """Lock a booking for what follows in the transaction: before its jobs and its effect, as those who change it do."""
    Booking.objects.select_for_update(no_key=True).filter(pk=booking_id).first()


@contextmanager
def _at_booking(job: ClaimedJob) -> Iterator[Booking]:
    """One transaction of the job, with its booking as it stands until then. Raises Zombie before anything is written."""
    with tenant_tx(job.organization_id):
        lock_booking(job.subject_id)
        prove(job)
        yield Booking.objects.select_related("resource").get(pk=job.subject_id)


def _begin(job: ClaimedJob) -> SyncContext | None:
    with _at_booking(job) as booking:
        effect = Effect.objects.get(pk=effect_of(job.key))
        try:
            connection = _connection(effect, booking)
        except _Over as over:
            if effect.state in ledger.OPEN:
                ledger.store_outcome(effect, Outcome.failed(over.reason), state=over.state)
            prove(job, finish=State.DONE)
            return None
        ledger.begin_sending(effect)
        project = Project.objects.select_related("agent_version").get(pk=booking.project_id)
        return SyncContext(effect, booking, project, connection, calendar_over(connection))


def _connection(effect: Effect, booking: Booking) -> Connection:
    """The calendar that is written to. Raises _Over."""
    if effect.state not in ledger.OPEN:
        raise _Over(EffectState(effect.state), "")
    if booking.calendar_effect_id != effect.pk:
        raise _Over(EffectState.CANCELLED, WRITTEN_ANEW)
    try:
        connection = open_source(booking.project_id, KIND)
    except WrongSecret:
        raise _Over(EffectState.FAILED, UNREADABLE) from None
    if connection is None:
        raise _Over(EffectState.CANCELLED, NOT_CONNECTED)
    if connection.needs_reauth:
        raise _Over(EffectState.FAILED, TO_CONNECT_AGAIN)
    return connection


async def _carry_out(work: SyncContext) -> Outcome:
    method = "PUT" if work.is_written else "DELETE"
    kept: dict[str, Any] = {"request": {"method": method, "event": work.url}, "adapter": ADAPTER}
    try:
        answer = await (_write(work) if work.is_written else work.calendar.delete(event_name(work.booking)))
    except (BlockedAddress, InvalidRequest) as error:
        return Outcome.failed(str(error), **kept)
    except Unreadable as error:
        answer = Response(error.status, {}, b"", truncated=False)
    except NotSent as error:
        return Outcome.not_sent(str(error), **kept)
    except OutboundError as error:
        return Outcome.unknown(str(error), **kept)
    return _outcome(answer, work, {**kept, "http_status": answer.status})


async def _write(work: SyncContext) -> Response:
    """Write the event: over none where it was never written, over its own where an attempt that wasn't heard of did."""
    name, event = event_name(work.booking), event_of(work.booking, work.project, at=timezone.now())
    is_new = work.booking.calendar_url != work.url
    answer = await work.calendar.put(name, event, is_new=is_new)
    if is_new and answer.status == 412:
        return await work.calendar.put(name, event, is_new=False)
    return answer


def _outcome(answer: Response, work: SyncContext, kept: dict[str, Any]) -> Outcome:
    status = answer.status
    if 200 <= status < 300 or (not work.is_written and status in GONE):
        # No agent is told: it has spoken of the booking, which stands whatever becomes of its event.
        return Outcome.done("", **kept)
    if is_refused(answer):
        return refused_sign_in(SignInRefused.__doc__ or "", **kept)
    if status in BUSY:
        return Outcome.not_sent(refusal_of(status), **kept)
    if status >= 500 and status not in FULL:
        return Outcome.unknown(refusal_of(status), **kept)
    return Outcome.failed(refusal_of(status), **kept)


def _settle(job: ClaimedJob, work: SyncContext, outcome: Outcome) -> None:
    effect, now = work.effect, timezone.now()
    with _at_booking(job):
        effect.refresh_from_db()
        course = next_step(effect, outcome, now=now)
        if course is NextStep.AGAIN:
            if ledger.requeue(effect, outcome, is_uncertain=may_have_happened(effect, outcome)):
                due_at = next_attempt_at(effect, outcome, now=now)
                enqueue([job_of(effect, job.subject_id, run_after=due_at)])
        else:
            ledger.store_outcome(effect, outcome, state=STATES[course])
        if needs_reauth(outcome) and mark_needs_reauth(work.connection.source_id, tried=work.connection):
            log.warning("The calendar of project %s has to be connected again.", work.project.pk)
        if course is NextStep.DONE:
            url = work.url if work.is_written else ""
            Booking.objects.filter(pk=job.subject_id).update(calendar_url=url)
            # It answers again: what it missed while it was away is written now.
            catch_up(work.project, unanswered_only=True)
        prove(job, finish=State.DONE)


class _Over(Exception):
    """Nothing is sent: the state that the effect ends in, and why."""

    def __init__(self, state: EffectState, reason: str) -> None:
        super().__init__(reason)
        self.state, self.reason = state, reason
