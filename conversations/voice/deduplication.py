"""What a live session asks for a second time: delivered again by the network, or wanted again by the caller (D18, E6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from conversations.common.business_hours import working_status
from conversations.evaluation.dry_run import store_calls
from conversations.models import Event
from conversations.tool_runs.effects.argument_extraction import AskedAgain
from llm.client import Client
from llm.errors import LlmError
from llm.types import CallRecord, ModelSpec
from projects.agents.model_choice import model_for
from projects.agents.request_client import with_model_client
from projects.models import AgentVersion, Project
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.execution.outcome import Signal
from tools.engine.skills.arguments import SKILL, ExtractionContext, generate_object_by_schema
from tools.engine.skills.exchange import TranscriptLine
from tools.models import Effect

SIGNALS: Mapping[str, Signal] = {"transferred": Signal.TRANSFER, "ended": Signal.END}
CALLED, ANSWERED = "live_tool_call", "live_tool_result"
TASK = "The tool {tool} did this already in this call, and is called for the same again."


@dataclass(frozen=True)
class CallAnswer:
    """What the session gets back: `result` for its model, and for the channel whether the agent's part is over (F18)."""

    result: str
    is_error: bool = False
    signal: Signal | None = None
    block: Mapping[str, Any] | None = None

    @property
    def signals(self) -> dict[str, bool]:
        """`{"transferred": true}` or `{"ended": true}`, where the channel stops the model."""
        return {name: True for name, signal in SIGNALS.items() if signal is self.signal}


@dataclass(frozen=True)
class Repeat:
    """A call for what `earlier` has done already."""

    organization_id: UUID
    earlier: Effect


def answer_before(conversation_id: UUID, call_id: str) -> CallAnswer | None:
    """The answer that a call of this id has had, as it stands in the conversation's log; None where it has had none."""
    event = _events(conversation_id, call_id, idn=ANSWERED)
    if event is None:
        return None
    kept = event.payload
    signal = kept.get("signal")
    return CallAnswer(kept["result"], kept["is_error"], Signal(signal) if signal else None, kept["block"])


def call_before(conversation_id: UUID, call_id: str) -> Event | None:
    """How a call of this id began; None where none has."""
    return _events(conversation_id, call_id, idn=CALLED)


def effect_of(called: Event, *, key: str) -> Effect | None:
    """The effect that the call began, under the `key` that it began with or, once it failed and was edited, under another (E1)."""
    return Effect.objects.filter(Q(effect_key=key) | Q(pk=called.payload.get("effect"))).first()


def is_under_way(called: Event, *, within: timedelta) -> bool:
    """Whether the call began so lately that whoever carries it out may still be at it."""
    return called.created_at > timezone.now() - within


async def has_caller_asked_again(repeat: Repeat, *, heard: str) -> bool:
    """Whether the caller's own words since ask for what was done already; not where no model can say so.

    No transaction may be open.
    """
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
        await in_db(store_calls, repeat.organization_id, repeat.earlier.project_id, records)


def _extraction_context(repeat: Repeat, heard: str) -> tuple[ExtractionContext, ModelSpec]:
    earlier = repeat.earlier
    with tenant_tx(repeat.organization_id):
        project = Project.objects.select_related("agent_version").get(pk=earlier.project_id)
        config = cast(AgentVersion, project.agent_version).config
        extraction_context = ExtractionContext(
            business_name=config.business_name,
            business_context=config.business_context,
            now=working_status(config, at=timezone.now()).clock,
            known=[],
            messages=[TranscriptLine(role="customer", content=heard)],
            earlier=[f"{earlier.tool}: {earlier.told}"],
        )
        return extraction_context, model_for(project, config, SKILL)


def _events(conversation_id: UUID, call_id: str, *, idn: str) -> Event | None:
    rows = Event.objects.filter(conversation_id=conversation_id, idn=idn, payload__call=call_id)
    return rows.order_by("-seq").first()
