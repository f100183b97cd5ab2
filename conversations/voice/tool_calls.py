"""Tools of a live session, called by a provider's voice model while it speaks (L02, L03, F13-F15, D18).

The session begins with `collect_agent_tools`; then each call of its model comes here, and is answered with the string that the
model reads. A call that was delivered twice, which networks do, is carried out once, and has the answer that it had. Another
call for the same thing is held, unless the caller has asked for it again (`heard`).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any, cast
from uuid import UUID

from django.utils import timezone

from conversations.common.contacts import read_contact
from conversations.live.event_log import ConversationLog, open_log
from conversations.models import Conversation, ConversationStatus
from conversations.tool_runs.calls.ending import enqueue_after_actions, state_of
from conversations.tool_runs.calls.start import ALLOWED, APPROVAL
from conversations.tool_runs.effects.approval import ask_for_approval, hold_repeat, is_allowed, waiting_for
from conversations.tool_runs.effects.outcome_events import end_effect, tell_held
from conversations.turns.channel_signals import apply_signal
from conversations.voice.deduplication import (
    ANSWERED,
    CALLED,
    SIGNALS,
    CallAnswer,
    Repeat,
    answer_before,
    call_before,
    effect_of,
    has_caller_asked_again,
    is_under_way,
)
from jobs.enqueue import enqueue
from llm.types import ToolCall
from projects.models import Project
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine import ledger
from tools.engine.catalogue import CompiledTool
from tools.engine.execution.deduplication import effect_repeat_key, find_recent_duplicate
from tools.engine.execution.handler import ToolContext
from tools.engine.execution.limits import recipient_of, why_over_limit
from tools.engine.execution.outcome import Ending, Outcome, Signal
from tools.engine.execution.schemas import called_arguments
from tools.engine.function_calling.attempt import attempt_call
from tools.engine.function_calling.contexts import Context
from tools.engine.function_calling.messages import MAX_RESULT_BYTES
from tools.engine.function_calling.offer import collect_agent_tools
from tools.engine.function_calling.parse_call import CallRefused, read_call
from tools.engine.function_calling.redaction import redacted_arguments
from tools.engine.function_calling.results import error_text, result_of, result_without_effect
from tools.models import Effect, EffectOrigin, EffectState

logger = logging.getLogger(__name__)

OVER = "The call is over for you; no tool runs any more. Say nothing more."
UNDER_WAY = "This call came before and is still under way. Its result is not known yet."
# After this the process that carried a call out is taken for dead, and the effects' lane finishes what it left.
RESCUED_AFTER = timedelta(minutes=2)


@dataclass(frozen=True)
class LiveCall:
    """One call of a session's model: a tool's name, its arguments, the business and the context (F13). `call_id` is the
    provider's own: it and the conversation make the call one. `heard` is what the caller has said since the result before.
    """

    organization_id: UUID
    project_id: UUID
    conversation_id: UUID
    call_id: str
    name: str
    arguments_json: str
    context: Context
    heard: str = ""


@dataclass(frozen=True)
class StartedCall:
    """A call about to be carried out."""

    tool: CompiledTool
    arguments: dict[str, Any]
    tool_context: ToolContext
    effect: Effect | None = None


async def handle_tool_call(call: LiveCall) -> CallAnswer:
    """Carry out one call of a live session's model. Whatever is wrong with it, it is answered with a string (L03, L19).

    The tenant, the customer and the call are those of the session, whatever the arguments say (F13).
    """
    begun = await in_db(_begin, call)
    if isinstance(begun, Repeat):
        is_wanted = await has_caller_asked_again(begun, heard=call.heard)
        begun = await in_db(partial(_begin, call, asked_again=is_wanted))
    if isinstance(begun, Repeat):
        raise TypeError("What was asked about is asked about once.")
    if isinstance(begun, CallAnswer):
        return begun
    outcome = await attempt_call(begun.tool.name, begun.arguments, begun.tool_context, begun.effect)
    return await in_db(partial(_settle, call, begun, outcome))


def _begin(call: LiveCall, *, asked_again: bool | None = None) -> StartedCall | Repeat | CallAnswer:
    """Read the call, and put down what it is about to do: nothing leaves before that is committed (E1).

    Nothing is put down of a repeat of which it has to be known first whether the caller wants it.
    """
    with tenant_tx(call.organization_id), open_log(call.conversation_id) as log:
        if (earlier := _earlier(call)) is not None:
            return earlier
        conversation = log.conversation
        if conversation.status != ConversationStatus.OPEN or conversation.operator_id is not None:
            return CallAnswer(error_text(OVER), is_error=True)
        project = Project.objects.select_related("agent_version").get(pk=call.project_id)
        offer = collect_agent_tools(project, channel=conversation.channel)
        asked = ToolCall(call.call_id, call.name, call.arguments_json)
        try:
            tool, arguments = read_call(offer.tools, asked, index=0)
        except CallRefused as refusal:
            logger.error("A live call of %s was refused: %s", call.conversation_id, refusal)
            return CallAnswer(error_text(str(refusal)), is_error=True)
        begun = _planned(call, log.conversation, project, tool, arguments)
        if call.heard and asked_again is None and (same := _same_as(begun.effect)) is not None:
            return Repeat(call.organization_id, same)
        _put_down(log, call, begun, arguments)
        return _begin_effect(log, begun, asked_again=bool(asked_again)) or begun


def _begin_effect(log: ConversationLog, begun: StartedCall, *, asked_again: bool) -> CallAnswer | None:
    """Begin the effect that a call leaves, if any. Kept back, it has its answer."""
    if (effect := begun.effect) is None:
        return None
    effect.save(force_insert=True)
    if (kept_back := _keep_back(log, effect, asked_again=asked_again)) is not None:
        return kept_back
    ledger.begin_sending(effect)
    enqueue([ledger.job_for(effect, reason="live", run_after=log.now + RESCUED_AFTER)])
    return None


def _same_as(effect: Effect | None) -> Effect | None:
    """What was done already, or waits for a yes, and is the same."""
    if effect is None:
        return None
    return find_recent_duplicate(effect) or waiting_for(effect)


def _keep_back(log: ConversationLog, effect: Effect, *, asked_again: bool) -> CallAnswer | None:
    """A repeat is held (E6), what is too much fails (threat 8), what needs a yes waits. None: nothing keeps it back."""
    earlier = None if asked_again else _same_as(effect)
    if earlier is not None and hold_repeat(effect, earlier):
        tell_held(log, effect)
    elif too_much := why_over_limit(effect):
        end_effect(log, effect, Outcome.failed(too_much), state=EffectState.FAILED)
    elif ledger.needs_approval(effect):
        ask_for_approval(log, effect)
    else:
        return None
    return _answer_of(effect)


def _settle(call: LiveCall, begun: StartedCall, outcome: Outcome) -> CallAnswer:
    """Put down what became of it. The channel is told at once: there is no reply that a signal could wait for (F18)."""
    with tenant_tx(call.organization_id), open_log(call.conversation_id) as log:
        effect = begun.effect
        if effect is not None:
            effect.refresh_from_db()
            end_effect(log, effect, outcome, state=state_of(effect, outcome))
            enqueue_after_actions(effect)
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
        if answer.is_error:
            logger.error("%s of the live call %s: %s", call.name, call.conversation_id, answer.result)
        return _told(log, call, answer, outcome)


def _told(log: ConversationLog, call: LiveCall, answer: CallAnswer, outcome: Outcome) -> CallAnswer:
    """The answer with its block, put down in the conversation's log (L22). No turn is streamed: the session shows it."""
    block = dict(outcome.block) if outcome.block and not answer.is_error else None
    payload = {"call": call.call_id, "tool": call.name, "result": answer.result, "is_error": answer.is_error}
    log.add_event(ANSWERED, payload={**payload, "block": block, "signal": answer.signal or ""})
    return replace(answer, block=block)


def _put_down(log: ConversationLog, call: LiveCall, begun: StartedCall, arguments: Mapping[str, Any]) -> None:
    tool = begun.tool.name
    payload = {
        "call": call.call_id,
        "tool": tool,
        "arguments": redacted_arguments(tool, arguments),
        "heard": call.heard,
    }
    log.add_event(CALLED, payload={**payload, "effect": str(begun.effect.pk) if begun.effect else None})


def _earlier(call: LiveCall) -> CallAnswer | None:
    """What a call that came before is answered with: as its effect stands now, and as it was answered then."""
    called = call_before(call.conversation_id, call.call_id)
    if called is None:
        return None
    before = answer_before(call.conversation_id, call.call_id)
    if (effect := effect_of(called, key=_key(call))) is not None:
        answer = _answer_of(effect)
        return replace(answer, block=before.block) if before and not answer.is_error else answer
    if before is None and is_under_way(called, within=RESCUED_AFTER):
        return CallAnswer(UNDER_WAY)
    return before


def _answer_of(effect: Effect, *, signal: Signal | None = None) -> CallAnswer:
    """An effect's end as the session gets it, also when it is asked for once more."""
    if effect.state in ledger.OPEN:
        is_waiting = effect.state == EffectState.PLANNED and ledger.needs_approval(effect)
        return CallAnswer((ALLOWED if is_allowed(effect) else APPROVAL) if is_waiting else UNDER_WAY)
    ended = {name for name, value in (effect.result or {}).items() if value is True and name in SIGNALS}
    is_done = effect.state == EffectState.DONE
    return CallAnswer(
        result_of(effect)[:MAX_RESULT_BYTES],
        is_error=effect.state not in (EffectState.DONE, EffectState.HELD),
        signal=signal or next((SIGNALS[name] for name in ended if is_done), None),
    )


def _key(call: LiveCall) -> str:
    """The session and the provider's id of the call: whatever its model writes, delivered twice it is one."""
    return ledger.effect_key(origin=call.conversation_id, tool=f"live:{call.call_id}", step=0, index=0)


def _planned(
    call: LiveCall, conversation: Conversation, project: Project, tool: CompiledTool, arguments: dict[str, Any]
) -> StartedCall:
    """The call as it is to be carried out, with its effect where it leaves one; nothing of it is stored."""
    effect = _effect(call, tool, arguments) if tool.kind else None
    tool_context = _tool_context(call, conversation, project, effect)
    if effect is not None:
        effect.repeat_key = effect_repeat_key(effect, effect.arguments, tool_context)
        effect.recipient = recipient_of(effect.kind, tool_context.contact)[:254]
    return StartedCall(tool, arguments, tool_context, effect)


def _effect(call: LiveCall, tool: CompiledTool, arguments: dict[str, Any]) -> Effect:
    return Effect(
        project_id=call.project_id,
        conversation_id=call.conversation_id,
        origin=EffectOrigin.LIVE,
        effect_key=_key(call),
        tool=tool.name,
        tool_origin=tool.origin,
        tool_version=tool.version,
        kind=tool.kind,
        delivery=tool.delivery,
        definition=tool.definition.model_dump(mode="json", by_alias=True),
        arguments=called_arguments(tool.definition, arguments),
        arranged_at=timezone.now(),
    )


def _tool_context(call: LiveCall, conversation: Conversation, project: Project, effect: Effect | None) -> ToolContext:
    config = project.agent_version.config if project.agent_version else None
    key = effect.effect_key if effect else _key(call)
    return ToolContext(
        organization_id=cast(UUID, conversation.organization_id),
        project_id=conversation.project_id,
        effect_id=effect.pk if effect else UUID(key[:32]),
        key=key,
        conversation_id=conversation.pk,
        turn_id=None,
        channel=conversation.channel,
        timezone=config.timezone if config else "UTC",
        at=timezone.now(),
        contact=read_contact(conversation.persona_id),
        business=config.business_name if config else "",
        shopper=conversation.shopper or {},
        call=call.context.call,
    )
