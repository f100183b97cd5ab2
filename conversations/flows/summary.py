"""Folds the oldest messages of a long conversation into its summary, so that prompts stay short and no fact is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conversations.flows.calls import add_calls, as_failure, keep_calls
from conversations.log import job_log
from conversations.models import Summary
from conversations.scene import Scene, scene_after
from conversations.skills.summary import ConversationSummary, build_request
from conversations.summaries import is_due, keep_summary, to_fold
from conversations.transcript import Said, read_since
from jobs.claimed import ClaimedJob
from jobs.crash import crash_point
from jobs.fence import job_tx
from jobs.model_client import model_client
from jobs.models import State
from llm.errors import LlmError
from llm.types import CallRecord, ChatRequest
from projects.threads import in_db


@dataclass(frozen=True)
class Begun:
    """What is about to be folded, on top of the standing summary."""

    scene: Scene
    previous: Summary | None
    folded: Sequence[Said]
    request: ChatRequest


async def run_summary(job: ClaimedJob) -> None:
    """Write the next summary, unless an earlier turn's has covered enough by now."""
    begun = await in_db(_begin, job)
    if begun is None:
        await in_db(_skip, job)
        return
    records: list[CallRecord] = []
    try:
        written = await model_client().structured(begun.request, output=ConversationSummary, record=records.append)
    except LlmError as error:
        await in_db(keep_calls, job, begun.scene.turn, records)
        raise as_failure(error) from error
    crash_point("lane.llm_done_pre_commit")
    await in_db(_commit, job, begun, written, records)
    crash_point("lane.committed")


def _begin(job: ClaimedJob) -> Begun | None:
    with job_tx(job):
        scene = scene_after(job)
        previous = scene.conversation.summary
        messages = read_since(scene.conversation.pk, after=previous.until_seq if previous else 0)
        folded = to_fold(messages)
        if not is_due(messages) or not folded:
            return None
        request = build_request(scene, messages=folded, previous=previous)
        return Begun(scene=scene, previous=previous, folded=folded, request=request)


def _skip(job: ClaimedJob) -> None:
    with job_tx(job, finish=State.SKIPPED, error="The summary covers enough already."):
        pass


def _commit(job: ClaimedJob, begun: Begun, written: ConversationSummary, records: list[CallRecord]) -> None:
    """The lane runs one job of a conversation at a time: the standing summary is still the one this builds on."""
    with job_log(job, job.subject_id, finish=State.DONE) as log:
        add_calls(log.writes, job, begun.scene.turn, records)
        kept = keep_summary(
            log.conversation,
            until_seq=max(message.seq for message in begun.folded),
            text=written.text,
            facts={fact.field: fact.value for fact in written.facts},
            previous=begun.previous,
        )
        log.add_turn_event(begun.scene.turn, lane="summary", state="done", until=kept.until_seq)
