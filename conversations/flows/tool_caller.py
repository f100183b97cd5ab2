"""The tool caller (CANewoToolCaller, AnalyzeConversation): finds what the agent just promised and starts it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext

from conversations.common.business_hours import working_status
from conversations.context.relayed import relayed_words
from conversations.context.turn_context import TurnContext, context_after
from conversations.context.turn_context_cache import channel_of, load_after_reply
from conversations.flows.group_commit import commit
from conversations.followups.waits import is_waiting
from conversations.live.event_log import ConversationLog, open_log
from conversations.live.model_calls import add_calls, as_job_error, store_calls
from conversations.models import Analysis, Turn
from conversations.promises.apply_verdicts import execute, flag_unbacked_claims, opens_wait, source_of, update_follow_up
from conversations.promises.unsupported_promises import create_todos
from conversations.turns.flags import flag_unanalyzed, unflag_unanalyzed
from jobs.errors import WrongState
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
from tools.engine.limits.model_budget import Share, require_budget
from tools.engine.promised_time import TimedQuote, timed_quotes
from tools.engine.promises import open_unsupported_promises
from tools.engine.skills.detect import Detection, Exchange, TranscriptLine
from tools.engine.verdicts import Judgement, judge

LANE = "tool_caller"

Contested = Mapping[str, Sequence[Judgement]]

STORED_ANALYSIS = PreparedQuery(lambda turn: Analysis.objects.filter(turn_id=turn), kinds=(UUID,))


@dataclass(frozen=True)
class AnalysisInput:
    """A reply to analyze. `stored` is the analysis stored by an earlier attempt."""

    turn_context: TurnContext
    channel: str
    compiled: Sequence[CompiledTool]
    stored: Analysis | None

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
            relayed=relayed_words(self.turn_context.effects, self.turn_context.sections),
            said_at=self.said_at,
        )

    @property
    def said_at(self) -> datetime:
        """The time of the reply, in the business's zone."""
        reply = self.turn_context.turn.reply
        return working_status(self.turn_context.config, at=reply.created_at if reply else self.turn_context.at).local


@dataclass(frozen=True)
class Findings:
    """The judged detections, with their conflicts."""

    groups: Groups
    detections: Detections
    judgements: Sequence[Judgement]
    conflicts: Conflicts


async def run_tool_caller(job: ClaimedJob) -> None:
    """Decide and start everything that needs no ranking, then rank the competing tools.

    Each decision is stored before anything acts on it; an attempt after a crash resumes from there. It may use the
    reserve of the model budget, because a promise that was made has to be detected and kept.
    """
    prepared = await _prepare(job)
    await require_budget(job.organization_id, prepared.turn_context.project.pk, Share.RESERVE)
    contested = await _decide(job, prepared) if prepared.stored is None else _unranked(prepared.stored)
    if contested:
        failpoint("tool_caller.decided_pre_rerank")
        await _rank(job, prepared, contested)
    failpoint("lane.committed")


async def _prepare(job: ClaimedJob) -> AnalysisInput:
    read = await load_after_reply(job)
    stored = await in_db(_stored_analysis, job, read.turn_context) if job.ran_before else None
    return AnalysisInput(read.turn_context, channel_of(read.turn_context), read.tools, stored)


def _stored_analysis(job: ClaimedJob, context: TurnContext) -> Analysis | None:
    """The analysis stored by an earlier attempt. A reply is never analyzed twice."""
    with reading(job):
        stored = next(iter(STORED_ANALYSIS(context.turn.pk)), None)
    if stored is not None and stored.finished_at is not None:
        with job_tx(job, finish=State.SKIPPED, error="The reply was analysed already."):
            pass
    return stored


async def _decide(job: ClaimedJob, prepared: AnalysisInput) -> Contested:
    """Run all steps for tools that need no ranking. Return the contested ones by tag."""
    records: list[CallRecord] = []
    groups, exchange = group_tools(prepared.offered), prepared.exchange
    try:
        detections = await detect_commitments(
            model_client(), prepared.model, groups=groups, exchange=exchange, record=records.append
        )
    except LlmError as error:
        await in_db(store_calls, job, prepared.turn_context.turn, records)
        raise as_job_error(error) from error
    failpoint("lane.llm_done_pre_commit")
    judgements = judge(detections.all, tools=prepared.offered, exchange=exchange)
    findings = Findings(groups, detections, judgements, identify_conflicts(judgements))
    finish = None if findings.conflicts.contested else State.DONE
    await commit(job, lambda log: _write_decided(log, job, prepared, findings, records), finish=finish)
    if opens_wait(findings.conflicts.decided):
        failpoint("wait.opened")
    return findings.conflicts.contested


async def _rank(job: ClaimedJob, prepared: AnalysisInput, contested: Contested) -> None:
    """Run step 6 for the contested tags, and the remaining steps for their winners."""
    records: list[CallRecord] = []
    try:
        settled = await resolve_conflicts(
            model_client(), prepared.model, contested=contested, exchange=prepared.exchange, record=records.append
        )
    except LlmError as error:
        await in_db(store_calls, job, prepared.turn_context.turn, records)
        raise as_job_error(error) from error
    await commit(job, lambda log: _write_ranked(log, job, prepared.turn_context, settled, records), finish=State.DONE)


def _write_decided(
    log: ConversationLog, job: ClaimedJob, prepared: AnalysisInput, findings: Findings, records: list[CallRecord]
) -> None:
    context = prepared.turn_context
    add_calls(log.writes, job, context.turn, records)
    executed = execute(log, context, findings.conflicts.decided)
    flag_unbacked_claims(log, context, findings.judgements)
    unserved = findings.detections.unserved(prepared.exchange, judgements=findings.judgements)
    said = timed_quotes(unserved, said_at=prepared.said_at)
    create_todos(log, open_unsupported_promises(said, source=source_of(log, context)))
    trace = [*_detection_steps(prepared, findings), steps.EXECUTE.document(effects=executed.document)]
    analysis = Analysis(conversation=log.conversation, turn=context.turn, steps=trace)
    if not findings.conflicts.contested:
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
    _apply_ranking(log, context, settled)


def fail_analysis(job: ClaimedJob, reason: str) -> None:
    """Leave an analysis that failed permanently to staff.

    Without verdicts, the conversation is flagged with the reply and how to run its tool caller again. If only the
    ranking failed, none of the competing tools runs, and staff decides.
    """
    stored = Analysis.objects.filter(turn__conversation_id=job.subject_id, turn__seq=job.ordinal).first()
    if stored is None:
        with open_log(job.subject_id) as log:
            turn = _turn_of(job.subject_id, job.ordinal)
            flag_unanalyzed(log, turn, reason=reason)
            log.add_turn_event(turn, lane=LANE, state="failed", error=reason)
    elif stored.finished_at is None:
        context = context_after(job)
        with open_log(job.subject_id) as log:
            undecided = {tag: resolve_conflict(tag, rivals, None) for tag, rivals in _unranked(stored).items()}
            _apply_ranking(log, context, undecided)


def reopen_analysis(conversation_id: UUID, ordinal: int) -> None:
    """Withdraw the flag of a failed analysis that staff runs again. Raises WrongState if the reply was analyzed."""
    with open_log(conversation_id) as log:
        turn = _turn_of(conversation_id, ordinal)
        if Analysis.objects.filter(turn=turn).exclude(finished_at=None).exists():
            raise WrongState(gettext("This reply is already analyzed. Undecided actions became todos."))
        unflag_unanalyzed(log, turn)
        log.add_turn_event(turn, lane=LANE, state="queued")


def _turn_of(conversation_id: UUID, seq: int) -> Turn:
    return Turn.objects.get(conversation_id=conversation_id, seq=seq)


def _apply_ranking(log: ConversationLog, context: TurnContext, settled: Mapping[str, Resolution]) -> None:
    """Run the remaining steps for the ranked tools. Promises that the ranking leaves without a tool are left to staff."""
    analysis = Analysis.objects.get(turn=context.turn)
    executed = execute(log, context, [judgement for one in settled.values() for judgement in one.judgements])
    source, reply = source_of(log, context), context.turn.reply
    for one in settled.values():
        left = [TimedQuote(quote) for quote in one.quotes_left(reply.content if reply else "")]
        create_todos(log, open_unsupported_promises(left, source=source, reason=one.why))
    before = step_data(analysis.steps, steps.EXECUTE)["effects"]
    analysis.steps = merge_steps([*analysis.steps, steps.EXECUTE.document(effects=[*before, *executed.document])])
    _finish(log, context, analysis, settled=settled)
    log.writes.update(analysis, ("steps", "finished_at"))


def _finish(
    log: ConversationLog, context: TurnContext, analysis: Analysis, *, settled: Mapping[str, Resolution]
) -> None:
    """Step 6's winners and steps 8 and 9, which complete the trace."""
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
    log.add_turn_event(context.turn, lane=LANE, state="done", fired=fired)


def _detection_steps(prepared: AnalysisInput, findings: Findings) -> list[StepDocument]:
    return [
        steps.COMPILE.document(
            channel=prepared.turn_context.conversation.channel,
            evaluated_as=prepared.channel,
            tools=compiled_object(prepared.compiled),
        ),
        steps.GROUP.document(
            without_history=[tool.name for tool in findings.groups.without_history],
            with_history=[tool.name for tool in findings.groups.with_history],
        ),
        steps.WITHOUT_HISTORY.document(**_detection_trace(findings.detections.without_history)),
        steps.WITH_HISTORY.document(**_detection_trace(findings.detections.with_history)),
        steps.IDENTIFY.document(tags=findings.conflicts.tags, contested=candidates(findings.conflicts.contested)),
    ]


def _detection_trace(detection: Detection | None) -> dict[str, Any]:
    """Trace entry of one detection; a group without tools makes no model call."""
    return {"asked": False} if detection is None else {"asked": True, **detection.model_dump(mode="json")}


def _unranked(stored: Analysis) -> Contested:
    """Contested tools that an earlier attempt left unranked."""
    if stored.finished_at is not None:
        return {}
    compiled = step_data(stored.steps, steps.COMPILE)["tools"]
    return contested_of(step_data(stored.steps, steps.IDENTIFY)["contested"], compiled)
