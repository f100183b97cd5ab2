"""Thoughts (CAThoughtsFlow): write the directives for the next turn.

A newer turn cancels the job of an older one, and older directives never replace newer ones.
"""

from __future__ import annotations

import asyncio
from uuid import UUID

from conversations.common.presenters import directives_payload
from conversations.context.turn_context import TurnContext, context_after
from conversations.context.turn_context_cache import load_after_reply
from conversations.flows.group_commit import commit
from conversations.followups.waits import SKIPPED_WAITING, is_after_wait, is_waiting
from conversations.live.event_log import ConversationLog
from conversations.live.model_calls import add_calls, as_job_error, store_calls
from conversations.models import Conversation, Directives
from conversations.models.event import EventType
from conversations.prompts.thoughts import KeyDirectives, build_request
from jobs.errors import Skip
from jobs.failpoints import failpoint
from jobs.fence import job_tx, reading
from jobs.lanes import ClaimedJob
from jobs.model_client import model_client
from jobs.models import State
from llm.errors import LlmError
from llm.types import CallRecord
from tenancy.prepared_queries import PreparedQuery
from tenancy.threads import in_db
from tools.engine.limits.model_budget import Share, require_budget

NEWEST_DIRECTIVES = PreparedQuery(
    lambda conversation: Directives.objects.filter(conversation_id=conversation).order_by("-version")[:1], kinds=(UUID,)
)


class Waiting(RuntimeError):
    """Directives are not written while a tool's result is awaited: they would be stale before use."""


async def run_thoughts(job: ClaimedJob) -> None:
    """Write the directives for the next reply, unless a tool's result is awaited."""
    try:
        await _think(job)
    except Waiting:
        await in_db(_skip, job)


async def _think(job: ClaimedJob) -> None:
    context = await _load_context(job)
    await require_budget(job.organization_id, context.project.pk, Share.AGENT, otherwise=Skip)
    records: list[CallRecord] = []
    try:
        directives = await model_client().structured(
            build_request(context), output=KeyDirectives, record=records.append
        )
    except asyncio.CancelledError:
        await asyncio.shield(in_db(store_calls, job, context.turn, records))
        raise
    except LlmError as error:
        await in_db(store_calls, job, context.turn, records)
        raise as_job_error(error) from error
    failpoint("lane.llm_done_pre_commit")
    try:
        await commit(job, lambda log: _write(log, job, context, directives, records), finish=State.DONE)
    except Waiting:
        await in_db(store_calls, job, context.turn, records)
        raise
    failpoint("lane.committed")


async def _load_context(job: ClaimedJob) -> TurnContext:
    """The shared reading may predate the end of a wait, and then lacks the result; read again in that case."""
    context = (await load_after_reply(job)).turn_context
    return await in_db(_read_context, job) if context.waits or is_after_wait(job.key) else context


def _read_context(job: ClaimedJob) -> TurnContext:
    with reading(job):
        context = context_after(job)
    if context.waits:
        raise Waiting
    return context


def _write(
    log: ConversationLog, job: ClaimedJob, context: TurnContext, written: KeyDirectives, records: list[CallRecord]
) -> None:
    if is_waiting(job.subject_id):
        raise Waiting
    add_calls(log.writes, job, context.turn, records)
    if log.conversation.directives_turn < context.turn.seq:
        _replace_directives(log, context, written)
    log.add_turn_event(context.turn, lane="thoughts", state="done")


def _skip(job: ClaimedJob) -> None:
    with job_tx(job, finish=State.SKIPPED, error=SKIPPED_WAITING):
        pass


def _replace_directives(log: ConversationLog, context: TurnContext, written: KeyDirectives) -> None:
    """Add a version. The conversation's lock guarantees that an older turn never replaces a newer one's directives."""
    conversation = log.conversation
    directives = Directives(
        conversation_id=conversation.pk,
        turn_id=context.turn.pk,
        version=_newest_version(conversation, context) + 1,
        document=written.model_dump(mode="json"),
    )
    log.writes.insert([directives])
    conversation.directives, conversation.directives_turn = directives, context.turn.seq
    log.add_event("directives_written", payload=directives_payload(directives), type=EventType.DIRECTIVES)


def _newest_version(conversation: Conversation, context: TurnContext) -> int:
    """Newest version under the lock; usually the one in the context, which saves a query."""
    current: Directives | None = context.conversation.directives
    if current is None or current.pk != conversation.directives_id:
        current = next(iter(NEWEST_DIRECTIVES(conversation.pk)), None)
    return current.version if current else 0
