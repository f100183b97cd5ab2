"""One step of a run: what a model decides, stored before anything acts on it (L12, L14, T6)."""

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
from llm.types import CallRecord, Completion, FinishReason
from tenancy.prepared_queries import PreparedQuery
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tenancy.write_batch import WriteBatch
from todos.content.lifecycle import AGENT
from todos.content.snapshot import recipients_of
from todos.content.versions import standing_approval, time_of
from todos.executor import planning
from todos.executor.calls import HeldCall, StartedCall, begin_call
from todos.executor.conversation import transcript_of
from todos.executor.planning import Plan, plan_calls, plan_frozen
from todos.executor.prompt import ExecuteContext, build_request
from todos.executor.run_context import RunContext, StepWithCalls, todo_tx
from todos.models import Todo, TodoStatus, TodoStep
from todos.services import return_to_review
from tools.engine.catalogue import CompiledTool
from tools.engine.execution.deduplication import EXECUTED_STATES
from tools.engine.execution.schemas import NO_PARAMETERS, MalformedTool, arguments_schema, handler_of
from tools.engine.function_calling.messages import call_messages
from tools.engine.function_calling.offer import AgentToolDefinition
from tools.engine.skills.arguments import KnownFact
from tools.models import Effect

log = logging.getLogger(__name__)

# Asking again can't help; whatever else a model fails with may pass.
HOPELESS = (Rejected, Refused, Blocked, LengthCut)
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
    """A step that is stored: its calls that are to be carried out, and how the first of them has begun, if it has."""

    calls: Sequence[UUID] = ()
    first: StartedCall | HeldCall | None = None


async def take_step(job: ClaimedJob, work: RunContext, context: ExecuteContext) -> Step:
    """Ask for the next step, and commit it.

    Raises LlmError where it may be tried again, else GiveUp.
    """
    records: list[CallRecord] = []
    request = build_request(
        context, said=as_messages(work.steps), tools=specifications(work.tools.values()), model=work.model
    )
    try:
        completion = await model_client().complete(request, record=records.append)
        if completion.finish is FinishReason.LENGTH:
            raise LengthCut("The model's answer was cut, because it was too long.")
    except LlmError as error:
        await in_db(_keep_calls, job, work.todo, records)
        raise (GiveUp(str(error)) if isinstance(error, HOPELESS) else error) from error
    failpoint("todo.model_done_pre_commit")
    step = await _store_step(job, work, completion, records)
    failpoint("todo.step_committed")
    return step


async def _store_step(job: ClaimedJob, work: RunContext, completion: Completion, records: Sequence[CallRecord]) -> Step:
    """Where its first call can't be begun in the same commit, the step is stored all the same: no model is asked for it again."""
    try:
        return await in_db(_commit, job, work, completion, records, begins=True)
    except LeaseLost:
        raise
    except Exception:
        log.exception("The first call of a step of todo %s could not be begun along with it.", work.todo.pk)
        return await in_db(_commit, job, work, completion, records, begins=False)


def context_of(work: RunContext) -> ExecuteContext:
    """What the model is told of the todo, read in the transaction that decides to ask it.

    What was said is no part of what was approved: it tells how, and the approved content what.
    """
    todo, contact = work.todo, work.contact
    told = transcript_of(todo.conversation_id)
    facts = {name: getattr(contact, name) for name in ("name", "phone", "email", "language")} if contact else {}
    return ExecuteContext(
        business_name=work.config.business_name,
        business_context=work.config.business_context,
        now=work.now.astimezone(ZoneInfo(work.config.timezone)).strftime("%A %d %B %Y, %H:%M"),
        kind=f"{todo.type.name}: {todo.type.description}" if todo.type else "",
        description=todo.description,
        quote=todo.quote,
        contact=[KnownFact(field=name, value=value) for name, value in facts.items() if value],
        recipients=recipients_of(todo),
        earlier=_earlier(work),
        summary=told.summary,
        messages=list(told.messages),
    )


def store_frozen_step(work: RunContext) -> None:
    """The one step of a todo that asks no model; inside the transaction that takes it up."""
    step = TodoStep(todo=work.todo, approval=work.approval, number=1, started_at=work.now)
    _store(work.todo, step, plan_frozen(work, step), WriteBatch())


def _commit(
    job: ClaimedJob, work: RunContext, completion: Completion, records: Sequence[CallRecord], *, begins: bool
) -> Step:
    """One commit: the step, its calls, their planned effects, the first of which `begins` (T6, E1). A todo that was cancelled
    meanwhile takes no step more.
    """
    with todo_tx(job, begins_in=work.todo.conversation_id if begins else None) as todo:
        writes = WriteBatch()
        writes.insert(_rows(job, todo, records))
        if todo.status != TodoStatus.IN_PROGRESS or todo.version != work.todo.version:
            writes.send()
            return Step()
        step = TodoStep(
            todo=todo,
            approval=work.approval,
            number=len(work.steps) + 1,
            content=completion.text,
            model=work.model.model,
            cost=records[-1].cost_usd,
            total_ms=completion.total_ms,
            started_at=time_of(todo),
        )
        plan = plan_calls(work, step, completion.tool_calls)
        _store(todo, step, plan, writes)
        if plan.to_review:
            return_to_review(todo, reason=plan.to_review, actor=AGENT)
        due = [call for call in plan.calls if call.finished_at is None]
        first = begin_call(todo, due[0], approval=standing_approval(todo)) if due and begins else None
        return Step([call.pk for call in due], first)


def _store(todo: Todo, step: TodoStep, plan: Plan, writes: WriteBatch) -> None:
    """Write the step with its plan, and what else is to be written, in one statement."""
    if all(call.finished_at is not None for call in plan.calls):
        step.finished_at = step.started_at
    writes.insert([step])
    planning.store(plan, writes)
    writes.send()
    for call in plan.calls:
        if call.is_error:
            log.error("%s of todo %s: %s", call.name, todo.pk, call.result)


def _earlier(work: RunContext) -> list[str]:
    """What earlier runs of this todo did, or may have done (T11); the first version has none."""
    if work.approval.version == 1:
        return []
    done = EARLIER(work.todo.pk, work.approval.pk)
    return [f"{one.tool}, {one.state}: {one.told or one.error}" for one in done]


def _keep_calls(job: ClaimedJob, todo: Todo, records: Sequence[CallRecord]) -> None:
    """Store the calls of a step that came to nothing, while no other worker has claimed the job since."""
    with tenant_tx(job.organization_id):
        if Job.objects.select_for_update().filter(pk=job.id, token=job.token).exists():
            ModelCall.objects.bulk_create(_rows(job, todo, records))


def _rows(job: ClaimedJob, todo: Todo, records: Sequence[CallRecord]) -> list[Any]:
    return call_rows(records, project_id=todo.project_id, job_id=job.id, subject_id=todo.pk, turn_id=None)


def as_messages(steps: Sequence[StepWithCalls]) -> list[dict[str, Any]]:
    """Messages in the wire format of Chat Completions."""
    return [message for taken in steps for message in call_messages(taken.step.content, taken.calls)]


def specifications(tools: Iterable[CompiledTool]) -> list[dict[str, Any]]:
    """Each tool as a function, in the order given; one whose definition can't be carried out is left out."""
    return [found for tool in tools if (found := _specification(tool)) is not None]


def _specification(tool: CompiledTool) -> dict[str, Any] | None:
    try:
        parameters = _parameters(tool)
    except MalformedTool:
        return None
    return AgentToolDefinition(tool.name, tool.definition.description, parameters).as_openai()


def _parameters(tool: CompiledTool) -> Mapping[str, Any]:
    """The JSON Schema of its arguments. Raises MalformedTool."""
    if (handler := handler_of(tool.name, tool.definition)) is not None:
        return handler.schema
    wanted = arguments_schema(tool.name, tool.definition)
    return wanted if isinstance(wanted, dict) else NO_PARAMETERS
