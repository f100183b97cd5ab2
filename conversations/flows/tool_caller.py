"""CANewoToolCaller: AnalyzeConversation, which finds what the agent just promised and sees that it happens (T16, N01-N13)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from conversations.context.turn_context import TurnContext, context_after
from conversations.context.turn_context_cache import channel_of, load_after_reply
from conversations.flows.group_commit import commit
from conversations.followups.waits import is_waiting
from conversations.live.event_log import ConversationLog, open_log
from conversations.live.model_calls import add_calls, as_job_error, store_calls
from conversations.models import Analysis
from conversations.promises.apply_verdicts import execute, is_waited_for, put_claims_right, source_of, update_follow_up
from conversations.promises.unsupported_promises import make_todos
from jobs.failpoints import failpoint
from jobs.fence import job_tx, reading
from jobs.lanes import ClaimedJob
from jobs.model_client import model_client
from jobs.models import State
from llm.errors import LlmError
from llm.types import CallRecord, ModelSpec
from tenancy.prepared_queries import PreparedQuery
from tenancy.threads import in_db
from tools.engine.analysis import steps
from tools.engine.analysis.conflicts import (
    Conflicts,
    Resolution,
    identify_conflicts,
    resolve_conflict,
    resolve_conflicts,
)
from tools.engine.analysis.exchange import Detections, Groups, detect_commitments, group_tools
from tools.engine.analysis.steps import StepDocument, candidates, compiled_object, contested_of, merge_steps, step_data
from tools.engine.catalogue import CompiledTool
from tools.engine.promises import add_broken_promises, open_unsupported_promises
from tools.engine.skills.detect import Detection
from tools.engine.skills.exchange import Exchange, TranscriptLine
from tools.engine.verdicts import Judgement, judge

Contested = Mapping[str, Sequence[Judgement]]

STANDING = PreparedQuery(lambda turn: Analysis.objects.filter(turn_id=turn), kinds=(UUID,))


@dataclass(frozen=True)
class AnalysisInput:
    """A reply about to be analysed. `standing` is what an earlier attempt has stored already."""

    turn_context: TurnContext
    channel: str
    compiled: Sequence[CompiledTool]
    standing: Analysis | None

    @property
    def model(self) -> ModelSpec:
        return self.turn_context.model("detect")

    @property
    def offered(self) -> list[CompiledTool]:
        return [tool for tool in self.compiled if tool.is_offered]

    @property
    def exchange(self) -> Exchange:
        reply = self.turn_context.turn.reply
        return Exchange(
            answer=reply.content if reply else "",
            lines=[TranscriptLine(role=line.role, content=line.content) for line in self.turn_context.lines],
            summary=self.turn_context.summary,
        )


@dataclass(frozen=True)
class Read:
    """What the detections found, judged, with its conflicts."""

    groups: Groups
    detections: Detections
    judgements: Sequence[Judgement]
    conflicts: Conflicts


async def run_tool_caller(job: ClaimedJob) -> None:
    """Decide what no ranking can change and set it going at once; then rank the tools that compete, and go on (D2).

    Each decision is stored before anything acts on it; an attempt after a crash goes on from what stands.
    """
    begun = await _begin(job)
    contested = await _decide(job, begun) if begun.standing is None else _left_of(begun.standing)
    if contested:
        failpoint("tool_caller.decided_pre_rerank")
        await _rank(job, begun, contested)
    failpoint("lane.committed")


async def _begin(job: ClaimedJob) -> AnalysisInput:
    reading = await load_after_reply(job)
    standing = await in_db(_standing, job, reading.turn_context) if job.ran_before else None
    return AnalysisInput(reading.turn_context, channel_of(reading.turn_context), reading.tools, standing)


def _standing(job: ClaimedJob, context: TurnContext) -> Analysis | None:
    """What an earlier attempt has stored. A reply that is analysed already is not analysed again."""
    with reading(job):
        standing = next(iter(STANDING(context.turn.pk)), None)
    if standing is not None and standing.finished_at is not None:
        with job_tx(job, finish=State.SKIPPED, error="The reply was analysed already."):
            pass
    return standing


async def _decide(job: ClaimedJob, begun: AnalysisInput) -> Contested:
    """Steps 1 to 5, and the rest of them for everything that needs no ranking. Returns what does, by tag."""
    records: list[CallRecord] = []
    groups, exchange = group_tools(begun.offered), begun.exchange
    try:
        detections = await detect_commitments(
            model_client(), begun.model, groups=groups, exchange=exchange, record=records.append
        )
    except LlmError as error:
        await in_db(store_calls, job, begun.turn_context.turn, records)
        raise as_job_error(error) from error
    failpoint("lane.llm_done_pre_commit")
    judgements = judge(detections.all, tools=begun.offered, exchange=exchange)
    read = Read(groups, detections, judgements, identify_conflicts(judgements))
    finish = None if read.conflicts.contested else State.DONE
    await commit(job, lambda log: _write_decided(log, job, begun, read, records), finish=finish)
    if is_waited_for(read.conflicts.decided):
        failpoint("wait.opened")
    return read.conflicts.contested


async def _rank(job: ClaimedJob, begun: AnalysisInput, contested: Contested) -> None:
    """Step 6 for the tags with more than one candidate, and the rest of the steps for their winners."""
    records: list[CallRecord] = []
    try:
        settled = await resolve_conflicts(
            model_client(), begun.model, contested=contested, exchange=begun.exchange, record=records.append
        )
    except LlmError as error:
        await in_db(store_calls, job, begun.turn_context.turn, records)
        raise as_job_error(error) from error
    await commit(job, lambda log: _write_ranked(log, job, begun.turn_context, settled, records), finish=State.DONE)


def _write_decided(
    log: ConversationLog, job: ClaimedJob, begun: AnalysisInput, read: Read, records: list[CallRecord]
) -> None:
    context = begun.turn_context
    add_calls(log.writes, job, context.turn, records)
    executed = execute(log, context, read.conflicts.decided)
    put_claims_right(log, context.turn, read.judgements)
    unserved = read.detections.unserved(begun.exchange.answer, served=[one.quote for one in read.judgements])
    make_todos(log, open_unsupported_promises(unserved, source=source_of(log, context)))
    trace = [*_reading_steps(begun, read), steps.EXECUTE.document(effects=executed.document)]
    analysis = Analysis(conversation=log.conversation, turn=context.turn, steps=trace)
    if not read.conflicts.contested:
        _finish(log, context, analysis, settled={})
    log.writes.insert([analysis])


def _write_ranked(
    log: ConversationLog,
    job: ClaimedJob,
    context: TurnContext,
    settled: Mapping[str, Resolution],
    records: list[CallRecord],
) -> None:
    add_calls(log.writes, job, context.turn, records)
    _go_on(log, context, settled)


def fail_ranking(job: ClaimedJob, reason: str) -> None:
    """No ranking could be had for good: of the tools that still compete none runs, and the trace says so (E7)."""
    context = context_after(job)
    standing = Analysis.objects.filter(turn=context.turn, finished_at=None).first()
    if standing is None:
        return
    with open_log(job.subject_id) as log:
        _go_on(log, context, {tag: resolve_conflict(tag, rivals, None) for tag, rivals in _left_of(standing).items()})


def _go_on(log: ConversationLog, context: TurnContext, settled: Mapping[str, Resolution]) -> None:
    """The rest of the steps for what was ranked."""
    analysis = Analysis.objects.get(turn=context.turn)
    executed = execute(log, context, [judgement for one in settled.values() for judgement in one.judgements])
    for one in settled.values():
        if one.winner is None:
            add_broken_promises([one.judgements[0].quote], reason=one.why, source=source_of(log, context))
    before = step_data(analysis.steps, steps.EXECUTE)["effects"]
    analysis.steps = [*analysis.steps, steps.EXECUTE.document(effects=[*before, *executed.document])]
    _finish(log, context, analysis, settled=settled)
    log.writes.update(analysis, ("steps", "finished_at"))


def _finish(
    log: ConversationLog, context: TurnContext, analysis: Analysis, *, settled: Mapping[str, Resolution]
) -> None:
    """Step 6's winners, and steps 8 and 9; the trace is complete."""
    tags = step_data(analysis.steps, steps.IDENTIFY)["tags"]
    winners = {tag: settled[tag].winner if tag in settled else names[0] for tag, names in tags.items()}
    undecided = {tag: one.why for tag, one in settled.items() if one.winner is None}
    fired = [effect["tool"] for effect in step_data(analysis.steps, steps.EXECUTE)["effects"]]
    waits = is_waiting(log.conversation.pk)
    ending = [
        steps.RESOLVE.document(winners=winners, ranked=list(settled), undecided=undecided),
        steps.FOLLOW_UP.document(**update_follow_up(log, context.turn, fired=fired)),
        steps.STATE.document(tools_called=bool(fired), waiting=waits),
    ]
    analysis.steps, analysis.finished_at = merge_steps([*analysis.steps, *ending]), log.now
    log.add_turn_event(context.turn, lane="tool_caller", state="done", fired=fired)


def _reading_steps(begun: AnalysisInput, read: Read) -> list[StepDocument]:
    return [
        steps.COMPILE.document(
            channel=begun.turn_context.conversation.channel,
            evaluated_as=begun.channel,
            tools=compiled_object(begun.compiled),
        ),
        steps.GROUP.document(
            without_history=[tool.name for tool in read.groups.without_history],
            with_history=[tool.name for tool in read.groups.with_history],
        ),
        steps.WITHOUT_HISTORY.document(**_seen(read.detections.without_history)),
        steps.WITH_HISTORY.document(**_seen(read.detections.with_history)),
        steps.IDENTIFY.document(tags=read.conflicts.tags, contested=candidates(read.conflicts.contested)),
    ]


def _seen(detection: Detection | None) -> dict[str, Any]:
    """What a call read; a group without a tool made none."""
    return {"asked": False} if detection is None else {"asked": True, **detection.model_dump(mode="json")}


def _left_of(standing: Analysis) -> Contested:
    """What an earlier attempt left to be ranked."""
    if standing.finished_at is not None:
        return {}
    compiled = step_data(standing.steps, steps.COMPILE)["tools"]
    return contested_of(step_data(standing.steps, steps.IDENTIFY)["contested"], compiled)
