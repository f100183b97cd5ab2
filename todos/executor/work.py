"""A todo at hand: the worker's transactions on it, and everything that carrying it out needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast
from uuid import UUID

from django.db.models.functions import Now

from jobs.claimed import ClaimedJob
from jobs.fence import prove
from llm.types import ModelSpec
from projects.agent import AgentConfig
from projects.compiled import Compiled
from projects.model_choice import model_for
from projects.models import AgentVersion
from projects.tenancy import tenant_tx
from todos.content import CHANNEL, compiled_tools, tools_of
from todos.executor.conversation import hold
from todos.models import Approval, Todo, TodoCall, TodoStep
from todos.skills.execute import SKILL
from todos.versions import standing_approval
from tools.catalogue import CompiledTool, at_moment
from tools.contacts import contact_of
from tools.definition import Moment
from tools.execution.handler import Contact, Occasion
from tools.models import Effect


@dataclass(frozen=True)
class Taken:
    """A step that was decided, with its calls in order, each with its effect."""

    step: TodoStep
    calls: Sequence[TodoCall]


@dataclass(frozen=True)
class Work:
    """A run of one approval. `tools` are those that may be used, in the order they are offered (L09); `now` is the database's
    time; `steps` are what was decided so far, with their calls.
    """

    todo: Todo
    approval: Approval
    config: AgentConfig
    model: ModelSpec
    tools: Mapping[str, CompiledTool]
    contact: Contact | None
    steps: Sequence[Taken]
    now: datetime

    @property
    def is_frozen(self) -> bool:
        """Whether exactly one call was approved, and no model is asked."""
        return bool(self.todo.tool) or self.todo.effect_id is not None

    @property
    def calls(self) -> list[TodoCall]:
        return [call for taken in self.steps for call in taken.calls]

    @property
    def open_calls(self) -> list[TodoCall]:
        """Calls without a result yet; an unknown outcome is one (T8)."""
        return [call for call in self.calls if call.finished_at is None]

    @property
    def has_stopped(self) -> bool:
        """Whether nothing more will be decided: the frozen call stands, or the model called nothing any more."""
        return bool(self.steps) and (self.is_frozen or not self.steps[-1].calls)

    def occasion(self, effect: Effect) -> Occasion:
        """Where, when and for whom an effect of this run happens."""
        return occasion_of(self.todo, effect, contact=self.contact)


LOCKED = Compiled(
    lambda todo: (
        Todo.objects.select_for_update(of=("self",), no_key=True)
        .select_related("project__agent_version", "type", "effect")
        .annotate(now=Now())
        .filter(pk=todo)
    ),
    kinds=(UUID,),
)
STEPS = Compiled(lambda approval: TodoStep.objects.filter(approval_id=approval).order_by("number"), kinds=(UUID,))
CALLS = Compiled(
    lambda approval: TodoCall.objects.select_related("effect").filter(step__approval_id=approval).order_by("index"),
    kinds=(UUID,),
)


@contextmanager
def todo_tx(job: ClaimedJob, *, conversation_id: UUID | None = None) -> Iterator[Todo]:
    """One transaction of a worker on its todo, which is locked before the job proves itself (jobs.fence). Raises Zombie.

    `conversation_id` is the todo's, where that learns in the same commit what becomes of effects: it is locked first of all.
    """
    with tenant_tx(job.organization_id), hold(conversation_id):
        todo = lock_todo(job.subject_id)
        prove(job)
        yield todo


def lock_todo(todo_id: UUID) -> Todo:
    """The todo, which nobody else changes before this transaction ends. Raises Todo.DoesNotExist."""
    found = LOCKED(todo_id)
    if not found:
        raise Todo.DoesNotExist
    return found[0]


def read_work(todo: Todo) -> Work | None:
    """What the locked todo's run is about; None when no approval of it stands."""
    approval = standing_approval(todo)
    if approval is None:
        return None
    config = config_of(todo)
    model = model_for(todo.project, config, SKILL)
    return Work(
        todo=todo,
        approval=approval,
        config=config,
        model=replace(model, model=todo.type.model) if todo.type and todo.type.model else model,
        tools=_usable(todo),
        contact=contact_of(todo.persona_id),
        steps=steps_of(approval),
        now=time_of(todo),
    )


def occasion_of(todo: Todo, effect: Effect, *, contact: Contact | None) -> Occasion:
    """Where, when and for whom an effect of a locked todo happens."""
    config = config_of(todo)
    return Occasion(
        organization_id=cast(UUID, todo.organization_id),
        project_id=todo.project_id,
        effect_id=effect.pk,
        key=effect.effect_key,
        conversation_id=todo.conversation_id,
        turn_id=effect.turn_id,
        channel=CHANNEL,
        timezone=config.timezone,
        at=time_of(todo),
        contact=contact,
        business=config.business_name,
        quote=todo.quote,
    )


def config_of(todo: Todo) -> AgentConfig:
    """The settings of the todo's agent."""
    return cast(AgentVersion, todo.project.agent_version).config


def steps_of(approval: Approval) -> list[Taken]:
    """The steps of an approval's run, in order."""
    of_step = defaultdict[UUID, list[TodoCall]](list)
    for call in CALLS(approval.pk):
        of_step[call.step_id].append(call)
    return [Taken(step, of_step[step.pk]) for step in STEPS(approval.pk)]


def time_of(todo: Todo) -> datetime:
    """The database's time at which a todo was locked."""
    return cast(datetime, vars(todo)["now"])


def _usable(todo: Todo) -> dict[str, CompiledTool]:
    known = {tool.name: tool for tool in at_moment(compiled_tools(todo.project).values(), Moment.TASK)}
    return {name: known[name] for name in tools_of(todo) if name in known and known[name].is_offered}
