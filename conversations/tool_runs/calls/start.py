"""Starts the calls of a step, and stores their results, in the conversation's log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from conversations.live.event_log import ConversationLog
from conversations.models import TurnCall, TurnStep
from conversations.models.event import EventType
from conversations.tool_runs.calls.call_results import end_call
from conversations.tool_runs.calls.turn_call_run import TurnCallRun
from projects.models import Project
from tenancy.write_batch import WriteBatch
from tools.engine.execution.effect_run import Start
from tools.engine.execution.limits import lock_limits
from tools.engine.execution.outcome import Ending, Outcome
from tools.engine.function_calling.redaction import redacted_arguments
from tools.engine.function_calling.results import result_without_effect


def store_step(log: ConversationLog, step: TurnStep, calls: list[TurnCall]) -> None:
    """Store a step with its calls and planned effects; the model is never asked for them again."""
    writes = WriteBatch()
    writes.insert([step])
    writes.insert([call.effect for call in calls if call.effect is not None])
    writes.insert(calls)
    writes.send()
    for call in calls:
        payload = {
            "turn": str(step.turn_id),
            "call": str(call.pk),
            "tool": call.name,
            "arguments": redacted_arguments(call.name, call.arguments),
            "hop": step.number,
        }
        log.add_event(call.name or "tool_call", payload=payload, type=EventType.TOOL_CALL)


@dataclass
class StartedCalls:
    """Calls ready to run, and repeats that run only if the customer asked for them again."""

    ready: list[TurnCall] = field(default_factory=list)
    repeats: list[TurnCall] = field(default_factory=list)


def start_calls(
    log: ConversationLog,
    calls: Sequence[TurnCall],
    *,
    project: Project | None = None,
    asked_again: bool | None = None,
) -> StartedCalls:
    """Start the calls, or finish those that must not run. A call without an effect always runs.

    The conversation's lock makes each of two identical calls see the other. `asked_again` is the model's answer about a
    repeat, None before it was asked.
    """
    lock_limits(call.effect for call in calls if call.effect is not None)
    started = StartedCalls()
    for call in calls:
        match _start(log, call, project, asked_again):
            case Start.READY:
                started.ready.append(call)
            case Start.REPEAT:
                started.repeats.append(call)
    return started


def settle_call(log: ConversationLog, call: TurnCall, outcome: Outcome) -> None:
    """Store a call's outcome; a finished call does not change."""
    call.refresh_from_db()
    if call.finished_at is not None:
        return
    if call.effect is not None:
        TurnCallRun(log, call).settle(outcome)
        return
    end_call(log, call, result_without_effect(outcome), is_error=outcome.ending is not Ending.DONE, outcome=outcome)


def _start(log: ConversationLog, call: TurnCall, project: Project | None, asked_again: bool | None) -> Start:
    if call.finished_at is not None:
        return Start.OVER
    if call.effect is None:
        return Start.READY
    run = TurnCallRun(log, call, project=project)
    start = run.begin(is_repeat_wanted=asked_again)
    if start is Start.OVER:
        run.close()
    return start
