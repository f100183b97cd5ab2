"""The observer (CAObserverFlow): learns customer facts from each turn, in order, and from what operators answer."""

from __future__ import annotations

from uuid import UUID

from conversations.context.observed_context import scene_at
from conversations.context.turn_context import TurnContext
from conversations.context.turn_context_cache import read_after_reply
from conversations.flows.group_commit import commit
from conversations.live.event_log import ConversationLog
from conversations.live.model_calls import add_calls, as_failure, keep_calls
from conversations.models import Turn
from conversations.prompts.observer import Observation, RatedObservation, build_request, output_of
from conversations.turns.after_reply import watched_message
from conversations.turns.customer_fields import keep_facts, refusal_of
from conversations.turns.quality import keep_quality
from jobs.failpoints import failpoint
from jobs.fence import job_tx, reading
from jobs.lanes import ClaimedJob
from jobs.model_client import model_client
from jobs.models import State
from llm.errors import LlmError
from llm.types import CallRecord
from tenancy.threads import in_db


async def run_observer(job: ClaimedJob) -> None:
    """Read the latest exchange, and store the facts it reveals."""
    context = await _load_context(job)
    if context is None:
        await in_db(_skip, job)
        return
    records: list[CallRecord] = []
    try:
        observation = await model_client().structured(
            build_request(context), output=output_of(context), record=records.append
        )
    except LlmError as error:
        await in_db(keep_calls, job, context.turn, records)
        raise as_failure(error) from error
    failpoint("lane.llm_done_pre_commit")
    await commit(job, lambda log: _write(log, job, context, observation, records), finish=State.DONE)
    failpoint("lane.committed")


async def _load_context(job: ClaimedJob) -> TurnContext | None:
    """Context of the job's turn, or of a message without a turn. None if the agent answers that message after all."""
    message_id = watched_message(job.key)
    if message_id is None:
        return (await read_after_reply(job)).turn_context
    return await in_db(_load_observed, job, message_id)


def _load_observed(job: ClaimedJob, message_id: UUID) -> TurnContext | None:
    with reading(job):
        return scene_at(message_id)


def _skip(job: ClaimedJob) -> None:
    with job_tx(job, finish=State.SKIPPED, error="The agent answers this message, and its turn is observed."):
        pass


def _write(
    log: ConversationLog, job: ClaimedJob, context: TurnContext, observation: Observation, records: list[CallRecord]
) -> None:
    kept = keep_facts(
        context.conversation.persona_id,
        observation.facts,
        config=context.config,
        turn=context.turn,
        said=context.messages,
        writes=log.writes,
    )
    add_calls(log.writes, job, context.turn, records)
    refused = [refusal_of(fact, reason) for fact, reason in kept.refused]
    quality = observation.quality if isinstance(observation, RatedObservation) else None
    if refused and context.turn.pk is not None:
        log.writes.change(Turn, context.turn.pk, refused=refused)
    if quality:
        keep_quality(log, context.turn, quality)
    details = {
        "facts": {field.key: field.value for field in kept.written},
        "refused": refused,
        "quality": quality.model_dump() if quality else None,
    }
    if context.turn.pk is None:
        log.add_event("message_observed", payload={"message": str(context.turn.message_id), **details})
    else:
        log.add_turn_event(context.turn, lane="observer", state="done", **details)
