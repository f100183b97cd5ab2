"""Drafts the correction of a broken promise, as a todo for a person to approve."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils import timezone

from conversations.common.business_hours import working_status
from conversations.common.consents import consent_fact
from conversations.common.prompt_shapes import Fact, Line
from conversations.common.queries import read_fields
from conversations.context.todo_transcript import read_todo_transcript
from conversations.flows.single_call import PendingCalls, ask_once, skip
from conversations.models import Conversation
from conversations.promises.make_good import broken_promise, day_of, is_uncertain, make_good
from conversations.prompts.make_good import MODEL_OF, MakeGood, MakeGoodContext, build_request
from jobs.errors import GiveUp
from jobs.failpoints import failpoint
from jobs.fence import job_tx, reading
from jobs.lanes import ClaimedJob
from jobs.models import ModelCall, State
from llm.errors import LlmError
from llm.types import ChatRequest
from projects.agents.hours_text import business_text
from projects.agents.model_choice import model_for
from tenancy.threads import in_db
from tools.models import Promise


@dataclass(frozen=True)
class MakeGoodInput:
    """A broken promise to make good. `request` is None if the effect may have happened: no model words that."""

    promise: Promise
    conversation: Conversation
    request: ChatRequest | None


async def run_make_good(job: ClaimedJob) -> None:
    """Ask the model for a draft, and create the todo in one commit. Without a model, the todo has fixed sentences."""
    prepared = await in_db(_prepare, job)
    if prepared is None:
        await in_db(skip, job, "The promise isn't broken any more.")
        return
    calls = PendingCalls(job, prepared.conversation.project_id)
    draft = await _ask(prepared, calls)
    await in_db(_commit, job, prepared, draft, calls)
    failpoint("lane.committed")


async def _ask(prepared: MakeGoodInput, calls: PendingCalls) -> MakeGood | None:
    if prepared.request is None:
        return None
    try:
        return await ask_once(prepared.request, output=MakeGood, calls=calls)
    except GiveUp:
        return None
    except LlmError:
        if not calls.job.is_last_attempt:
            raise
        return None


def fail_make_good(job: ClaimedJob, reason: str) -> None:
    """Create the todo with fixed sentences, because the job failed permanently."""
    promise = broken_promise(job.subject_id)
    if promise is not None:
        make_good(promise, _conversation_of(promise), None)


def _prepare(job: ClaimedJob) -> MakeGoodInput | None:
    with reading(job):
        promise = broken_promise(job.subject_id)
        if promise is None:
            return None
        conversation = _conversation_of(promise)
        if is_uncertain(promise):
            return MakeGoodInput(promise, conversation, None)
        config = conversation.project.agent_version.config
        known = {field.key: field.value for field in read_fields(conversation, config)}
        transcript = read_todo_transcript(conversation.pk)
        context = MakeGoodContext(
            business_name=config.business_name,
            business_context=business_text(config),
            language=known.get("language", ""),
            now=working_status(config, at=timezone.now()).clock,
            day=day_of(promise, conversation),
            quote=promise.quote,
            reason=promise.reason,
            known=[consent_fact(Fact(field=key, value=value)) for key, value in sorted(known.items())],
            summary=transcript.summary,
            messages=[Line(role=line.role, content=line.content) for line in transcript.messages],
        )
        request = build_request(context, model=model_for(conversation.project, config, MODEL_OF))
        return MakeGoodInput(promise, conversation, request)


def _conversation_of(promise: Promise) -> Conversation:
    return Conversation.objects.select_related("project__agent_version").get(pk=promise.conversation_id)


def _commit(job: ClaimedJob, prepared: MakeGoodInput, draft: MakeGood | None, calls: PendingCalls) -> None:
    """A promise that was kept since is still made good: a person decides about the draft."""
    with job_tx(job, finish=State.DONE):
        ModelCall.objects.bulk_create(calls.rows())
        make_good(prepared.promise, prepared.conversation, draft)
