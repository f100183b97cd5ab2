"""The keeper of a call: one job that answers it and holds its control connection until it is over.

If its worker dies, another one takes the call over: it connects again, gives the model the results that it may not
have, and goes on. What was said meanwhile is marked as missing. A call that ended meanwhile is left to staff.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from conversations.calls.account import note_refused_key
from conversations.calls.browser import create_call, find_problem
from conversations.calls.control import CallControl
from conversations.calls.relay.waiting import find_relayed, wait_for_caller
from conversations.calls.store import (
    KeptCall,
    close_unkept,
    load_call,
    mark_cut_off,
    move,
    note_gap,
    open_voice,
    report,
)
from conversations.models import CallState
from conversations.voice.reports import Report, ReportType
from jobs.errors import GiveUp, TryLater
from jobs.failpoints import failpoint
from jobs.lanes import ClaimedJob
from llm.realtime import CallGone, KeyRefused, ProviderUnavailable, VerbRefused
from tenancy.threads import in_db

logger = logging.getLogger(__name__)

RETRY_SECONDS = 1.0
BUSY = 486
CALLER_LEFT = "The caller hung up before the call was answered."


async def run_call(job: ClaimedJob) -> None:
    """Keep one call until it is over. Raises GiveUp if it can't be kept, TryLater if the provider can't be reached."""
    if (call := await in_db(find_relayed, job)) is not None:
        await wait_for_caller(job, call)
        return
    kept = await in_db(load_call, job)
    if kept is None:
        await in_db(close_unkept, job)
        return
    if isinstance(kept, str):
        raise GiveUp(kept)
    try:
        if kept.refusal:
            await _turn_away(job, kept)
        else:
            await _keep(job, kept)
    except CallGone:
        await _end_without_us(job, kept)
    except ProviderUnavailable as error:
        raise TryLater(str(error), delay_seconds=RETRY_SECONDS) from None


async def _keep(job: ClaimedJob, kept: KeptCall) -> None:
    is_taken_over = kept.state == CallState.LIVE
    if is_taken_over:
        await in_db(note_gap, job, kept)
    elif (answered := await (_answer_browser(job, kept) if kept.is_web else _answer(job, kept))) is None:
        return
    else:
        kept = answered
    async with kept.provider.control(kept.external_id) as connection:
        failpoint("call.connected")
        control = CallControl(job, kept, connection)
        await control.run(is_taken_over=is_taken_over)
        await control.report_rest()
        is_lost = control.stop is None and not connection.is_closed_by_call
    if is_lost:
        raise ProviderUnavailable("The control connection was lost.")
    if control.stop is not None:
        await _obey(job, kept, control.stop)
    else:
        await _finish(job, kept, CallState.ENDED)


async def _end_without_us(job: ClaimedJob, kept: KeptCall) -> None:
    """The caller hung up before the call was answered, or while nobody held it. Then its session can't be read back."""
    if kept.state == CallState.RINGING:
        await _finish(job, kept, CallState.ENDED, reason=CALLER_LEFT)
        return
    await in_db(mark_cut_off, job, kept)
    await _finish(job, kept, CallState.ENDED)


async def _answer(job: ClaimedJob, kept: KeptCall) -> KeptCall | None:
    """Accept the call; None if the provider refuses. After a crash it may have been accepted already, which the
    provider says with a refusal.
    """
    await in_db(move, job, kept, CallState.ANSWERING)
    failpoint("call.answering")
    try:
        await kept.provider.accept(kept.external_id, kept.session.config)
    except VerbRefused as refusal:
        if kept.state != CallState.ANSWERING:
            await _fail(job, kept, refusal)
            return None
    failpoint("call.accepted")
    await in_db(open_voice, job, kept)
    return kept


async def _answer_browser(job: ClaimedJob, kept: KeptCall) -> KeptCall | None:
    """Connect the browser with the provider; None if they don't get through to each other.

    After a crash the provider may know the browser's call already. It is created again: without audio, the first one
    ends by itself.
    """
    if kept.offer:
        await in_db(move, job, kept, CallState.ANSWERING)
        failpoint("call.answering")
        try:
            kept = await create_call(job, kept)
        except VerbRefused as refusal:
            await _fail(job, kept, refusal)
            return None
    problem = await find_problem(job, kept)
    if problem is not None:
        await _hang_up(kept)
        await _finish(job, kept, problem.state, reason=problem.reason)
        return None
    await in_db(open_voice, job, kept)
    return kept


async def _turn_away(job: ClaimedJob, kept: KeptCall) -> None:
    """Refer the call to the fallback number, or reject it. A browser shows the number; the provider doesn't know the
    call yet.
    """
    if kept.is_web:
        state = CallState.TRANSFERRED if kept.fallback else CallState.REJECTED
        await _finish(job, kept, state, reason=kept.refusal, number=kept.fallback)
        return
    if not kept.fallback:
        await kept.provider.reject(kept.external_id, status_code=BUSY)
        await _finish(job, kept, CallState.REJECTED, reason=kept.refusal)
        return
    try:
        await kept.provider.accept(
            kept.external_id, kept.session.config | {"tools": [], "instructions": "Say nothing."}
        )
        await kept.provider.refer(kept.external_id, number=kept.fallback)
    except VerbRefused as refusal:
        await _fail(job, kept, refusal)
        return
    await _finish(job, kept, CallState.TRANSFERRED, reason=kept.refusal, number=kept.fallback)


async def _obey(job: ClaimedJob, kept: KeptCall, stop: Mapping[str, str]) -> None:
    """Transfer the call, or hang up."""
    number = stop.get("number", "")
    if stop["code"] == "transferred" and number and kept.is_web:
        # A browser can't be put through: it shows the number.
        await _hang_up(kept)
        await _finish(job, kept, CallState.TRANSFERRED, number=number)
        return
    if stop["code"] == "transferred" and number:
        failpoint("call.transferring")
        try:
            await kept.provider.refer(kept.external_id, number=number)
        except CallGone:
            await _finish(job, kept, CallState.ENDED)
            return
        except VerbRefused as refusal:
            await _hang_up(kept)
            await _finish(job, kept, CallState.FAILED, reason=f"The transfer to {number} failed. {refusal}")
            return
        await _finish(job, kept, CallState.TRANSFERRED, number=number)
        return
    await _hang_up(kept)
    await _finish(job, kept, CallState.ENDED)


async def _hang_up(kept: KeptCall) -> None:
    if kept.offer:
        # The provider never heard of it.
        return
    try:
        await kept.provider.hangup(kept.external_id)
    except CallGone:
        pass
    except VerbRefused as refusal:
        logger.warning("The call %s could not be ended: %s", kept.call_id, refusal)


async def _fail(job: ClaimedJob, kept: KeptCall, refusal: VerbRefused) -> None:
    """End a call that the provider refuses. Staff must connect the channel again if it refuses the key."""
    if isinstance(refusal, KeyRefused):
        await in_db(note_refused_key, job, kept.project_id, api_key=kept.provider.api_key)
    await _finish(job, kept, CallState.FAILED, reason=str(refusal))


async def _finish(job: ClaimedJob, kept: KeptCall, state: CallState, *, reason: str = "", number: str = "") -> None:
    await in_db(report, job, kept, Report("call ended", ReportType.ENDED))
    await in_db(_move_last, job, kept, state, reason, number)


def _move_last(job: ClaimedJob, kept: KeptCall, state: CallState, reason: str, number: str) -> None:
    # The reason that a browser gave stays.
    given = {"reason": reason[:300]} if reason else {}
    move(job, kept, state, is_over=True, transferred_to=number, answer="", offer="", **given)
