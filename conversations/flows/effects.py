"""Effects: what a fired tool does, once, as the ledger says (design section 3, N44-N49; reliability 2.2).

1 arrange → 2 repeats, and what needs a person's yes → 3 `sending` committed → 4 carry out, outside of any transaction
→ 5 the outcome with all that follows, one commit → 6 after-actions, one commit each → 7 the agent is told.
"""

from __future__ import annotations

import asyncio
from enum import Enum
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from conversations.flows.customer_after_actions import fail_alone, run_alone
from conversations.live.event_log import ConversationLog, job_log, open_log
from conversations.tool_runs.effects import after_actions
from conversations.tool_runs.effects.after_actions import Prepared, fail_after_actions
from conversations.tool_runs.effects.approval import ask_for_approval, hold_repeat, waiting_for
from conversations.tool_runs.effects.argument_extraction import ask_arguments, has_asked_again
from conversations.tool_runs.effects.effect_context import EffectContext, has_asked_since, read_work
from conversations.tool_runs.effects.outcome_events import (
    FAULT,
    NO_CALLBACK,
    conversation_of,
    is_callback_job,
    record_failure,
    settle,
    tell_cancelled,
    tell_held,
)
from conversations.tool_runs.effects.preparing import prepare
from jobs.failpoints import failpoint
from jobs.fence import job_tx, prove
from jobs.lanes import ClaimedJob
from jobs.models import State
from tenancy.threads import in_db
from tools.engine import ledger
from tools.engine.definition import ActionType, RetryPolicy
from tools.engine.execution.after_actions import next_or_finish, tells
from tools.engine.execution.callback import callback_token, digest_of
from tools.engine.execution.deduplication import effect_repeat_key, find_recent_duplicate
from tools.engine.execution.limits import recipient_of, why_over_limit
from tools.engine.execution.outcome import Outcome
from tools.engine.execution.outcome_policy import MAX_ATTEMPTS, WORKER_DIED
from tools.engine.execution.run import definition_of, execute, why_not_now
from tools.engine.execution.schemas import MalformedTool, arguments_schema
from tools.models import Effect, EffectState

OBSERVER_PATIENCE_SECONDS = 15.0
OBSERVER_POLL_SECONDS = 0.1


class Begin(Enum):
    """How an attempt begins."""

    GOES = "goes"
    ASKS = "asks"
    OVER = "over"


async def run_effect(job: ClaimedJob) -> None:
    """Carry on one effect from wherever it stands. What stands is never done again."""
    failpoint("effect.planned")
    if ledger.is_after_actions_job(job.key):
        await run_alone(job)
        return
    work = await _read_when_observed(job)
    if work.effect.state in ledger.OPEN and not is_callback_job(job.key):
        is_job_over = await _attempt(job, work)
        failpoint("effect.committed_pre_after_actions")
        if is_job_over:
            return
    await _after_actions(job, work)


def fail_effect(job: ClaimedJob, reason: str) -> None:
    """The job has failed for good; staff sees the effect with the reason, and the agent is told."""
    effect = Effect.objects.get(pk=job.subject_id)
    if ledger.is_after_actions_job(job.key):
        fail_alone(effect, reason)
        return
    with open_log(conversation_of(effect)) as log:
        if effect.state in ledger.OPEN:
            record_failure(log, effect, reason, told=FAULT.format(tool=effect.tool))
        fail_after_actions(log, effect, reason)


def reopen_effect(effect_id: UUID, ordinal: int) -> None:
    """Staff runs the failed job again: an effect that was never begun is planned once more. Raises WrongState."""
    effect = Effect.objects.get(pk=effect_id)
    ledger.reopen(effect)


async def _attempt(job: ClaimedJob, work: EffectContext) -> bool:
    """Steps 1 to 5. True when the job ended with them."""
    if work.effect.arranged_at is None and not await _arrange(job, work):
        return False
    begin = await in_db(_begin, job, work, None)
    if begin is Begin.ASKS:
        begin = await in_db(_begin, job, work, await has_asked_again(job, work))
    if begin is Begin.OVER:
        return False
    failpoint("effect.sending_pre_bytes")
    outcome = await execute(work.effect, work.tool_context)
    failpoint("effect.response_pre_commit")
    return await in_db(_settle, job, work.effect, outcome)


async def _read_when_observed(job: ClaimedJob) -> EffectContext:
    """The effect, once the observer has taken down what the customer said: their number may be in the same message.

    The observer runs at the same time as the tool caller, so this is a moment; it isn't waited for long.
    """
    clock = asyncio.get_running_loop()
    ends_at = clock.time() + OBSERVER_PATIENCE_SECONDS
    while True:
        work = await in_db(_read, job)
        if work.is_observed or work.effect.arranged_at is not None or clock.time() >= ends_at:
            return work
        await asyncio.sleep(OBSERVER_POLL_SECONDS)


def _read(job: ClaimedJob) -> EffectContext:
    with job_tx(job):
        work = read_work(job.subject_id)
    if _is_uncalled(job, work.effect):
        with job_log(job, work.conversation.pk) as log:
            work.effect.refresh_from_db()
            if _is_uncalled(job, work.effect):
                record_failure(log, work.effect, NO_CALLBACK)
    return work


def _is_uncalled(job: ClaimedJob, effect: Effect) -> bool:
    """Whether this job has to end the wait for the effect's callback."""
    return is_callback_job(job.key, attempt=effect.attempts) and effect.state == EffectState.SENDING


async def _arrange(job: ClaimedJob, work: EffectContext) -> bool:
    """Step 1: read off the conversation what the tool needs, and commit it: it is never asked for again."""
    try:
        definition = definition_of(work.effect)
        schema = arguments_schema(work.effect.tool, definition)
    except (ValidationError, MalformedTool) as error:
        reason = str(error) if isinstance(error, MalformedTool) else "The tool can't be read as it was saved."
        await in_db(_fail, job, work.effect, reason)
        return False
    if schema is not None:
        arguments = await ask_arguments(job, work, schema, definition=definition)
        await in_db(_keep_arguments, job, work, arguments)
    return True


def _fail(job: ClaimedJob, effect: Effect, reason: str) -> None:
    with job_log(job, conversation_of(effect)) as log:
        settle(log, effect, Outcome.failed(reason))


def _keep_arguments(job: ClaimedJob, work: EffectContext, arguments: dict[str, Any]) -> None:
    with job_tx(job):
        _put_arguments(work, arguments)


def _put_arguments(work: EffectContext, arguments: dict[str, Any]) -> None:
    effect, context = work.effect, work.tool_context
    ledger.store_arguments(
        effect,
        arguments,
        repeat_key=effect_repeat_key(effect, arguments, context),
        recipient=recipient_of(effect.kind, context.contact),
    )


def _begin(job: ClaimedJob, work: EffectContext, asked_again: bool | None) -> Begin:
    """Steps 2 and 3, under the conversation's lock: nothing leaves before `sending` is committed (E1)."""
    effect = work.effect
    with job_log(job, work.conversation.pk) as log:
        effect.refresh_from_db()
        if effect.state not in ledger.OPEN:
            return Begin.OVER
        if effect.arranged_at is None:
            _put_arguments(work, {})
        if effect.state == EffectState.SENDING and (
            effect.delivery == RetryPolicy.ONCE or effect.attempts >= MAX_ATTEMPTS
        ):
            record_failure(log, effect, WORKER_DIED)
            return Begin.OVER
        if why_not := why_not_now(effect, work.conversation.project, channel=work.conversation.channel):
            _stop(log, effect, why_not)
            return Begin.OVER
        if effect.state == EffectState.PLANNED and (kept_back := _keep_back(log, effect, asked_again)) is not None:
            return kept_back
        if effect.state == EffectState.PLANNED and ledger.needs_approval(effect):
            ask_for_approval(log, effect)
            return Begin.OVER
        return _go(log, effect)


def _keep_back(log: ConversationLog, effect: Effect, asked_again: bool | None) -> Begin | None:
    """A repeat is held (E6), and what is too much fails (threat 8). None: nothing keeps it back."""
    is_looked_for = effect.resolved_at is None and not asked_again
    earlier = (find_recent_duplicate(effect) or waiting_for(effect)) if is_looked_for else None
    if earlier is not None and asked_again is None and has_asked_since(effect, earlier):
        return Begin.ASKS
    if earlier is not None and hold_repeat(effect, earlier):
        tell_held(log, effect)
        return Begin.OVER
    if too_much := why_over_limit(effect):
        settle(log, effect, Outcome.failed(too_much))
        return Begin.OVER
    return None


def _stop(log: ConversationLog, effect: Effect, reason: str) -> None:
    """The tool may not be used any more (E9). What may have begun is for staff to find out."""
    if effect.state == EffectState.SENDING:
        record_failure(log, effect, reason)
    elif ledger.cancel(effect, reason=reason):
        tell_cancelled(log, effect)


def _go(log: ConversationLog, effect: Effect) -> Begin:
    action, is_first = definition_of(effect).action, effect.attempts == 0
    answers_later = action.type is ActionType.SEND_WEBHOOK and action.webhook.callback
    if not ledger.begin_sending(effect, callback_hash=digest_of(callback_token(effect.pk)) if answers_later else ""):
        return Begin.OVER
    if is_first and action.type is ActionType.SEND_EVENT:
        # SendSystemEvent(eventIdn = the tool's name, connectorIdn = "system"), which the tool's flow picks up (N44).
        log.add_event(effect.tool, payload={"effect": str(effect.pk), "arguments": effect.arguments})
    return Begin.GOES


def _settle(job: ClaimedJob, effect: Effect, outcome: Outcome) -> bool:
    """Step 5. The job ends with it where nothing follows, or what follows is a later job's; then True."""
    with job_log(job, conversation_of(effect)) as log:
        effect.refresh_from_db()
        settle(log, effect, outcome)
        is_over = effect.state in ledger.OPEN or not effect.definition.get("after_actions")
        if is_over:
            prove(job, finish=State.DONE)
    return is_over


async def _after_actions(job: ClaimedJob, work: EffectContext) -> None:
    """Steps 6 and 7, and the end of the job."""
    while (row := await in_db(next_or_finish, job, work.effect)) is not None:
        prepared = await prepare(job, work, row)
        if prepared is None:
            continue
        if tells(row):
            failpoint("effect.after_actions_pre_urgent")
        await in_db(_commit_after_action, job, work, prepared)


def _commit_after_action(job: ClaimedJob, work: EffectContext, prepared: Prepared) -> None:
    with job_log(job, work.conversation.pk) as log:
        after_actions.execute_after_actions(log, work.effect, prepared, config=work.config)
