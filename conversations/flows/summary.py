"""Folds the oldest messages of a long conversation into its summary: prompts stay short, facts are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conversations.context.summaries import is_due, messages_to_fold, store_summary
from conversations.context.transcript import TranscriptMessage, read_since
from conversations.context.turn_context import TurnContext, context_after
from conversations.flows.single_call import PendingCalls, ask_once, skip
from conversations.live.event_log import job_log
from conversations.models import Summary
from conversations.prompts.summary import ConversationSummary, build_request
from jobs.errors import Skip
from jobs.failpoints import failpoint
from jobs.fence import job_tx
from jobs.lanes import ClaimedJob
from jobs.models import State
from llm.types import ChatRequest
from tenancy.threads import in_db
from tools.engine.limits.model_budget import Share


@dataclass(frozen=True)
class SummaryInput:
    """Messages to fold into the previous summary."""

    turn_context: TurnContext
    previous: Summary | None
    folded: Sequence[TranscriptMessage]
    request: ChatRequest


async def run_summary(job: ClaimedJob) -> None:
    """Write the next summary, unless an earlier turn's summary covers enough already."""
    prepared = await in_db(_prepare, job)
    if prepared is None:
        await in_db(skip, job, "The summary covers enough already.")
        return
    calls = PendingCalls(job, prepared.turn_context.project.pk, prepared.turn_context.turn.pk)
    written = await ask_once(
        prepared.request, output=ConversationSummary, calls=calls, share=Share.AGENT, otherwise=Skip
    )
    await in_db(_commit, job, prepared, written, calls)
    failpoint("lane.committed")


def _prepare(job: ClaimedJob) -> SummaryInput | None:
    with job_tx(job):
        context = context_after(job)
        previous = context.conversation.summary
        messages = read_since(context.conversation.pk, after=previous.until_seq if previous else 0)
        folded = messages_to_fold(messages)
        if not is_due(messages) or not folded:
            return None
        request = build_request(context, messages=folded, previous=previous)
        return SummaryInput(turn_context=context, previous=previous, folded=folded, request=request)


def _commit(job: ClaimedJob, prepared: SummaryInput, written: ConversationSummary, calls: PendingCalls) -> None:
    """The lane runs one job per conversation at a time, so `previous` is still the latest summary."""
    with job_log(job, job.subject_id, finish=State.DONE) as log:
        log.writes.insert(calls.rows())
        kept = store_summary(
            log.conversation,
            until_seq=max(message.seq for message in prepared.folded),
            text=written.text,
            facts={fact.field: fact.value for fact in written.facts},
            previous=prepared.previous,
        )
        log.add_turn_event(prepared.turn_context.turn, lane="summary", state="done", until=kept.until_seq)
