"""The observer (CAObserverFlow): learns customer facts from each turn, in order, and from what operators answer."""

from __future__ import annotations

from uuid import UUID

from conversations.common.unconfirmed import PREFIX
from conversations.context.turn_context import TurnContext, context_at_message
from conversations.context.turn_context_cache import load_after_reply
from conversations.flows.changed_mind import cancel_overtaken_effects
from conversations.flows.group_commit import commit
from conversations.live.event_log import ConversationLog
from conversations.live.model_calls import add_calls, as_job_error, store_calls
from conversations.models import Turn
from conversations.prompts.observer import Observation, RatedObservation, build_request, output_of
from conversations.turns.after_reply import observed_message
from conversations.turns.customer_fields import refused_fact, store_facts
from conversations.turns.flags import store_quality
from jobs.errors import Skip
from jobs.failpoints import failpoint
from jobs.fence import job_tx, reading
from jobs.lanes import ClaimedJob
from jobs.model_client import model_client
from jobs.models import State
from llm.errors import LlmError
from llm.types import CallRecord
from tenancy.threads import in_db
from tools.engine.limits.model_budget import Share, require_budget


async def run_observer(job: ClaimedJob) -> None:
    """Read the latest exchange, and store the facts it reveals."""
    context = await _load_context(job)
    if context is None:
        await in_db(_skip, job)
        return
    await require_budget(job.organization_id, context.project.pk, Share.AGENT, otherwise=Skip)
    records: list[CallRecord] = []
    try:
        observation = await model_client().structured(
            build_request(context), output=output_of(context), record=records.append
        )
    except LlmError as error:
        await in_db(store_calls, job, context.turn, records)
        raise as_job_error(error) from error
    failpoint("lane.llm_done_pre_commit")
    await commit(job, lambda log: _write(log, job, context, observation, records), finish=State.DONE)
    failpoint("lane.committed")


async def _load_context(job: ClaimedJob) -> TurnContext | None:
    """Context of the job's turn, or of a message without a turn. None if the agent answers that message after all."""
    message_id = observed_message(job.key)
    if message_id is None:
        return (await load_after_reply(job)).turn_context
    return await in_db(_load_observed, job, message_id)


def _load_observed(job: ClaimedJob, message_id: UUID) -> TurnContext | None:
    with reading(job):
        return context_at_message(message_id)


def _skip(job: ClaimedJob) -> None:
    with job_tx(job, finish=State.SKIPPED, error="The agent answers this message, and its turn is observed."):
        pass


def _write(
    log: ConversationLog, job: ClaimedJob, context: TurnContext, observation: Observation, records: list[CallRecord]
) -> None:
    kept = store_facts(
        # As locked by the log: the customer may have been merged since the model was asked.
        log.conversation.persona_id,
        observation.facts,
        config=context.config,
        turn=context.turn,
        transcript=context.messages,
        writes=log.writes,
        has_unconfirmed=any(field.key.startswith(PREFIX) for field in context.fields),
    )
    cancel_overtaken_effects(log, context, kept.changes)
    add_calls(log.writes, job, context.turn, records)
    refused = [refused_fact(fact, reason) for fact, reason in kept.refused]
    quality = observation.quality if isinstance(observation, RatedObservation) else None
    if refused and context.turn.pk is not None:
        log.writes.change(Turn, context.turn.pk, refused=refused)
    if quality:
        store_quality(log, context.turn, quality)
    details = {
        "facts": {field.key: field.value for field in kept.written},
        "refused": refused,
        "quality": quality.model_dump() if quality else None,
    }
    if context.turn.pk is None:
        log.add_event("message_observed", payload={"message": str(context.turn.message_id), **details})
    else:
        log.add_turn_event(context.turn, lane="observer", state="done", **details)
