"""Drafts how a broken promise is put right, and makes the todo of it that a person approves (D16)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils import timezone

from conversations.effects.told import read_told
from conversations.hours import working_status
from conversations.make_good import broken_promise, day_of, make_good
from conversations.models import Conversation, PersonaField
from conversations.skills.context import Fact, Line
from conversations.skills.make_good import MODEL_OF, MakeGood, MakeGoodContext, build_request
from jobs.calls import call_rows
from jobs.claimed import ClaimedJob
from jobs.crash import crash_point
from jobs.fence import job_tx, reading
from jobs.model_client import model_client
from jobs.models import ModelCall, State
from llm.errors import LlmError
from llm.types import CallRecord, ChatRequest
from projects.model_choice import model_for
from projects.threads import in_db
from tools.models import Promise


@dataclass(frozen=True)
class Begun:
    """A broken promise about to be made good."""

    promise: Promise
    conversation: Conversation
    request: ChatRequest


async def run_make_good(job: ClaimedJob) -> None:
    """Ask for the words once, and make the todo, in one commit. A model that can't be had at last leaves the fixed sentences."""
    begun = await in_db(_begin, job)
    if begun is None:
        await in_db(_skip, job)
        return
    records: list[CallRecord] = []
    try:
        draft = await model_client().structured(begun.request, output=MakeGood, record=records.append)
    except LlmError as error:
        if error.retryable and not job.is_last_attempt:
            await in_db(_keep_calls, job, begun, records)
            raise
        draft = None
    crash_point("lane.llm_done_pre_commit")
    await in_db(_commit, job, begun, draft, records)
    crash_point("lane.committed")


def give_up_make_good(job: ClaimedJob, reason: str) -> None:
    """The job has failed for good: the fixed sentences have to do."""
    promise = broken_promise(job.subject_id)
    if promise is not None:
        make_good(promise, _conversation_of(promise), None)


def _begin(job: ClaimedJob) -> Begun | None:
    with reading(job):
        promise = broken_promise(job.subject_id)
        if promise is None:
            return None
        conversation = _conversation_of(promise)
        config = conversation.project.agent_version.config
        known = {field.key: field.value for field in PersonaField.objects.filter(persona_id=conversation.persona_id)}
        told = read_told(conversation.pk)
        context = MakeGoodContext(
            business_name=config.business_name,
            business_context=config.business_context,
            language=known.get("language", ""),
            now=working_status(config, at=timezone.now()).clock,
            day=day_of(promise, conversation),
            quote=promise.quote,
            reason=promise.reason,
            known=[Fact(field=key, value=value) for key, value in sorted(known.items())],
            summary=told.summary,
            messages=[Line(role=line.role, content=line.content) for line in told.messages],
        )
        request = build_request(context, model=model_for(conversation.project, config, MODEL_OF))
        return Begun(promise, conversation, request)


def _conversation_of(promise: Promise) -> Conversation:
    return Conversation.objects.select_related("project__agent_version").get(pk=promise.conversation_id)


def _skip(job: ClaimedJob) -> None:
    with job_tx(job, finish=State.SKIPPED, error="The promise isn't broken any more."):
        pass


def _keep_calls(job: ClaimedJob, begun: Begun, records: Sequence[CallRecord]) -> None:
    with job_tx(job):
        _add_calls(job, begun, records)


def _add_calls(job: ClaimedJob, begun: Begun, records: Sequence[CallRecord]) -> None:
    rows = call_rows(
        records, project_id=begun.promise.project_id, job_id=job.id, subject_id=job.subject_id, turn_id=None
    )
    ModelCall.objects.bulk_create(rows)


def _commit(job: ClaimedJob, begun: Begun, draft: MakeGood | None, records: Sequence[CallRecord]) -> None:
    """One that was kept late meanwhile is made good all the same: a person decides about the draft."""
    with job_tx(job, finish=State.DONE):
        _add_calls(job, begun, records)
        make_good(begun.promise, begun.conversation, draft)
