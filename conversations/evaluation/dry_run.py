"""Dry runs: the tools that would fire on an answer, saved or drafted, with their reasons and requests.

Nothing is executed. Only the model calls are stored, because they are billed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext

from conversations.common.business_hours import working_status
from conversations.common.contacts import contact_from_fields
from conversations.common.queries import read_fields
from conversations.context.evaluation_input import exchange_after, latest_turn, read_lines, written_exchange
from conversations.live.model_calls import store_calls_about
from conversations.models import Channel, Turn
from llm.client import Client
from llm.types import CallRecord, ModelSpec
from projects.agents.hours_text import business_text
from projects.agents.model_choice import model_for
from projects.agents.request_client import with_model_client
from projects.common.api_error import Unprocessable
from projects.models import AgentVersion, Project
from projects.models.agent_config import AgentConfig
from tenancy.ids import uuid7
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.business_state import read_state
from tools.engine.catalogue import CompiledTool, at_moment, is_called_by_model, merge_tools
from tools.engine.custom.current_tools import CurrentTool, load_current_tools
from tools.engine.custom.secrets import WebhookSecrets, secrets_of
from tools.engine.definition import Trigger
from tools.engine.execution.handler import Place, ToolContext
from tools.engine.execution.plan import effect_key
from tools.engine.limits.model_budget import refuse_if_spent
from tools.engine.preview import Preview, preview
from tools.engine.skills.arguments import SKILL, ExtractionContext, KnownFact
from tools.engine.skills.detect import Exchange
from tools.engine.try_tools import LocatedVerdict, try_tools, with_drafts


@dataclass(frozen=True)
class DryRun:
    """The input of a dry run, loaded in one transaction and evaluated outside of any.

    `called` are drafts that no commitment triggers. The agent calls them itself, so only a preview is possible.
    """

    organization_id: UUID
    project_id: UUID
    conversation_id: UUID | None
    offered: Sequence[CompiledTool]
    called: Sequence[CompiledTool]
    exchange: Exchange
    extraction_context: ExtractionContext
    tool_context: ToolContext
    detect_model: ModelSpec
    arguments_model: ModelSpec


@dataclass(frozen=True)
class DryRunVerdict:
    """The verdict on one tool. `preview` is set if it fired and previews were requested."""

    tried: LocatedVerdict
    preview: Preview | None = None


@dataclass(frozen=True)
class DryRunCall:
    """The request a tool would send if the agent called it now."""

    tool: CompiledTool
    preview: Preview


@dataclass(frozen=True)
class DryRunResult:
    """The result of a dry run: verdicts in the order of their quotes, and previews of called tools."""

    verdicts: Sequence[DryRunVerdict]
    calls: Sequence[DryRunCall] = ()


def load_dry_run(
    project: Project,
    *,
    answer: str = "",
    conversation: Any = None,
    channel: str | None = None,
    drafts: Sequence[CurrentTool] = (),
) -> DryRun:
    """Load a dry run of an answer, with or without a conversation, or of a conversation's last answer.

    `conversation` is the id of a stored one, a list of lines, or text. Raises Http404, ApiError. Runs in the current
    transaction.
    """
    if conversation is None and not answer:
        raise Unprocessable("required", gettext("Send an answer or a conversation."), field="answer")
    refuse_if_spent(project)
    turn = latest_turn(project, conversation_id) if (conversation_id := _as_id(conversation)) else None
    exchange = _exchange(turn, answer=answer, conversation=conversation)
    used_channel = channel or (turn.conversation.channel if turn else Channel.CHAT)
    custom_tools, names = with_drafts(load_current_tools(project.pk), drafts), {draft.name for draft in drafts}
    compiled = merge_tools(read_state(project, channel=used_channel), custom_tools)
    config = cast(AgentVersion, project.agent_version).config
    facts = _facts(turn, config)
    return DryRun(
        organization_id=cast(UUID, project.organization_id),
        project_id=project.pk,
        conversation_id=turn.conversation_id if turn else None,
        offered=[tool for tool in at_moment(compiled, Trigger.COMMITMENT) if tool.is_offered],
        called=[tool for tool in compiled if tool.name in names and tool.is_offered and _is_called_only(tool)],
        exchange=exchange,
        extraction_context=_extraction_context(config, exchange, facts),
        tool_context=_tool_context(project, config, turn, channel=used_channel, facts=facts),
        detect_model=model_for(project, config, "detect"),
        arguments_model=model_for(project, config, SKILL),
    )


async def run_dry_run(dry_run: DryRun, *, with_previews: bool) -> DryRunResult:
    """Evaluate the dry run. `calls` is empty unless previews are requested. No transaction may be open. Raises
    LlmError.
    """
    records: list[CallRecord] = []
    try:
        return await with_model_client(lambda client: _run(client, dry_run, records, with_previews=with_previews))
    finally:
        await in_db(
            store_calls_about,
            dry_run.organization_id,
            dry_run.project_id,
            records,
            conversation_id=dry_run.conversation_id,
        )


async def _run(client: Client, dry_run: DryRun, records: list[CallRecord], *, with_previews: bool) -> DryRunResult:
    tried = await try_tools(
        client, dry_run.detect_model, offered=dry_run.offered, exchange=dry_run.exchange, record=records.append
    )
    if not with_previews:
        return DryRunResult([DryRunVerdict(verdict) for verdict in tried])
    quotes = {verdict.judgement.tool.name: verdict.judgement.quote for verdict in tried if verdict.judgement.fired}
    previewed = [*(verdict.judgement.tool for verdict in tried if verdict.judgement.fired), *dry_run.called]
    secrets = await in_db(_secrets, dry_run, previewed)
    previews = await asyncio.gather(
        *(_preview(client, dry_run, tool, quotes.get(tool.name, ""), secrets, records) for tool in previewed)
    )
    by_name = {tool.name: found for tool, found in zip(previewed, previews, strict=True)}
    return DryRunResult(
        [DryRunVerdict(verdict, by_name.get(verdict.judgement.tool.name)) for verdict in tried],
        [DryRunCall(tool, by_name[tool.name]) for tool in dry_run.called],
    )


async def _preview(
    client: Client,
    dry_run: DryRun,
    tool: CompiledTool,
    quote: str,
    secrets: Mapping[str, WebhookSecrets],
    records: list[CallRecord],
) -> Preview:
    return await preview(
        client,
        dry_run.arguments_model,
        tool=tool,
        extraction_context=dry_run.extraction_context,
        context=replace(dry_run.tool_context, quote=quote),
        secrets=secrets[tool.name],
        record=records.append,
    )


def _secrets(dry_run: DryRun, previewed: Sequence[CompiledTool]) -> dict[str, WebhookSecrets]:
    with tenant_tx(dry_run.organization_id):
        return {tool.name: secrets_of(dry_run.project_id, tool.name) for tool in previewed}


def _is_called_only(tool: CompiledTool) -> bool:
    return is_called_by_model(tool) and Trigger.COMMITMENT not in tool.moments


def _exchange(turn: Turn | None, *, answer: str, conversation: Any) -> Exchange:
    if turn is None:
        return written_exchange(read_lines([] if conversation is None else conversation), answer=answer)
    read = exchange_after(turn)
    return written_exchange(read.lines, answer=answer, summary=read.summary) if answer else read


def _as_id(conversation: Any) -> UUID | None:
    """A conversation's id; None if the value is the conversation itself."""
    try:
        return UUID(conversation) if isinstance(conversation, str) else None
    except ValueError:
        return None


def _facts(turn: Turn | None, config: AgentConfig) -> dict[str, str]:
    if turn is None:
        return {}
    return {field.key: field.value for field in read_fields(turn.conversation, config)}


def _extraction_context(config: AgentConfig, exchange: Exchange, facts: Mapping[str, str]) -> ExtractionContext:
    return ExtractionContext(
        business_name=config.business_name,
        business_context=business_text(config),
        now=working_status(config, at=timezone.now()).clock,
        known=[KnownFact(field=key, value=value) for key, value in facts.items()],
        messages=list(exchange.lines),
        summary=exchange.summary,
    )


def _tool_context(
    project: Project, config: AgentConfig, turn: Turn | None, *, channel: str, facts: Mapping[str, str]
) -> ToolContext:
    """The context an effect would have; the effect is never created."""
    trial_id = uuid7()
    place = Place(
        organization_id=cast(UUID, project.organization_id),
        project_id=project.pk,
        conversation_id=turn.conversation_id if turn else None,
        turn_id=turn.pk if turn else None,
        channel=channel,
        timezone=config.timezone,
        at=timezone.now(),
        contact=contact_from_fields(turn.conversation.persona_id, facts) if turn else None,
        business=config.business_name,
    )
    return place.context(effect_id=trial_id, key=effect_key(origin=trial_id, tool="trial", step=0, index=0))
