"""What a model is asked for an effect: its arguments, whether a repeat is wanted, and what to make of a tool's answer."""

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
from tools.engine.skills.arguments import ExtractionContext, Schema, generate_object_by_schema
from tools.models import Effect


class AskedAgain(BaseModel):
    """Whether the customer wants it a second time."""

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
    """An effect with what a model is told beside the task."""

    @property
    def effect(self) -> Effect:
        """The effect at hand."""

    @property
    def extraction_context(self) -> ExtractionContext:
        """What objects are read off."""

    @property
    def model(self) -> ModelSpec:
        """Who is asked."""


async def ask_arguments(
    job: ClaimedJob, work: EffectContext, schema: Schema, *, definition: ToolDefinition
) -> dict[str, Any]:
    """What the tool needs, read off the conversation. Raises LlmError where it may be tried again, else GiveUp."""
    task = f"The tool {work.effect.tool} is about to be used. {definition.description}"
    return await _ask(job, work, schema, task=task)


async def has_asked_again(job: ClaimedJob, work: EffectContext) -> bool:
    """Whether a repeat is wanted (E6). Nothing is kept of the answer: what follows from it is, in the next commit."""
    task = f"The tool {work.effect.tool} did this already, and the agent promises it again: {work.effect.quote}"
    return AskedAgain.model_validate(await _ask(job, work, AskedAgain, task=task)).asked_again


async def make_value(job: ClaimedJob, work: ExtractionTask, *, instruction: str, raw: str) -> str:
    """What an after-action's instruction makes of its input (N47). Raises as `ask_arguments`."""
    return Made.model_validate(await _ask(job, work, Made, task=instruction, material=raw)).value


async def _ask(
    job: ClaimedJob, work: ExtractionTask, schema: Schema, *, task: str, material: str = ""
) -> dict[str, Any]:
    records: list[CallRecord] = []
    try:
        return await generate_object_by_schema(
            model_client(),
            work.model,
            schema=schema,
            task=task,
            extraction_context=work.extraction_context,
            record=records.append,
            quote=work.effect.quote,
            material=material,
        )
    except LlmError as error:
        raise as_job_error(error) from error
    finally:
        await in_db(_keep_calls, job, work, records)


def _keep_calls(job: ClaimedJob, work: ExtractionTask, records: list[CallRecord]) -> None:
    """Store the calls, while no other worker has claimed the job since."""
    with tenant_tx(job.organization_id):
        if not Job.objects.select_for_update().filter(pk=job.id, token=job.token).exists():
            return
        rows = call_rows(
            records,
            project_id=work.effect.project_id,
            job_id=job.id,
            subject_id=work.effect.pk,
            turn_id=work.effect.turn_id,
        )
        ModelCall.objects.bulk_create(rows)
