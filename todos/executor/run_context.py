"""The data of a run, and the worker's transactions on its todo."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar, cast
from uuid import UUID

from django.db.models import Model

from jobs.fence import prove
from jobs.lanes import ClaimedJob
from llm.types import ModelSpec
from projects.agents.model_choice import model_for
from projects.models import AgentVersion
from projects.models.agent_config import AgentConfig
from tenancy.prepared_queries import PreparedQuery
from tenancy.scope import current_organization_id, tenant_tx
from todos.content.snapshot import CHANNEL, ApprovalContext, load_approval_context, tools_of
from todos.content.versions import LOCK, current_approval, load_todo, time_of
from todos.executor.conversation import hold
from todos.executor.prompt import SKILL
from todos.models import Approval, Todo, TodoCall, TodoStep
from todos.models.step import MOST_STEPS
from tools.engine.catalogue import CompiledTool
from tools.engine.definition import Trigger
from tools.engine.execution.handler import Contact, Place, ToolContext
from tools.engine.execution.plan import effect_context
from tools.models import Effect

M = TypeVar("M", bound=Model)


@dataclass(frozen=True)
class StepWithCalls:
    """A stored step with its calls in order, each with its effect."""

    step: TodoStep
    calls: Sequence[TodoCall]


@dataclass(frozen=True)
class RunContext:
    """The run of one approval. `now` is the database's time; `steps` are the steps so far, whose open calls have their
    effects.
    """

    todo: Todo
    approval: Approval
    config: AgentConfig
    model: ModelSpec
    approval_context: ApprovalContext
    steps: Sequence[StepWithCalls]
    now: datetime

    @property
    def tools(self) -> Mapping[str, CompiledTool]:
        """The usable tools, in the order they are offered."""
        known = self.approval_context.tools
        return {name: known[name] for name in tools_of(self.todo) if name in known and _is_usable(known[name])}

    @property
    def contact(self) -> Contact | None:
        return self.approval_context.contact

    @property
    def is_frozen(self) -> bool:
        """True if exactly one call was approved and no model is called."""
        return bool(self.todo.tool) or self.todo.effect_id is not None

    @property
    def calls(self) -> list[TodoCall]:
        return [call for entry in self.steps for call in entry.calls]

    @property
    def open_calls(self) -> list[TodoCall]:
        """Calls without a result. An unknown outcome is a result."""
        return [call for call in self.calls if call.finished_at is None]

    @property
    def has_stopped(self) -> bool:
        """True if no more steps follow: the frozen call is stored, or the model's last step made no calls."""
        return bool(self.steps) and (self.is_frozen or not self.steps[-1].calls)

    @property
    def place(self) -> Place:
        return place_of(self.todo, contact=self.contact)


STEPS = PreparedQuery(lambda approval: TodoStep.objects.filter(approval_id=approval).order_by("number"), kinds=(UUID,))
# By keys, ten at a time: the planner might drive a join by organization, which has far more rows than one run.
CALLS = PreparedQuery(
    lambda *steps: TodoCall.objects.filter(step_id__in=steps).order_by("index"), kinds=(UUID,) * MOST_STEPS
)
EFFECTS = PreparedQuery(lambda *effects: Effect.objects.filter(pk__in=effects), kinds=(UUID,) * MOST_STEPS)
NO_ID = UUID(int=0)


@contextmanager
def todo_tx(job: ClaimedJob, *, conversation_id: UUID | None) -> Iterator[Todo]:
    """A worker's transaction on its todo, which is locked before the job proves its lease (jobs.fence). Raises
    LeaseLost.

    Pass the todo's conversation if an effect may start or end: it is locked first, and logs the change in the same
    commit.
    """
    with tenant_tx(job.organization_id, plans_once=True), hold(conversation_id):
        LOCK(job.organization_id, job.subject_id)
        prove(job)
        # A second statement sees everything that was committed during the wait for the lock.
        yield load_todo(job.subject_id)


def lock_todo(todo_id: UUID) -> Todo:
    """Lock the todo for the rest of the transaction and return it. Raises Todo.DoesNotExist."""
    LOCK(current_organization_id(), todo_id)
    return load_todo(todo_id)


def load_run(todo: Todo, *, approval_context: ApprovalContext | None = None) -> RunContext | None:
    """Read the run of the locked todo; None if it has no current approval.

    The context may come from an earlier transaction of the run. It decides the next step only: the approval is checked
    with fresh data before each effect.
    """
    approval = current_approval(todo)
    if approval is None:
        return None
    config = config_of(todo)
    model = model_for(todo.project, config, SKILL)
    return RunContext(
        todo=todo,
        approval=approval,
        config=config,
        model=replace(model, model=todo.type.model) if todo.type and todo.type.model else model,
        approval_context=approval_context or load_approval_context(todo),
        steps=load_steps(approval),
        now=time_of(todo),
    )


def tool_context_of(todo: Todo, effect: Effect, *, contact: Contact | None) -> ToolContext:
    """The context for an effect of a locked todo."""
    return effect_context(effect, place_of(todo, contact=contact))


def place_of(todo: Todo, *, contact: Contact | None) -> Place:
    """The place where a locked todo's tools run: outside of any channel."""
    config = config_of(todo)
    return Place(
        organization_id=cast(UUID, todo.organization_id),
        project_id=todo.project_id,
        conversation_id=todo.conversation_id,
        turn_id=None,
        channel=CHANNEL,
        timezone=config.timezone,
        at=time_of(todo),
        contact=contact,
        business=config.business_name,
    )


def config_of(todo: Todo) -> AgentConfig:
    """The configuration of the todo's agent."""
    return cast(AgentVersion, todo.project.agent_version).config


def load_steps(approval: Approval) -> list[StepWithCalls]:
    """The steps of an approval's run, in order."""
    steps, calls_by_step = STEPS(approval.pk), defaultdict[UUID, list[TodoCall]](list)
    calls = _in_batches(CALLS, [step.pk for step in steps])
    still_open = [call.effect_id for call in calls if call.finished_at is None and call.effect_id is not None]
    effects = {effect.pk: effect for effect in _in_batches(EFFECTS, still_open)}
    for call in calls:
        if call.effect_id in effects:
            call.effect = effects[call.effect_id]
        calls_by_step[call.step_id].append(call)
    return [_with_calls(step, calls_by_step[step.pk], approval) for step in steps]


def _in_batches(rows: PreparedQuery[M], keys: Sequence[UUID]) -> list[M]:
    """The rows with these keys, queried ten at a time."""
    found = list[M]()
    for start in range(0, len(keys), MOST_STEPS):
        batch = keys[start : start + MOST_STEPS]
        found += rows(*batch, *[NO_ID] * (MOST_STEPS - len(batch)))
    return found


def _with_calls(step: TodoStep, calls: list[TodoCall], approval: Approval) -> StepWithCalls:
    step.approval = approval
    for call in calls:
        call.step = step
    return StepWithCalls(step, calls)


def _is_usable(tool: CompiledTool) -> bool:
    return Trigger.TASK in tool.moments and tool.is_offered and not tool.is_off_in_todos
