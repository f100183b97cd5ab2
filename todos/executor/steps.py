"""One step of a run: the model's decision, stored before it is acted on."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from jobs.errors import GiveUp
from jobs.failpoints import failpoint
from jobs.fence import LeaseLost
from jobs.lanes import ClaimedJob
from jobs.model_client import call_rows, model_client
from jobs.models import Job, ModelCall
from llm.errors import Blocked, LengthCut, LlmError, Refused, Rejected
from llm.types import CallRecord, Completion, FinishReason, ToolCall
from projects.agents.hours_text import business_text
from tenancy.prepared_queries import PreparedQuery
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tenancy.write_batch import WriteBatch
from todos.content.lifecycle import AGENT
from todos.content.snapshot import recipients_of
from todos.content.versions import current_approval, time_of
from todos.executor import planning
from todos.executor.calls import StartedCall, start_call
from todos.executor.conversation import load_transcript
from todos.executor.planning import Plan, plan_calls, plan_frozen
from todos.executor.prompt import ExecuteContext, build_request
from todos.executor.run_context import RunContext, StepWithCalls, todo_tx
from todos.models import Todo, TodoCall, TodoStatus, TodoStep
from todos.services import return_to_review
from tools.engine.catalogue import CompiledTool
from tools.engine.execution.deduplication import EXECUTED_STATES
from tools.engine.execution.schemas import NO_PARAMETERS, MalformedTool, called_parameters, handler_of
from tools.engine.function_calling.messages import call_messages
from tools.engine.function_calling.offer import AgentToolDefinition
from tools.engine.limits.model_budget import Share, require_budget
from tools.engine.skills.arguments import KnownFact
from tools.models import Effect

log = logging.getLogger(__name__)

# Errors that a retry can't fix.
PERMANENT_ERRORS = (Rejected, Refused, Blocked, LengthCut)
MOST_EARLIER = 10

EARLIER = PreparedQuery(
    lambda todo, approval: (
        Effect.objects.filter(todo_calls__step__todo=todo, state__in=EXECUTED_STATES)
        .exclude(todo_calls__step__approval=approval)
        .order_by("created_at")[:MOST_EARLIER]
    ),
    kinds=(UUID, UUID),
)


@dataclass(frozen=True)
class Step:
    """A stored step: its calls to execute, and the started first call, if any."""

    calls: Sequence[UUID] = ()
    first: StartedCall | None = None


async def take_step(job: ClaimedJob, run: RunContext, context: ExecuteContext) -> Step:
    """Request the next step and commit it. Raises LlmError if a retry may help, GiveUp otherwise."""
    await require_budget(job.organization_id, run.todo.project_id, Share.RESERVE)
    records: list[CallRecord] = []
    request = build_request(
        context, said=as_messages(run.steps), tools=specifications(run.tools.values()), model=run.model
    )
    try:
        completion = await model_client().complete(request, record=records.append)
        if completion.finish is FinishReason.LENGTH:
            raise LengthCut("The model's answer was cut, because it was too long.")
    except LlmError as error:
        await in_db(_store_model_calls, job, run.todo, records)
        raise (GiveUp(str(error)) if isinstance(error, PERMANENT_ERRORS) else error) from error
    failpoint("todo.model_done_pre_commit")
    step = await _store_step(job, run, completion, records)
    failpoint("todo.step_committed")
    return step


async def _store_step(job: ClaimedJob, run: RunContext, completion: Completion, records: Sequence[CallRecord]) -> Step:
    """Store the step even if starting its first call in the same commit fails, so that the model is not called for it
    again.
    """
    try:
        return await in_db(_commit, job, run, completion, records, starts_first=True)
    except LeaseLost:
        raise
    except Exception:
        log.exception("The first call of a step of todo %s could not be begun along with it.", run.todo.pk)
        return await in_db(_commit, job, run, completion, records, starts_first=False)


def build_context(run: RunContext) -> ExecuteContext:
    """The prompt's variables, read in the transaction that decides to call the model.

    The transcript is not part of the approved content: it explains how to do what was approved.
    """
    todo, contact = run.todo, run.contact
    transcript = load_transcript(todo.conversation_id)
    facts = {name: getattr(contact, name) for name in ("name", "phone", "email", "language")} if contact else {}
    return ExecuteContext(
        business_name=run.config.business_name,
        business_context=business_text(run.config),
        now=run.now.astimezone(ZoneInfo(run.config.timezone)).strftime("%A %d %B %Y, %H:%M"),
        kind=f"{todo.type.name}: {todo.type.description}" if todo.type else "",
        description=todo.description,
        quote=todo.quote,
        contact=[KnownFact(field=name, value=value) for name, value in facts.items() if value],
        recipients=recipients_of(todo),
        earlier=_earlier_effects(run),
        summary=transcript.summary,
        messages=list(transcript.messages),
    )


def store_frozen_step(run: RunContext) -> None:
    """Store the one step of a todo without a model, in the transaction that starts the run."""
    step = TodoStep(todo=run.todo, approval=run.approval, number=1, started_at=run.now)
    _store(run.todo, step, plan_frozen(run, step), WriteBatch())


def _commit(
    job: ClaimedJob, run: RunContext, completion: Completion, records: Sequence[CallRecord], *, starts_first: bool
) -> Step:
    """Commit the step, its calls and their planned effects, and start the first if `starts_first`. A todo cancelled in the
    meantime gets no step.
    """
    with todo_tx(job, conversation_id=run.todo.conversation_id if starts_first else None) as todo:
        writes = WriteBatch()
        writes.insert(_rows(job, todo, records))
        if todo.status != TodoStatus.IN_PROGRESS or todo.version != run.todo.version:
            writes.send()
            return Step()
        step = TodoStep(
            todo=todo,
            approval=run.approval,
            number=len(run.steps) + 1,
            content=completion.text,
            model=run.model.model,
            cost=records[-1].cost_usd,
            total_ms=completion.total_ms,
            started_at=time_of(todo),
        )
        plan = plan_calls(run, step, completion.tool_calls)
        _store(todo, step, plan, writes)
        if plan.to_review:
            return_to_review(todo, reason=plan.to_review, actor=AGENT)
        due = [call for call in plan.calls if call.finished_at is None]
        first = start_call(todo, due[0], approval=current_approval(todo)) if due and starts_first else None
        return Step([call.pk for call in due], first)


def _store(todo: Todo, step: TodoStep, plan: Plan, writes: WriteBatch) -> None:
    """Write the step, its plan and the rest of the batch in one statement."""
    if all(call.finished_at is not None for call in plan.calls):
        step.finished_at = step.started_at
    writes.insert([step])
    planning.store(plan, writes)
    writes.send()
    for call in plan.calls:
        if call.is_error:
            log.error("A call of %s in todo %s was refused.", call.name, todo.pk)


def _earlier_effects(run: RunContext) -> list[str]:
    """The effects of earlier runs of this todo that happened or may have happened. The first version has none."""
    if run.approval.version == 1:
        return []
    done = EARLIER(run.todo.pk, run.approval.pk)
    return [f"{one.tool}, {one.state}: {one.told or one.error}" for one in done]


def _store_model_calls(job: ClaimedJob, todo: Todo, records: Sequence[CallRecord]) -> None:
    """Store the model calls of a failed step, unless another worker has claimed the job."""
    with tenant_tx(job.organization_id):
        if Job.objects.select_for_update().filter(pk=job.id, token=job.token).exists():
            ModelCall.objects.bulk_create(_rows(job, todo, records))


def _rows(job: ClaimedJob, todo: Todo, records: Sequence[CallRecord]) -> list[Any]:
    return call_rows(records, project_id=todo.project_id, job_id=job.id, subject_id=todo.pk, turn_id=None)


def as_messages(steps: Sequence[StepWithCalls]) -> list[dict[str, Any]]:
    """The steps as messages in the format of Chat Completions."""
    return [
        message for entry in steps for message in call_messages(entry.step.content, list(map(_as_called, entry.calls)))
    ]


@dataclass
class _Called:
    """A call as the model made it."""

    call_id: str
    name: str
    arguments: dict[str, Any] | None
    result: str


def _as_called(call: TodoCall) -> _Called:
    """The call with the arguments in the model's own form; a custom tool's are stored under the names of their parts."""
    called = ToolCall(call.call_id, call.name, call.arguments_text).arguments()
    return _Called(call.call_id, call.name, called, call.result)


def specifications(tools: Iterable[CompiledTool]) -> list[dict[str, Any]]:
    """The tools as function definitions, in order. Tools with an invalid definition are left out."""
    return [found for tool in tools if (found := _specification(tool)) is not None]


def _specification(tool: CompiledTool) -> dict[str, Any] | None:
    try:
        parameters = _parameters(tool)
    except MalformedTool:
        return None
    return AgentToolDefinition(tool.name, tool.definition.description, parameters).as_openai()


def _parameters(tool: CompiledTool) -> Mapping[str, Any]:
    """The JSON Schema of the tool's arguments. Raises MalformedTool."""
    if (handler := handler_of(tool.name, tool.definition)) is not None:
        return handler.schema
    wanted = called_parameters(tool.name, tool.definition)
    return wanted if isinstance(wanted, dict) else NO_PARAMETERS
