"""Finds open work in a conversation and creates todos for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conversations.context.turn_context import TurnContext, load_context
from conversations.flows.single_call import PendingCalls, ask_once, skip
from conversations.live.event_log import job_log
from conversations.models import Turn
from conversations.turns.conversation_end import searches_whole_conversation
from jobs.failpoints import failpoint
from jobs.fence import reading
from jobs.lanes import ClaimedJob
from jobs.models import State
from llm.types import ChatRequest
from tenancy.threads import in_db
from todos.models import TodoType
from todos.sources.extraction import Source, awaits_type, extracted_types, noted_lines, store_findings, todos_of
from todos.sources.extraction_prompt import SKILL, ExtractContext, Findings, ToolUse, build_request, type_lines
from tools.engine.skills.arguments import KnownFact
from tools.engine.skills.detect import TranscriptLine


@dataclass(frozen=True)
class ExtractionInput:
    """A conversation to search, and the request to the model."""

    source: Source
    types: Sequence[TodoType]
    request: ChatRequest


async def run_extraction(job: ClaimedJob) -> None:
    """Ask the model once, and store the accepted findings in one commit."""
    prepared = await in_db(_prepare, job)
    if prepared is None:
        await in_db(skip, job, "There is nothing to look for.")
        return
    calls = PendingCalls(job, prepared.source.project.pk)
    found = await ask_once(prepared.request, output=Findings, calls=calls)
    await in_db(_commit, job, prepared, found, calls)
    failpoint("lane.committed")


def _prepare(job: ClaimedJob) -> ExtractionInput | None:
    with reading(job):
        newest = Turn.objects.filter(conversation_id=job.subject_id).order_by("-seq").first()
        if newest is None:
            return None
        turn_context = load_context(job.subject_id, newest.seq)
        types, todos = list(extracted_types(turn_context.project.pk)), todos_of(job.subject_id)
        undecided = [" ".join(todo.quote.split()) for todo in todos if awaits_type(todo)]
        if not types or not (undecided or searches_whole_conversation(job.key)):
            return None
        context = ExtractContext(
            business_name=turn_context.config.business_name,
            now=turn_context.status.clock,
            types=type_lines(types),
            known=[KnownFact(field=fact.field, value=fact.value) for fact in turn_context.facts],
            acts=[ToolUse(name=act.name, state=act.state, note=act.note) for act in turn_context.actions],
            noted=noted_lines(todos),
            undecided=undecided,
            summary=turn_context.summary,
            messages=[TranscriptLine(role=line.role, content=line.content) for line in turn_context.lines],
        )
        request = build_request(context, model=turn_context.model(SKILL))
        return ExtractionInput(source=_source(turn_context), types=types, request=request)


def _source(turn_context: TurnContext) -> Source:
    conversation = turn_context.conversation
    words = "\n".join([turn_context.summary, *(line.content for line in turn_context.lines)])
    return Source(
        project=turn_context.project, conversation_id=conversation.pk, persona_id=conversation.persona_id, words=words
    )


def _commit(job: ClaimedJob, prepared: ExtractionInput, found: Findings, calls: PendingCalls) -> None:
    with job_log(job, job.subject_id, finish=State.DONE) as log:
        log.writes.insert(calls.rows())
        kept = store_findings(
            prepared.source, found.todos, types=prepared.types, is_over=searches_whole_conversation(job.key)
        )
        log.add_event("todos_extracted", payload={"todos": [str(todo.pk) for todo in kept]})
