"""Runs effects: the action of a fired tool, executed once under the ledger's control.

1 extract arguments → 2 check for repeats and required approval → 3 commit `sending` → 4 execute, outside any
transaction → 5 commit the outcome with its consequences → 6 after-actions, one commit each → 7 tell the agent.
"""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from conversations.flows.customer_after_actions import fail_customer_after_actions, run_customer_after_actions
from conversations.live.event_log import job_log, open_log
from conversations.tool_runs.effects import after_actions
from conversations.tool_runs.effects.after_actions import PreparedAction, fail_after_actions, prepare_after_action
from conversations.tool_runs.effects.argument_extraction import ask_arguments, has_asked_again
from conversations.tool_runs.effects.conversation_run import ConversationRun
from conversations.tool_runs.effects.effect_context import EffectContext, load_effect_context
from conversations.tool_runs.effects.outcome_events import FAULT, NO_CALLBACK, conversation_of, is_callback_job
from jobs.failpoints import failpoint
from jobs.fence import job_tx, prove
from jobs.lanes import ClaimedJob
from jobs.models import State
from jobs.outages import until_stored
from tenancy.threads import in_db
from tools.engine import effect_decisions, ledger
from tools.engine.definition import ActionType
from tools.engine.execution.after_actions import next_or_finish, tells
from tools.engine.execution.effect_run import Start
from tools.engine.execution.outcome import Outcome
from tools.engine.execution.run import definition_of, execute
from tools.engine.execution.schemas import MalformedTool, arguments_schema
from tools.models import Effect, EffectOrigin, EffectState

OBSERVER_PATIENCE_SECONDS = 15.0
OBSERVER_POLL_SECONDS = 0.1


async def run_effect(job: ClaimedJob) -> None:
    """Resume one effect from its stored state. Completed steps are never repeated."""
    failpoint("effect.planned")
    if ledger.is_after_actions_job(job.key):
        await run_customer_after_actions(job)
        return
    context = await _read_when_observed(job)
    if context.effect.state in ledger.OPEN and not is_callback_job(job.key):
        is_job_over = await _attempt(job, context)
        failpoint("effect.committed_pre_after_actions")
        if is_job_over:
            return
    await _after_actions(job, context)


def fail_effect(job: ClaimedJob, reason: str) -> None:
    """Record that the job failed permanently; staff sees the effect with the reason, and the agent is told."""
    effect = Effect.objects.get(pk=job.subject_id)
    if ledger.is_after_actions_job(job.key):
        fail_customer_after_actions(effect, reason)
        return
    with open_log(conversation_of(effect)) as log:
        if effect.state in ledger.OPEN:
            ConversationRun(log, effect).fail(reason, told=FAULT.format(tool=effect.tool))
        fail_after_actions(log, effect, reason)


def reopen_effect(effect_id: UUID, ordinal: int) -> None:
    """Plan an effect that never began once more, because staff reran its failed job. Raises WrongState."""
    effect = Effect.objects.get(pk=effect_id)
    effect_decisions.reopen(effect)


async def _attempt(job: ClaimedJob, context: EffectContext) -> bool:
    """Run steps 1 to 5. Return True if they finished the job."""
    if context.effect.arranged_at is None and context.refusal is None and not await _extract_arguments(job, context):
        return False
    start = await in_db(_begin, job, context, None)
    if start is Start.REPEAT:
        start = await in_db(_begin, job, context, await has_asked_again(job, context))
    if start is not Start.READY:
        return False
    failpoint("effect.sending_pre_bytes")
    outcome = await execute(context.effect, context.tool_context)
    failpoint("effect.response_pre_commit")
    return await until_stored(_settle, job, context.effect, outcome)


async def _read_when_observed(job: ClaimedJob) -> EffectContext:
    """Load the effect, after waiting briefly for the observer to store the customer's latest details.

    The observer runs in parallel with the tool caller, and the message that led to the effect may contain the
    customer's phone number. After OBSERVER_PATIENCE_SECONDS the effect continues without it.
    """
    clock = asyncio.get_running_loop()
    ends_at = clock.time() + OBSERVER_PATIENCE_SECONDS
    while True:
        context = await in_db(_read, job)
        if context.is_observed or context.effect.arranged_at is not None or clock.time() >= ends_at:
            return context
        await asyncio.sleep(OBSERVER_POLL_SECONDS)


def _read(job: ClaimedJob) -> EffectContext:
    with job_tx(job):
        context = load_effect_context(job.subject_id)
    if _lacks_callback(job, context.effect):
        with job_log(job, context.conversation.pk) as log:
            context.effect.refresh_from_db()
            if _lacks_callback(job, context.effect):
                ConversationRun(log, context.effect).fail(NO_CALLBACK)
    return context


def _lacks_callback(job: ClaimedJob, effect: Effect) -> bool:
    """True if this job has to end the wait for the effect's callback."""
    return is_callback_job(job.key, attempt=effect.attempts) and effect.state == EffectState.SENDING


async def _extract_arguments(job: ClaimedJob, context: EffectContext) -> bool:
    """Step 1: extract the tool's arguments from the conversation and commit them; they are never extracted twice."""
    try:
        definition = definition_of(context.effect)
        schema = arguments_schema(context.effect.tool, definition)
    except (ValidationError, MalformedTool) as error:
        reason = str(error) if isinstance(error, MalformedTool) else "The tool's saved definition is invalid."
        await in_db(_fail, job, context.effect, reason)
        return False
    if schema is not None:
        arguments = await ask_arguments(job, context, schema, definition=definition)
        await in_db(_commit_arguments, job, context, arguments)
    return True


def _fail(job: ClaimedJob, effect: Effect, reason: str) -> None:
    with job_log(job, conversation_of(effect)) as log:
        ConversationRun(log, effect).settle(Outcome.failed(reason))


def _commit_arguments(job: ClaimedJob, context: EffectContext, arguments: dict[str, Any]) -> None:
    with job_tx(job):
        _store_arguments(context, arguments)


def _store_arguments(context: EffectContext, arguments: dict[str, Any]) -> None:
    ledger.store_arguments(context.effect, arguments, context=context.tool_context)


def _begin(job: ClaimedJob, context: EffectContext, is_repeat_wanted: bool | None) -> Start:
    """Steps 2 and 3, under the conversation's lock: nothing is sent before `sending` is committed."""
    effect = context.effect
    with job_log(job, context.conversation.pk) as log:
        effect.refresh_from_db()
        run = ConversationRun(log, effect, project=context.conversation.project)
        if effect.state == EffectState.PLANNED and context.refusal is not None:
            run.refuse(context.refusal)
            return Start.OVER
        if effect.state in ledger.OPEN and effect.arranged_at is None:
            _store_arguments(context, {})
        is_first = effect.attempts == 0
        start = run.begin(is_repeat_wanted=is_repeat_wanted)
        if start is Start.READY and is_first and _is_own_event(effect):
            # SendSystemEvent(eventIdn = the tool's name, connectorIdn = "system"); the tool's flow handles it.
            log.add_event(effect.tool, payload={"effect": str(effect.pk), "arguments": effect.arguments})
        return start


def _is_own_event(effect: Effect) -> bool:
    """True if the effect's action is an event that isn't in the log yet. A posted one is."""
    return definition_of(effect).action.type is ActionType.SEND_EVENT and effect.origin != EffectOrigin.EVENT


def _settle(job: ClaimedJob, effect: Effect, outcome: Outcome) -> bool:
    """Step 5. Return True if the job is finished: nothing follows, or a later job does it."""
    with job_log(job, conversation_of(effect)) as log:
        effect.refresh_from_db()
        ConversationRun(log, effect).settle(outcome)
        is_over = effect.state in ledger.OPEN or not effect.definition.get("after_actions")
        if is_over:
            prove(job, finish=State.DONE)
    return is_over


async def _after_actions(job: ClaimedJob, context: EffectContext) -> None:
    """Steps 6 and 7, and the end of the job."""
    while (row := await in_db(next_or_finish, job, context.effect)) is not None:
        prepared = await prepare_after_action(job, context, row)
        if prepared is None:
            continue
        if tells(row):
            failpoint("effect.after_actions_pre_urgent")
        await in_db(_commit_after_action, job, context, prepared)


def _commit_after_action(job: ClaimedJob, context: EffectContext, prepared: PreparedAction) -> None:
    with job_log(job, context.conversation.pk) as log:
        after_actions.execute_after_action(log, context.effect, prepared, config=context.config)
