"""Replays: an edited tool evaluated on the project's latest replies, to show which verdicts would change.

Nothing is executed, and only the model calls are stored. Other tools are used as they are now; only those in the edited
tool's tag group are evaluated with it, because no other verdict can change.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import cast
from uuid import UUID

from conversations.context.evaluation_input import exchange_after, replied_turns
from conversations.live.model_calls import store_calls_about
from conversations.models import Turn
from llm.client import Client
from llm.errors import LlmError
from llm.types import CallRecord, ModelSpec
from projects.agents.model_choice import model_for
from projects.agents.request_client import with_model_client
from projects.models import AgentVersion, Project
from tenancy.threads import in_db
from tools.engine.analysis.whole import analyze
from tools.engine.business_state import read_state
from tools.engine.catalogue import CompiledTool, at_moment, merge_tools
from tools.engine.custom.current_tools import CurrentTool, load_current_tools
from tools.engine.definition import Trigger
from tools.engine.limits.model_budget import refuse_if_spent
from tools.engine.skills.detect import Exchange
from tools.engine.try_tools import with_drafts
from tools.engine.verdicts import FURTHER
from tools.models import Verdict

MAX_TURNS = 50
MAX_CONCURRENT = 4


class Kind(StrEnum):
    """The kind of a difference between two verdicts."""

    FIRES = "fires"
    FIRES_NO_MORE = "fires_no_more"
    OTHER_RULE = "other_rule"


@dataclass(frozen=True)
class ComparedVerdict:
    """The compared parts of a verdict. A tool that was not mentioned has none."""

    fired: bool
    rule: str
    reason: str
    quote: str


@dataclass(frozen=True)
class Difference:
    """One tool's verdict then and now."""

    tool: str
    before: ComparedVerdict | None
    after: ComparedVerdict | None

    @property
    def kind(self) -> Kind | None:
        """None if neither the outcome nor the rule differs."""
        fired = [one is not None and one.fired for one in (self.before, self.after)]
        if fired[0] != fired[1]:
            return Kind.FIRES if fired[1] else Kind.FIRES_NO_MORE
        rules = [one.rule if one else "" for one in (self.before, self.after)]
        return Kind.OTHER_RULE if rules[0] != rules[1] else None


@dataclass(frozen=True)
class ReplayContext:
    """One turn to replay: the exchange, the tools to evaluate, and the verdicts found at the time.

    `called` are drafts that commitments no longer trigger, because the agent calls them itself.
    """

    turn_id: UUID
    conversation_id: UUID
    seq: int
    replied_at: datetime | None
    exchange: Exchange
    tools: Sequence[CompiledTool]
    found: dict[str, ComparedVerdict]
    called: Sequence[str] = ()

    @property
    def compared(self) -> list[str]:
        """Names of the tools whose verdicts are compared."""
        return [*(tool.name for tool in self.tools), *self.called]


@dataclass(frozen=True)
class Rehearsed:
    """One replayed turn. `error` is the reason if the replay failed."""

    context: ReplayContext
    differences: Sequence[Difference]
    error: str = ""


@dataclass(frozen=True)
class Rehearsal:
    """Turns to replay, newest first, loaded in one transaction."""

    organization_id: UUID
    project_id: UUID
    model: ModelSpec
    turns_to_replay: Sequence[ReplayContext]


def read_rehearsal(project: Project, drafts: Sequence[CurrentTool], *, turns: int = 20) -> Rehearsal:
    """Load the project's latest replied turns, at most MAX_TURNS, with the drafts merged. Runs in the current
    transaction.
    """
    refuse_if_spent(project)
    current_tools = load_current_tools(project.pk)
    custom_tools = with_drafts(current_tools, drafts)
    names = {draft.name for draft in drafts}
    tags = {tool.definition.tag for tool in (*drafts, *(tool for tool in current_tools if tool.name in names))} - {None}
    called = [draft.name for draft in drafts if Trigger.COMMITMENT not in draft.definition.runs_in]
    replied = list(replied_turns(project).order_by("-replied_at", "-id")[: min(turns, MAX_TURNS)])
    turns_to_replay = []
    for turn in replied:
        state = read_state(project, channel=turn.conversation.channel)
        compiled = at_moment(merge_tools(state, custom_tools), Trigger.COMMITMENT)
        evaluated = [
            tool for tool in compiled if tool.is_offered and (tool.name in names or tool.definition.tag in tags)
        ]
        turns_to_replay.append(_replay_context(turn, evaluated, called=called))
    config = cast(AgentVersion, project.agent_version).config
    return Rehearsal(
        organization_id=cast(UUID, project.organization_id),
        project_id=project.pk,
        model=model_for(project, config, "detect"),
        turns_to_replay=turns_to_replay,
    )


async def rehearse(rehearsal: Rehearsal) -> AsyncGenerator[Rehearsed]:
    """Yield each turn as soon as it is replayed, in any order. No transaction may be open. Closing the generator stops
    the replay.
    """
    loop = asyncio.get_running_loop()
    ready: asyncio.Queue[Rehearsed | None] = asyncio.Queue()
    is_over = threading.Event()

    def publish(one: Rehearsed | None) -> None:
        if not is_over.is_set():
            loop.call_soon_threadsafe(ready.put_nowait, one)

    async def work() -> None:
        try:
            await with_model_client(lambda client: _rehearse_all(client, rehearsal, publish, is_over))
        finally:
            publish(None)

    task = asyncio.create_task(work())
    try:
        while (one := await ready.get()) is not None:
            yield one
        await task
    finally:
        is_over.set()


async def _rehearse_all(
    client: Client, rehearsal: Rehearsal, publish: Callable[[Rehearsed], None], is_over: threading.Event
) -> None:
    gate = asyncio.Semaphore(MAX_CONCURRENT)

    async def one(context: ReplayContext) -> None:
        async with gate:
            if not is_over.is_set():
                publish(await _rehearse(client, rehearsal, context))

    await asyncio.gather(*(one(context) for context in rehearsal.turns_to_replay))


async def _rehearse(client: Client, rehearsal: Rehearsal, context: ReplayContext) -> Rehearsed:
    records: list[CallRecord] = []
    try:
        judgements = await analyze(
            client, rehearsal.model, offered=context.tools, exchange=context.exchange, record=records.append
        )
    except LlmError as error:
        return Rehearsed(context, differences=(), error=str(error))
    finally:
        await in_db(
            store_calls_about,
            rehearsal.organization_id,
            rehearsal.project_id,
            records,
            conversation_id=context.conversation_id,
        )
    first = (one for one in judgements if one.rule != FURTHER)
    after = {one.tool.name: ComparedVerdict(one.fired, one.rule, one.reason, one.quote) for one in first}
    return Rehearsed(context, differences=differences(context.found, after, tools=context.compared))


def differences(
    before: dict[str, ComparedVerdict], after: dict[str, ComparedVerdict], *, tools: Iterable[str]
) -> list[Difference]:
    """The differences between these tools' verdicts."""
    compared = (Difference(tool, before.get(tool), after.get(tool)) for tool in tools)
    return [one for one in compared if one.kind is not None]


def _replay_context(turn: Turn, tools: Sequence[CompiledTool], *, called: Sequence[str]) -> ReplayContext:
    names = [*(tool.name for tool in tools), *called]
    rows = Verdict.objects.filter(turn_id=turn.pk, tool__in=names).exclude(rule=FURTHER)
    return ReplayContext(
        called=called,
        turn_id=turn.pk,
        conversation_id=turn.conversation_id,
        seq=turn.seq,
        replied_at=turn.replied_at,
        exchange=exchange_after(turn),
        tools=tools,
        found={row.tool: ComparedVerdict(row.fired, row.rule, row.reason, row.quote) for row in rows},
    )
