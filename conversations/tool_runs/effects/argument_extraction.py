"""Model questions about an effect: its arguments, whether a repeat is wanted, and the value of an after-action."""

from __future__ import annotations

from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field

from conversations.live.model_calls import as_job_error
from conversations.tool_runs.effects.effect_context import EffectContext
from jobs.lanes import ClaimedJob
from jobs.model_client import call_rows, model_client
from jobs.models import Job, ModelCall
from llm.errors import LlmError
from llm.types import CallRecord, ModelSpec
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.definition import ToolDefinition
from tools.engine.limits.model_budget import Share, require_budget
from tools.engine.skills.arguments import ExtractionContext, Schema, generate_object_by_schema
from tools.models import Effect


class AskedAgain(BaseModel):
    """The customer's request for a repeat, if there is one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    quote: str = Field(description="the customer's own words in which they ask for it, empty if there are none")
    asked_again: bool = Field(
        description="true only if the customer asked for this after it was done: for the same once more, or for something new"
    )


class Made(BaseModel):
    """One text, made from an input."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    value: str = Field(description="what the task asks for, and nothing else")


class ExtractionTask(Protocol):
    """An effect with the context of a model's task."""

    @property
    def effect(self) -> Effect: ...

    @property
    def extraction_context(self) -> ExtractionContext:
        """Context the objects are extracted from."""

    @property
    def model(self) -> ModelSpec: ...


async def ask_arguments(
    job: ClaimedJob, context: EffectContext, schema: Schema, *, definition: ToolDefinition
) -> dict[str, Any]:
    """Extract the tool's arguments from the conversation. Raises LlmError if a retry may help, else GiveUp."""
    task = f"The tool {context.effect.tool} is about to be used. {definition.description}"
    return await _ask(job, context, schema, task=task)


async def has_asked_again(job: ClaimedJob, context: EffectContext) -> bool:
    """True if the customer wants the repeat. The answer is not stored; the next commit acts on it."""
    task = f"The tool {context.effect.tool} did this already, and the agent promises it again: {context.effect.quote}"
    return AskedAgain.model_validate(await _ask(job, context, AskedAgain, task=task)).asked_again


async def apply_instruction(job: ClaimedJob, context: ExtractionTask, *, instruction: str, raw: str) -> str:
    """Apply an after-action's instruction to its input. Raises the errors of `ask_arguments`."""
    return Made.model_validate(await _ask(job, context, Made, task=instruction, material=raw)).value


async def _ask(
    job: ClaimedJob, context: ExtractionTask, schema: Schema, *, task: str, material: str = ""
) -> dict[str, Any]:
    await require_budget(job.organization_id, context.effect.project_id, Share.RESERVE)
    records: list[CallRecord] = []
    try:
        return await generate_object_by_schema(
            model_client(),
            context.model,
            schema=schema,
            task=task,
            extraction_context=context.extraction_context,
            record=records.append,
            quote=context.effect.quote,
            material=material,
        )
    except LlmError as error:
        raise as_job_error(error) from error
    finally:
        await in_db(_keep_calls, job, context, records)


def _keep_calls(job: ClaimedJob, context: ExtractionTask, records: list[CallRecord]) -> None:
    """Store the model calls, unless another worker has claimed the job since."""
    with tenant_tx(job.organization_id):
        if not Job.objects.select_for_update().filter(pk=job.id, token=job.token).exists():
            return
        rows = call_rows(
            records,
            project_id=context.effect.project_id,
            job_id=job.id,
            subject_id=context.effect.pk,
            turn_id=context.effect.turn_id,
        )
        ModelCall.objects.bulk_create(rows)
