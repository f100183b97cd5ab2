"""Tool calls of a live session, made by a provider's voice model while it speaks.

The session begins with `collect_agent_tools`. Each call of its model then comes here and is answered with the string
the model reads. A redelivered call runs once and gets the same answer. A call that repeats an earlier one is held,
unless the caller asked for it again (`heard`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from conversations.common.contacts import read_contact
from conversations.common.place import place_in
from conversations.common.queries import read_project
from conversations.live.event_log import ConversationLog, open_log
from conversations.models import Conversation, ConversationStatus, Event
from conversations.tool_runs.effects.approval import find_awaiting_approval, is_approved
from conversations.tool_runs.effects.call_run import ALLOWED, AWAITS_APPROVAL, CallRun
from conversations.turns.channel_signals import apply_signal
from conversations.voice.deduplication import (
    ANSWERED,
    CALLED,
    MAX_CALLS,
    SIGNALS,
    CallAnswer,
    Repeat,
    effect_of,
    has_caller_asked_again,
    is_under_way,
    logged_answer,
    logged_calls,
)
from conversations.voice.spoken_calls import store_late_answer
from jobs.enqueue import enqueue
from jobs.fence import prove
from jobs.lanes import ClaimedJob
from llm.types import ToolCall
from projects.models import Project
from tenancy.postgresql.durability import commit_soon
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine import ledger
from tools.engine.catalogue import CompiledTool
from tools.engine.execution.deduplication import find_recent_duplicate
from tools.engine.execution.effect_run import Start
from tools.engine.execution.handler import ToolContext
from tools.engine.execution.outcome import Ending, Outcome, Signal
from tools.engine.execution.plan import effect_context, effect_key, plan_effect
from tools.engine.execution.schemas import called_arguments
from tools.engine.function_calling.attempt import attempt_call
from tools.engine.function_calling.contexts import Context
from tools.engine.function_calling.messages import MAX_RESULT_BYTES
from tools.engine.function_calling.offer import collect_agent_tools
from tools.engine.function_calling.parse_call import CallRefused, read_call, storable
from tools.engine.function_calling.redaction import redacted_arguments
from tools.engine.function_calling.results import error_text, result_of, result_without_effect
from tools.models import Effect, EffectOrigin, EffectState

logger = logging.getLogger(__name__)

OVER = "The call is over for you; no tool runs any more. Say nothing more."
TOO_MANY = "Too many tools were called in this call. Call no more; offer that a colleague calls back."
STUCK = "The voice called too many tools in one call."
UNDER_WAY = "This call came before and is still under way. Its result is not known yet."
# After this time the process running a call counts as dead, and the effects' lane completes its effect.
RESCUED_AFTER = timedelta(minutes=2)


@dataclass(frozen=True)
class LiveCall:
    """One call by a session's model: tool name, arguments and context.

    `call_id` is the provider's and unique within the conversation. `heard` is what the caller said since the previous
    result. `job` is the worker's that holds the call, if a worker does: once it has lost it, nothing runs.
    """

    organization_id: UUID
    project_id: UUID
    conversation_id: UUID
    call_id: str
    name: str
    arguments_json: str
    context: Context
    heard: str = ""
    job: ClaimedJob | None = None


@dataclass(frozen=True)
class StartedCall:
    """A call about to be executed."""

    tool: CompiledTool
    arguments: dict[str, Any]
    tool_context: ToolContext
    effect: Effect | None = None


async def handle_tool_call(call: LiveCall) -> CallAnswer:
    """Execute one call of a live session's model. Every error is returned as a string the model can read.

    Tenant, customer and call come from the session, never from the arguments.
    """
    started = await in_db(_begin, call)
    if isinstance(started, Repeat):
        is_wanted = await has_caller_asked_again(started, heard=call.heard)
        started = await in_db(partial(_begin, call, asked_again=is_wanted))
    if isinstance(started, Repeat):
        raise TypeError("A repeat is confirmed only once.")
    if isinstance(started, CallAnswer):
        return started
    began = time.perf_counter()
    outcome = await attempt_call(started.tool.name, started.arguments, started.tool_context, started.effect)
    took_ms = round(1000 * (time.perf_counter() - began), 1)
    return await in_db(partial(_settle, call, started, outcome, took_ms=took_ms))


def _begin(call: LiveCall, *, asked_again: bool | None = None) -> StartedCall | Repeat | CallAnswer:
    """Validate the call, and log and commit what it is about to do; nothing is sent before.

    A possible repeat is not recorded until we know whether the caller wants it.
    """
    with tenant_tx(call.organization_id, plans_once=True), open_log(call.conversation_id) as log:
        if call.job is not None:
            prove(call.job)
        calls = logged_calls(call.conversation_id)
        if (earlier := _previous_answer(call, calls)) is not None:
            return earlier
        conversation = log.conversation
        if conversation.status != ConversationStatus.OPEN or conversation.operator_id is not None:
            return CallAnswer(error_text(OVER), is_error=True)
        if len(calls) >= MAX_CALLS:
            # Staff is asked to look.
            conversation.flag = conversation.flag or STUCK
            return CallAnswer(error_text(TOO_MANY), is_error=True)
        project = read_project(call.project_id)
        offer = collect_agent_tools(project, channel=conversation.channel)
        request = ToolCall(call.call_id, call.name, call.arguments_json)
        try:
            tool, arguments = read_call(offer.tools, request, index=0)
        except CallRefused as refusal:
            return _refuse(log, call, refusal)
        started = _plan(call, log.conversation, project, tool, arguments)
        if call.heard and asked_again is None and (same := _find_same(started.effect)) is not None:
            return Repeat(call.organization_id, same)
        _log_call(log, call, started, arguments)
        if started.effect is None:
            commit_soon()
        return _begin_effect(log, started, project, asked_again=bool(asked_again)) or started


def _refuse(log: ConversationLog, call: LiveCall, refusal: CallRefused) -> CallAnswer:
    """Log the refused call, which the turn shows with its error."""
    logger.error("A live call of %s was refused: %s", call.conversation_id, refusal)
    answer = CallAnswer(error_text(str(refusal))[:MAX_RESULT_BYTES], is_error=True)
    asked = {"call": call.call_id, "tool": storable(call.name)[:120], "arguments": None, "heard": call.heard}
    log.add_event(CALLED, payload={**asked, "arguments_text": storable(call.arguments_json)[:2_000], "effect": None})
    result = {"result": answer.result, "is_error": True, "block": None, "signal": ""}
    log.add_event(ANSWERED, payload={"call": call.call_id, "tool": asked["tool"], **result})
    return answer


def _begin_effect(
    log: ConversationLog, started: StartedCall, project: Project, *, asked_again: bool
) -> CallAnswer | None:
    """Begin the call's effect, if it has one. Return its answer if it is held back."""
    if (effect := started.effect) is None:
        return None
    effect.save(force_insert=True)
    if CallRun(log, effect, project=project).begin(is_repeat_wanted=asked_again) is not Start.READY:
        return _answer_of(effect)
    enqueue([ledger.job_for(effect, reason="live", run_after=log.now + RESCUED_AFTER)])
    return None


def _find_same(effect: Effect | None) -> Effect | None:
    """An identical effect that is done or awaits approval."""
    if effect is None:
        return None
    return find_recent_duplicate(effect) or find_awaiting_approval(effect)


def _settle(call: LiveCall, started: StartedCall, outcome: Outcome, *, took_ms: float) -> CallAnswer:
    """Store the outcome. A signal is obeyed at once: there is no reply it could wait for."""
    with tenant_tx(call.organization_id, plans_once=True), open_log(call.conversation_id) as log:
        effect = started.effect
        if effect is not None:
            effect.refresh_from_db()
            CallRun(log, effect).settle(outcome)
            answer = _answer_of(effect, signal=outcome.signal if effect.state == EffectState.DONE else None)
        else:
            is_done = outcome.ending is Ending.DONE
            is_obeyed = outcome.signal is not None and apply_signal(
                log, outcome.signal, turn_id=None, result=outcome.result
            )
            answer = CallAnswer(
                result_without_effect(outcome)[:MAX_RESULT_BYTES],
                is_error=not is_done,
                signal=outcome.signal if is_obeyed else None,
            )
        if effect is None and answer.signal is None:
            commit_soon()
        if answer.is_error:
            logger.error("%s of the live call %s: %s", call.name, call.conversation_id, answer.result)
        return _log_answer(log, call, answer, outcome, took_ms=took_ms)


def _log_answer(
    log: ConversationLog, call: LiveCall, answer: CallAnswer, outcome: Outcome, *, took_ms: float
) -> CallAnswer:
    """Log the answer with its block, and the tool's own time. No turn is streamed; the session shows the block."""
    block = dict(outcome.block) if outcome.block and not answer.is_error else None
    payload = {"call": call.call_id, "tool": call.name, "result": answer.result, "is_error": answer.is_error}
    payload = {**payload, "block": block, "signal": answer.signal or "", "took_ms": took_ms}
    log.add_event(ANSWERED, payload=payload)
    store_late_answer(log, payload)
    return replace(answer, block=block)


def _log_call(log: ConversationLog, call: LiveCall, started: StartedCall, arguments: Mapping[str, Any]) -> None:
    tool = started.tool.name
    payload = {
        "call": call.call_id,
        "tool": tool,
        "arguments": redacted_arguments(tool, arguments),
        "heard": call.heard,
    }
    log.add_event(CALLED, payload={**payload, "effect": str(started.effect.pk) if started.effect else None})


def _previous_answer(call: LiveCall, calls: Sequence[Event]) -> CallAnswer | None:
    """The answer to a call seen before: from its effect's current state, else the logged answer."""
    logged = next((event for event in calls if event.payload["call"] == call.call_id), None)
    if logged is None:
        return None
    before = logged_answer(call.conversation_id, call.call_id)
    if (effect := effect_of(logged, key=_key(call))) is not None:
        answer = _answer_of(effect)
        return replace(answer, block=before.block) if before and not answer.is_error else answer
    if before is None and is_under_way(logged, within=RESCUED_AFTER):
        return CallAnswer(UNDER_WAY)
    return before


def _answer_of(effect: Effect, *, signal: Signal | None = None) -> CallAnswer:
    """The session's answer for an effect in its current state."""
    if effect.state in ledger.OPEN:
        is_waiting = effect.state == EffectState.PLANNED and ledger.needs_approval(effect)
        return CallAnswer((ALLOWED if is_approved(effect) else AWAITS_APPROVAL) if is_waiting else UNDER_WAY)
    ended = {name for name, value in (effect.result or {}).items() if value is True and name in SIGNALS}
    is_done = effect.state == EffectState.DONE
    return CallAnswer(
        result_of(effect)[:MAX_RESULT_BYTES],
        is_error=effect.state not in (EffectState.DONE, EffectState.HELD),
        signal=signal or next((SIGNALS[name] for name in ended if is_done), None),
    )


def _key(call: LiveCall) -> str:
    """The idempotency key: the session and the provider's call id, so that a redelivered call is the same call."""
    return effect_key(origin=call.conversation_id, tool=f"live:{call.call_id}", step=0, index=0)


def _plan(
    call: LiveCall, conversation: Conversation, project: Project, tool: CompiledTool, arguments: dict[str, Any]
) -> StartedCall:
    """Build the call with its context and, if it has side effects, its effect; nothing is stored."""
    config = project.agent_version.config if project.agent_version else None
    contact = read_contact(conversation.persona_id)
    place = place_in(conversation, config=config, contact=contact, call=call.context.call)
    if not tool.kind:
        key = _key(call)
        return StartedCall(tool, arguments, place.context(effect_id=UUID(key[:32]), key=key))
    effect = plan_effect(
        tool,
        place,
        origin=EffectOrigin.LIVE,
        key=_key(call),
        arguments=called_arguments(tool.definition, arguments),
    )
    return StartedCall(tool, arguments, effect_context(effect, place), effect)
