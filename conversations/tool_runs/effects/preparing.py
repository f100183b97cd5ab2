"""Prepares after-actions: reads the input from the effect, and applies the model's instruction."""

from __future__ import annotations

from conversations.tool_runs.effects.after_actions import PreparedAction, input_for, instruction_of
from conversations.tool_runs.effects.argument_extraction import ExtractionTask, apply_instruction
from jobs.errors import GiveUp
from jobs.fence import job_tx
from jobs.lanes import ClaimedJob
from llm.errors import LlmError
from tenancy.threads import in_db
from tools.engine.execution.after_actions import NoInput, end_after_action
from tools.models import AfterAction, AfterActionState


async def prepare(job: ClaimedJob, context: ExtractionTask, row: AfterAction) -> PreparedAction | None:
    """Return the after-action with its value, or None if it failed. An unavailable model fails it, but not the effect."""
    try:
        raw = input_for(row, context.effect)
    except NoInput as missing:
        await in_db(_fail, job, row, str(missing))
        return None
    instruction = instruction_of(row)
    if not instruction:
        return PreparedAction(row=row, raw=raw, value=raw)
    try:
        value = await apply_instruction(job, context, instruction=instruction, raw=raw)
    except (LlmError, GiveUp) as failure:
        if isinstance(failure, LlmError) and not job.is_last_attempt:
            raise
        await in_db(_fail, job, row, str(failure))
        return None
    return PreparedAction(row=row, raw=raw, value=value)


def _fail(job: ClaimedJob, row: AfterAction, error: str) -> None:
    with job_tx(job):
        end_after_action(row, AfterActionState.FAILED, error=error)
