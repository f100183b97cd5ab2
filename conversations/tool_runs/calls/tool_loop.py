"""The tool loop of a reply: ask the model, run the tools it calls, return their results, for at most three steps.

Every step is stored before anything acts on it; an attempt after a crash resumes at the calls without a result.
A model that keeps calling is asked once more without tools. If it still doesn't answer, the results are the answer.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, cast
from uuid import UUID

from conversations.claim_check.claim_guard import read_ledger
from conversations.context.pictures import FoundPicture
from conversations.context.turn_context import TurnContext
from conversations.live.event_log import job_log, open_log
from conversations.models import TurnCall, TurnStep
from conversations.prompts.budget import make_room
from conversations.tool_runs.calls.plan import context_of, plan_step
from conversations.tool_runs.calls.reply_text import ReplyText
from conversations.tool_runs.calls.spoken_results import spoken_results
from conversations.tool_runs.calls.start import StartedCalls, settle_call, start_calls, store_step
from conversations.tool_runs.effects.argument_extraction import has_asked_again
from conversations.tool_runs.effects.effect_context import EffectContext, load_effect_context
from jobs.failpoints import failpoint
from jobs.fence import LeaseLost, reading
from jobs.lanes import ClaimedJob
from jobs.model_client import model_client
from jobs.outages import until_stored
from llm.errors import StreamCut
from llm.types import CallRecord, ChatRequest, Completion, FinishReason
from llm.without_tools import without_tools
from projects.models import Project
from tenancy.prepared_queries import PreparedQuery
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.execution.outcome import Ending, Outcome
from tools.engine.function_calling.attempt import attempt_call
from tools.engine.function_calling.messages import call_messages, result_limit
from tools.engine.function_calling.offer import Offer
from tools.engine.function_calling.parse_call import MAX_TURN_CALLS, limit_calls
from tools.models import Effect

logger = logging.getLogger(__name__)

MAX_STEPS = 3
GO_ON = "Your answer was cut off. Go on exactly where it stopped, without repeating anything."

CALLS = PreparedQuery(
    lambda turn: (
        TurnCall.objects.select_related("step", "effect").filter(step__turn_id=turn).order_by("step__number", "index")
    ),
    kinds=(UUID,),
)


class LoopEnd(Enum):
    """Why the loop ended: an answer in words, a tool that ended the agent's part, or calls without an answer."""

    ANSWERED = "answered"
    SIGNALED = "signaled"
    LIMIT = "limit"


@dataclass
class ToolStep:
    """One answer of the model that called tools."""

    step: TurnStep
    calls: list[TurnCall]


@dataclass
class ToolLoop:
    """A reply in progress: its prompt, the offered tools, and the steps so far."""

    job: ClaimedJob
    turn_context: TurnContext
    request: ChatRequest
    offer: Offer
    steps: list[ToolStep] = field(default_factory=list)
    pictures: Sequence[FoundPicture] = ()
    new_blocks: list[dict[str, Any]] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        """True if the next answer must be words."""
        return len(self.steps) >= MAX_STEPS or len(self.calls) >= MAX_TURN_CALLS

    @property
    def signal(self) -> TurnCall | None:
        """The call that ended or transferred the conversation; the agent says nothing after it."""
        return next((call for call in self.calls if call.signal), None)

    @property
    def calls(self) -> list[TurnCall]:
        return [call for step in self.steps for call in step.calls]

    @property
    def blocks(self) -> list[dict[str, Any]]:
        """Blocks the widget shows beside the text, in call order."""
        return [call.block for call in self.calls if call.block]

    @property
    def effects(self) -> list[Effect]:
        return [call.effect for call in self.calls if call.effect is not None]


async def run_tool_loop(loop: ToolLoop, *, text: ReplyText, records: list[CallRecord]) -> LoopEnd:
    """Write the answer to `text`, running the tools the model calls; stored steps are completed first.

    Appends a record of every model call. Raises LlmError; the loop can then be run again, and keeps its steps.
    """
    for step in loop.steps:
        text.guard.write(step.step.content)
        await _complete(loop, step)
        text.guard.learn(loop.effects)
    while loop.signal is None:
        completion = await _ask(_next_request(loop), text, records)
        if _is_in_words(completion):
            return LoopEnd.ANSWERED
        if loop.is_full or not completion.tool_calls:
            return await _answer_in_words(loop, text, records)
        await _run_answer(loop, completion)
        text.guard.learn(loop.effects)
    return LoopEnd.SIGNALED


def stored_steps(turn_id: UUID) -> list[ToolStep]:
    """The steps stored by an earlier attempt at the reply. Runs in the caller's transaction."""
    steps: list[ToolStep] = []
    for call in CALLS(turn_id):
        if not steps or steps[-1].step.pk != call.step_id:
            steps.append(ToolStep(call.step, []))
        call.step = steps[-1].step
        steps[-1].calls.append(call)
    return steps


def _next_request(loop: ToolLoop) -> ChatRequest:
    """The prompt plus the steps so far and their results; the transcript is shortened to make room."""
    if not loop.offer.tools:
        return loop.request
    offered = replace(loop.request, tools=loop.offer.functions, may_call=not loop.is_full)
    if not loop.steps:
        return offered
    longest = result_limit(loop.calls)
    said = [
        message for step in loop.steps for message in call_messages(step.step.content, step.calls, max_bytes=longest)
    ]
    # All messages except the system prompt and the part that changes each turn.
    transcript = len(loop.request.messages) - 2
    whole = replace(offered, messages=[*loop.request.messages, *said])
    return make_room(whole, transcript=transcript, extra_bytes=loop.offer.weight)


async def _answer_in_words(loop: ToolLoop, text: ReplyText, records: list[CallRecord]) -> LoopEnd:
    """Ask once more without tools. If the model still calls, answer with the results."""
    completion = await _ask(without_tools(_next_request(loop)), text, records)
    if _is_in_words(completion):
        return LoopEnd.ANSWERED
    told = spoken_results(loop.calls, language=read_ledger(loop.turn_context).language)
    if not told:
        return LoopEnd.LIMIT
    logger.warning(
        "The model of turn %s only calls tools; it was answered with their results.", loop.turn_context.turn.pk
    )
    text.next_answer()(told)
    return LoopEnd.ANSWERED


def _is_in_words(completion: Completion) -> bool:
    """True for an answer. Text beside a call that can't be read is one, unless it was cut."""
    if completion.has_dropped_markup and (completion.finish is FinishReason.LENGTH or not completion.text.strip()):
        return False
    return not completion.tool_calls


async def _ask(request: ChatRequest, text: ReplyText, records: list[CallRecord]) -> Completion:
    """Stream one answer; one cut by its length is continued once. Raises LlmError."""
    on_text = text.next_answer()
    completion = await model_client().stream(request, on_text=on_text, record=records.append)
    if completion.finish is FinishReason.LENGTH and not completion.has_dropped_markup:
        rest = _continuation(request, written=completion.text)
        completion = await model_client().stream(rest, on_text=on_text, record=records.append)
        if completion.finish is FinishReason.LENGTH:
            raise StreamCut("The answer is longer than the model may write.", partial=text.writer.text)
    return completion


def _continuation(request: ChatRequest, *, written: str) -> ChatRequest:
    more = [{"role": "assistant", "content": written}, {"role": "user", "content": GO_ON}]
    return replace(request, messages=[*request.messages, *more])


async def _run_answer(loop: ToolLoop, completion: Completion) -> None:
    """Store the calls of one answer, and run them. Those above the turn's limit only get a result."""
    calls = limit_calls(completion.tool_calls, room=MAX_TURN_CALLS - len(loop.calls))
    completion = replace(completion, tool_calls=calls)
    failpoint("hop.llm_done_pre_commit")
    step, started = await in_db(_store, loop, completion)
    loop.steps.append(step)
    await _run(loop, started)


async def _complete(loop: ToolLoop, step: ToolStep) -> None:
    """Run the calls of a stored step that have no result."""
    if any(call.finished_at is None for call in step.calls):
        await _run(loop, await in_db(_start, loop, step.calls))


async def _run(loop: ToolLoop, started: StartedCalls) -> None:
    """Run calls concurrently. If the reply is superseded meanwhile, they still finish and their results are stored."""
    for call in started.repeats:
        started.ready.extend((await _confirm(loop, call)).ready)
    if not started.ready:
        return
    failpoint("hop.sending_pre_bytes")
    running = asyncio.gather(*(_execute(loop, call) for call in started.ready))
    try:
        await asyncio.shield(running)
    except asyncio.CancelledError:
        with suppress(LeaseLost):
            await running
        raise


async def _confirm(loop: ToolLoop, call: TurnCall) -> StartedCalls:
    """Ask the model whether the customer wants a repeat; hold it if not."""
    effect_context = await in_db(_effect_context, loop, call)
    return await in_db(_start, loop, [call], asked_again=await has_asked_again(loop.job, effect_context))


async def _execute(loop: ToolLoop, call: TurnCall) -> None:
    outcome = await attempt_call(call.name, call.arguments or {}, context_of(loop.turn_context, call), call.effect)
    failpoint("hop.response_pre_commit")
    await until_stored(_settle, loop, call, _without_shown_block(loop, outcome))
    failpoint("hop.settled_pre_next")


def _without_shown_block(loop: ToolLoop, outcome: Outcome) -> Outcome:
    """The outcome, without a block that this reply shows already."""
    if outcome.block is None or outcome.ending is not Ending.DONE:
        return outcome
    block = dict(outcome.block)
    if block in loop.blocks or block in loop.new_blocks:
        return replace(outcome, block=None)
    loop.new_blocks.append(block)
    return outcome


def _effect_context(loop: ToolLoop, call: TurnCall) -> EffectContext:
    with reading(loop.job):
        return load_effect_context(cast(UUID, call.effect_id))


def _store(loop: ToolLoop, completion: Completion) -> tuple[ToolStep, StartedCalls]:
    with job_log(loop.job, loop.turn_context.conversation.pk) as log:
        step, calls = plan_step(loop.turn_context, loop.offer, completion, number=len(loop.steps) + 1)
        store_step(log, step, calls)
        return ToolStep(step, calls), start_calls(log, calls, project=_project(loop))


def _start(loop: ToolLoop, calls: Sequence[TurnCall], *, asked_again: bool | None = None) -> StartedCalls:
    with job_log(loop.job, loop.turn_context.conversation.pk) as log:
        return start_calls(log, calls, project=_project(loop), asked_again=asked_again)


def _project(loop: ToolLoop) -> Project:
    return cast(Project, loop.turn_context.conversation.project)


def _settle(loop: ToolLoop, call: TurnCall, outcome: Outcome) -> None:
    """Store a call's result even if the reply was superseded: the effect's own state is the fence."""
    conversation_id = loop.turn_context.conversation.pk
    try:
        with job_log(loop.job, conversation_id) as log:
            settle_call(log, call, outcome)
    except LeaseLost:
        with tenant_tx(loop.job.organization_id), open_log(conversation_id) as log:
            settle_call(log, call, outcome)
        raise
