"""CANewoToolCaller: finds what the agent just promised, and plans to make it happen (T16, N01-N11)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from conversations.flows.calls import add_calls, as_failure, keep_calls
from conversations.log import ConversationLog, open_log
from conversations.models import Turn
from conversations.models.event import EventType
from conversations.scene import Scene
from conversations.shared_scenes import shared_scene_after
from jobs.claimed import ClaimedJob
from jobs.crash import crash_point
from jobs.enqueue import JobRequest, enqueue
from jobs.fence import job_tx
from jobs.model_client import model_client
from jobs.models import State
from llm.errors import LlmError
from llm.types import CallRecord, ModelSpec
from projects.model_choice import model_for
from projects.threads import in_db
from tools.catalogue import CompiledTool, compile_tools
from tools.judge import Judgement, judge
from tools.ledger import plan_effects, store_verdicts
from tools.models import Effect
from tools.presenters import effect_payload
from tools.skills.detect import Detection, TranscriptLine, detect


@dataclass(frozen=True)
class Begun:
    scene: Scene
    model: ModelSpec
    offered: Sequence[CompiledTool]

    @property
    def answer(self) -> str:
        reply = self.scene.turn.reply
        return reply.content if reply else ""


async def run_tool_caller(job: ClaimedJob) -> None:
    """Compile, detect, judge; store the verdicts and the plan together, before anything acts on them."""
    begun = await in_db(_begin, job)
    records: list[CallRecord] = []
    try:
        detections = await _detect_side_by_side(begun, records)
    except LlmError as error:
        await in_db(keep_calls, job, begun.scene.turn, records)
        raise as_failure(error) from error
    crash_point("lane.llm_done_pre_commit")
    judgements = judge(detections, tools=begun.offered, answer=begun.answer)
    await in_db(_commit, job, begun.scene, judgements, records)
    crash_point("lane.committed")


def _begin(job: ClaimedJob) -> Begun:
    with job_tx(job):
        scene = shared_scene_after(job)
        compiled = compile_tools(scene.project, channel=scene.conversation.channel)
        return Begun(
            scene=scene,
            model=model_for(scene.project, scene.config, "detect"),
            offered=[tool for tool in compiled if tool.is_offered],
        )


async def _detect_side_by_side(begun: Begun, records: list[CallRecord]) -> list[Detection]:
    """One call for the tools that read the latest answer only, one for those that read it all; none for no tool (N06-N08)."""
    groups = {
        history: [tool for tool in begun.offered if tool.definition.use_conversation_history is history]
        for history in (False, True)
    }
    lines = [TranscriptLine(role=line.role, content=line.content) for line in begun.scene.lines]
    calls = [
        detect(
            model_client(),
            begun.model,
            tools=tools,
            lines=lines if history else [],
            answer=begun.answer,
            summary=begun.scene.summary if history else "",
            record=records.append,
        )
        for history, tools in groups.items()
        if tools
    ]
    return list(await asyncio.gather(*calls))


def _commit(job: ClaimedJob, scene: Scene, judgements: Sequence[Judgement], records: list[CallRecord]) -> None:
    with job_tx(job, finish=State.DONE), open_log(job.subject_id) as log:
        conversation, turn = scene.conversation, scene.turn
        add_calls(job, turn, records)
        store_verdicts(judgements, conversation_id=conversation.pk, turn_id=turn.pk)
        effects = plan_effects(
            judgements, project_id=conversation.project_id, conversation_id=conversation.pk, turn_id=turn.pk
        )
        if effects:
            Turn.objects.filter(pk=turn.pk).update(tools_called=True)
            enqueue([_job_for(effect) for effect in effects])
        _tell(log, turn, effects, fired=[judgement.tool.name for judgement in judgements if judgement.fired])


def _job_for(effect: Effect) -> JobRequest:
    return JobRequest(
        lane="effect", project_id=effect.project_id, subject_id=effect.pk, ordinal=0, key=f"effect:{effect.pk}"
    )


def _tell(log: ConversationLog, turn: Turn, effects: Sequence[Effect], *, fired: Sequence[str]) -> None:
    for effect in effects:
        log.add_event("effect_planned", payload=effect_payload(effect), type=EventType.EFFECT)
    details: dict[str, Any] = {"lane": "tool_caller", "state": "done", "fired": list(fired)}
    log.add_turn_event(turn, **details)
