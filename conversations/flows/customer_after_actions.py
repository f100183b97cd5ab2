"""After-actions for todo effects without a conversation; they can only update customer fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast
from uuid import UUID

from django.utils import timezone

from conversations.common.business_hours import working_status
from conversations.models import Persona, PersonaField
from conversations.tool_runs.effects.after_actions import PreparedAction, execute_customer_action, prepare_after_action
from jobs.fence import job_tx
from jobs.lanes import ClaimedJob
from llm.types import ModelSpec
from projects.agents.hours_text import business_text
from projects.agents.model_choice import model_for
from projects.models.agent_config import AgentConfig
from tenancy.threads import in_db
from todos.models import Todo
from tools.engine.execution.after_actions import end_after_action, next_or_finish
from tools.engine.skills.arguments import SKILL, ExtractionContext, KnownFact
from tools.models import AfterActionState, Effect


@dataclass(frozen=True)
class AfterActionContext:
    """An effect of a todo without a conversation, and the customer the todo is about."""

    effect: Effect
    persona: Persona
    config: AgentConfig
    extraction_context: ExtractionContext
    model: ModelSpec


async def run_customer_after_actions(job: ClaimedJob) -> None:
    """Run the after-actions in order, one commit each, and finish the job."""
    context = await in_db(_read, job)
    while (row := await in_db(next_or_finish, job, context.effect)) is not None:
        if (prepared := await prepare_after_action(job, context, row)) is not None:
            await in_db(_commit, job, context, prepared)


def fail_customer_after_actions(effect: Effect, reason: str) -> None:
    """Fail the after-actions that did not run, because the job failed permanently."""
    for row in effect.after_actions.filter(state=AfterActionState.PLANNED):
        end_after_action(row, AfterActionState.FAILED, error=reason)


def _read(job: ClaimedJob) -> AfterActionContext:
    with job_tx(job):
        effect = Effect.objects.get(pk=job.subject_id)
        todo = Todo.objects.select_related("project__agent_version").filter(steps__calls__effect=effect)[0]
        # Planning skipped the after-actions of todos without a customer.
        persona = Persona.objects.get(pk=cast(UUID, todo.persona_id))
        config = todo.project.agent_version.config
        return AfterActionContext(
            effect=effect,
            persona=persona,
            config=config,
            extraction_context=_extraction_context(persona, config),
            model=model_for(todo.project, config, SKILL),
        )


def _extraction_context(persona: Persona, config: AgentConfig) -> ExtractionContext:
    fields = PersonaField.objects.filter(persona=persona, conversation=None).order_by("key")
    return ExtractionContext(
        business_name=config.business_name,
        business_context=business_text(config),
        now=working_status(config, at=timezone.now()).clock,
        known=[KnownFact(field=field.key, value=field.value) for field in fields],
        messages=[],
    )


def _commit(job: ClaimedJob, context: AfterActionContext, prepared: PreparedAction) -> None:
    with job_tx(job):
        execute_customer_action(context.persona, prepared, config=context.config)
