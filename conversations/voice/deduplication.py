"""Deduplication of live tool calls: redelivered by the network, or asked for again by the caller."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from conversations.common.business_hours import working_status
from conversations.live.model_calls import store_calls_about
from conversations.models import Event
from conversations.tool_runs.effects.argument_extraction import AskedAgain
from jobs.errors import GiveUp
from llm.client import Client
from llm.errors import LlmError
from llm.types import CallRecord, ModelSpec
from projects.agents.hours_text import business_text
from projects.agents.model_choice import model_for
from projects.agents.request_client import with_model_client
from projects.models import AgentVersion, Project
from tenancy.prepared_queries import PreparedQuery
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.execution.outcome import Signal
from tools.engine.limits.model_budget import Share, require_budget
from tools.engine.skills.arguments import SKILL, ExtractionContext, generate_object_by_schema
from tools.engine.skills.detect import TranscriptLine
from tools.models import Effect

SIGNALS: Mapping[str, Signal] = {"transferred": Signal.TRANSFER, "ended": Signal.END}
CALLED, ANSWERED = "live_tool_call", "live_tool_result"
# A model that calls more tools in one call is stuck.
MAX_CALLS = 200
CALLS = PreparedQuery(
    lambda conversation: Event.objects.filter(conversation_id=conversation, idn=CALLED).order_by("-seq")[:MAX_CALLS],
    kinds=(UUID,),
)
TASK = "The tool {tool} did this already in this call, and is called for the same again."


@dataclass(frozen=True)
class CallAnswer:
    """The session's answer: `result` for the voice model, `signal` for the channel if the agent's part is over."""

    result: str
    is_error: bool = False
    signal: Signal | None = None
    block: Mapping[str, Any] | None = None

    @property
    def signals(self) -> dict[str, bool]:
        """`{"transferred": true}` or `{"ended": true}` if the channel must stop the model, else empty."""
        return {name: True for name, signal in SIGNALS.items() if signal is self.signal}


@dataclass(frozen=True)
class Repeat:
    """A call for something that `earlier` did already."""

    organization_id: UUID
    earlier: Effect


def logged_answer(conversation_id: UUID, call_id: str) -> CallAnswer | None:
    """The answer logged for a call id, or None."""
    answers = Event.objects.filter(conversation_id=conversation_id, idn=ANSWERED, payload__call=call_id)
    event = answers.order_by("-seq").first()
    if event is None:
        return None
    logged = event.payload
    signal = logged.get("signal")
    return CallAnswer(logged["result"], logged["is_error"], Signal(signal) if signal else None, logged["block"])


def logged_calls(conversation_id: UUID) -> list[Event]:
    """The events logged when the calls of a conversation began, newest first."""
    return CALLS(conversation_id)


def effect_of(logged: Event, *, key: str) -> Effect | None:
    """The call's effect, by its `key` or, if a failed one was edited and has a new key, by its id."""
    return Effect.objects.filter(Q(effect_key=key) | Q(pk=logged.payload.get("effect"))).first()


def is_under_way(logged: Event, *, within: timedelta) -> bool:
    """True if the call began so recently that its worker may still be running it."""
    return logged.created_at > timezone.now() - within


async def has_caller_asked_again(repeat: Repeat, *, heard: str) -> bool:
    """True if the caller's words since then ask for it again; False if no model can answer or its budget is spent.

    No transaction may be open.
    """
    try:
        await require_budget(repeat.organization_id, repeat.earlier.project_id, Share.RESERVE)
    except GiveUp:
        return False
    extraction_context, model = await in_db(_extraction_context, repeat, heard)
    records: list[CallRecord] = []

    async def ask(client: Client) -> dict[str, Any]:
        task = TASK.format(tool=repeat.earlier.tool)
        return await generate_object_by_schema(
            client, model, schema=AskedAgain, task=task, extraction_context=extraction_context, record=records.append
        )

    try:
        return AskedAgain.model_validate(await with_model_client(ask)).asked_again
    except LlmError:
        return False
    finally:
        await in_db(
            store_calls_about,
            repeat.organization_id,
            repeat.earlier.project_id,
            records,
            conversation_id=repeat.earlier.conversation_id,
        )


def _extraction_context(repeat: Repeat, heard: str) -> tuple[ExtractionContext, ModelSpec]:
    earlier = repeat.earlier
    with tenant_tx(repeat.organization_id):
        project = Project.objects.select_related("agent_version").get(pk=earlier.project_id)
        config = cast(AgentVersion, project.agent_version).config
        extraction_context = ExtractionContext(
            business_name=config.business_name,
            business_context=business_text(config),
            now=working_status(config, at=timezone.now()).clock,
            known=[],
            messages=[TranscriptLine(role="customer", content=heard)],
            earlier=[f"{earlier.tool}: {earlier.told}"],
        )
        return extraction_context, model_for(project, config, SKILL)
