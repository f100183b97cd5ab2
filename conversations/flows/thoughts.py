"""CAThoughtsFlow: the directives for the next turn; a newer turn cancels it, an older one never overwrites (T13-T15)."""

from __future__ import annotations

import asyncio

from conversations.flows.calls import add_calls, as_failure, keep_calls
from conversations.log import ConversationLog, open_log
from conversations.models import Conversation, Directives, Turn
from conversations.models.event import EventType
from conversations.presenters import directives_payload
from conversations.scene import Scene
from conversations.shared_scenes import shared_scene_after
from conversations.skills.thoughts import KeyDirectives, build_request
from jobs.claimed import ClaimedJob
from jobs.crash import crash_point
from jobs.fence import job_tx
from jobs.model_client import model_client
from jobs.models import State
from llm.errors import LlmError
from llm.types import CallRecord, ChatRequest
from projects.threads import in_db


async def run_thoughts(job: ClaimedJob) -> None:
    """Write the directives that the next reply will follow."""
    scene, request = await in_db(_begin, job)
    records: list[CallRecord] = []
    try:
        directives = await model_client().structured(request, output=KeyDirectives, record=records.append)
    except asyncio.CancelledError:
        await asyncio.shield(in_db(keep_calls, job, scene.turn, records))
        raise
    except LlmError as error:
        await in_db(keep_calls, job, scene.turn, records)
        raise as_failure(error) from error
    crash_point("lane.llm_done_pre_commit")
    await in_db(_commit, job, scene, directives, records)
    crash_point("lane.committed")


def _begin(job: ClaimedJob) -> tuple[Scene, ChatRequest]:
    with job_tx(job):
        scene = shared_scene_after(job)
        return scene, build_request(scene)


def _commit(job: ClaimedJob, scene: Scene, written: KeyDirectives, records: list[CallRecord]) -> None:
    with job_tx(job, finish=State.DONE), open_log(job.subject_id) as log:
        add_calls(job, scene.turn, records)
        if log.conversation.directives_turn < scene.turn.seq:
            _replace_directives(log, scene.turn, written)
        log.add_turn_event(scene.turn, lane="thoughts", state="done")


def _replace_directives(log: ConversationLog, turn: Turn, written: KeyDirectives) -> None:
    """Compare-and-set by turn: directives of a turn never replace those of a later one (M7)."""
    version = Directives.objects.filter(conversation=log.conversation).count() + 1
    directives = Directives.objects.create(
        conversation=log.conversation, turn=turn, version=version, document=written.model_dump(mode="json")
    )
    changed = Conversation.objects.filter(pk=log.conversation.pk, directives_turn__lt=turn.seq).update(
        directives=directives, directives_turn=turn.seq
    )
    if changed:
        log.add_event("directives_written", payload=directives_payload(directives), type=EventType.DIRECTIVES)
