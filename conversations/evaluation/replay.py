"""Rehearsal: an edited tool, replayed over what the agent said lately. Which verdicts would change?

Nothing is done, and nothing is stored but the model calls. The project's other tools are as they are now; only those that
compete with the edited one are read beside it, for no other verdict can change by it.
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
from conversations.evaluation.dry_run import keep_calls
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
from tools.engine.skills.exchange import Exchange
from tools.engine.try_tools import with_drafts
from tools.models import Verdict

MOST_TURNS = 50
SIDE_BY_SIDE = 4


class Kind(StrEnum):
    """How a verdict differs."""

    FIRES = "fires"
    FIRES_NO_MORE = "fires_no_more"
    OTHER_RULE = "other_rule"


@dataclass(frozen=True)
class Reading:
    """A verdict as far as it is compared; a tool that was not mentioned has none."""

    fired: bool
    rule: str
    reason: str
    quote: str


@dataclass(frozen=True)
class Difference:
    """One tool's verdict as it was found then, and as it would be now."""

    tool: str
    before: Reading | None
    after: Reading | None

    @property
    def kind(self) -> Kind | None:
        """None where nothing that counts differs."""
        fired = [one is not None and one.fired for one in (self.before, self.after)]
        if fired[0] != fired[1]:
            return Kind.FIRES if fired[1] else Kind.FIRES_NO_MORE
        rules = [one.rule if one else "" for one in (self.before, self.after)]
        return Kind.OTHER_RULE if rules[0] != rules[1] else None


@dataclass(frozen=True)
class ReplayContext:
    """One turn to be rehearsed: what was said, the tools that are read, and what was found in it.

    `called` are drafts that commitments fire no more: the agent calls them itself (D18).
    """

    turn_id: UUID
    conversation_id: UUID
    seq: int
    replied_at: datetime | None
    exchange: Exchange
    tools: Sequence[CompiledTool]
    found: dict[str, Reading]
    called: Sequence[str] = ()

    @property
    def compared(self) -> list[str]:
        """The names of the tools whose verdicts are compared."""
        return [*(tool.name for tool in self.tools), *self.called]


@dataclass(frozen=True)
class Rehearsed:
    """One turn, rehearsed. `error` says why it could not be."""

    turn_context: ReplayContext
    differences: Sequence[Difference]
    error: str = ""


@dataclass(frozen=True)
class Rehearsal:
    """Turns to be rehearsed, the newest first; read in one transaction."""

    organization_id: UUID
    project_id: UUID
    model: ModelSpec
    scenes: Sequence[ReplayContext]


def read_rehearsal(project: Project, drafts: Sequence[CurrentTool], *, turns: int = 20) -> Rehearsal:
    """The project's last turns that were replied to, at most MOST_TURNS, with the drafts merged. Inside a transaction."""
    standing = load_current_tools(project.pk)
    own = with_drafts(standing, drafts)
    names = {draft.name for draft in drafts}
    tags = {tool.definition.tag for tool in (*drafts, *(one for one in standing if one.name in names))} - {None}
    called = [draft.name for draft in drafts if Trigger.COMMITMENT not in draft.definition.runs_in]
    rows = list(replied_turns(project).order_by("-replied_at", "-id")[: min(turns, MOST_TURNS)])
    scenes = []
    for turn in rows:
        state = read_state(project, channel=turn.conversation.channel)
        compiled = at_moment(merge_tools(state, own), Trigger.COMMITMENT)
        read = [tool for tool in compiled if tool.is_offered and (tool.name in names or tool.definition.tag in tags)]
        scenes.append(_scene(turn, read, called=called))
    config = cast(AgentVersion, project.agent_version).config
    return Rehearsal(
        organization_id=cast(UUID, project.organization_id),
        project_id=project.pk,
        model=model_for(project, config, "detect"),
        scenes=scenes,
    )


async def rehearse(rehearsal: Rehearsal) -> AsyncGenerator[Rehearsed]:
    """Each turn as soon as it is done, in whatever order. No transaction may be open; who stops listening stops it."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Queue[Rehearsed | None] = asyncio.Queue()
    is_over = threading.Event()

    def hand_over(one: Rehearsed | None) -> None:
        if not is_over.is_set():
            loop.call_soon_threadsafe(ready.put_nowait, one)

    async def work() -> None:
        try:
            await with_model_client(lambda client: _rehearse_all(client, rehearsal, hand_over, is_over))
        finally:
            hand_over(None)

    task = asyncio.create_task(work())
    try:
        while (one := await ready.get()) is not None:
            yield one
        await task
    finally:
        is_over.set()


async def _rehearse_all(
    client: Client, rehearsal: Rehearsal, hand_over: Callable[[Rehearsed], None], is_over: threading.Event
) -> None:
    gate = asyncio.Semaphore(SIDE_BY_SIDE)

    async def one(context: ReplayContext) -> None:
        async with gate:
            if not is_over.is_set():
                hand_over(await _rehearse(client, rehearsal, context))

    await asyncio.gather(*(one(context) for context in rehearsal.scenes))


async def _rehearse(client: Client, rehearsal: Rehearsal, context: ReplayContext) -> Rehearsed:
    records: list[CallRecord] = []
    try:
        judgements = await analyze(
            client, rehearsal.model, offered=context.tools, exchange=context.exchange, record=records.append
        )
    except LlmError as error:
        return Rehearsed(context, differences=(), error=str(error))
    finally:
        await in_db(keep_calls, rehearsal.organization_id, rehearsal.project_id, records)
    after = {one.tool.name: Reading(one.fired, one.rule, one.reason, one.quote) for one in judgements}
    return Rehearsed(context, differences=differences(context.found, after, tools=context.compared))


def differences(before: dict[str, Reading], after: dict[str, Reading], *, tools: Iterable[str]) -> list[Difference]:
    """What differs of these tools' verdicts."""
    compared = (Difference(tool, before.get(tool), after.get(tool)) for tool in tools)
    return [one for one in compared if one.kind is not None]


def _scene(turn: Turn, tools: Sequence[CompiledTool], *, called: Sequence[str]) -> ReplayContext:
    names = [*(tool.name for tool in tools), *called]
    rows = Verdict.objects.filter(turn_id=turn.pk, tool__in=names)
    return ReplayContext(
        called=called,
        turn_id=turn.pk,
        conversation_id=turn.conversation_id,
        seq=turn.seq,
        replied_at=turn.replied_at,
        exchange=exchange_after(turn),
        tools=tools,
        found={row.tool: Reading(row.fired, row.rule, row.reason, row.quote) for row in rows},
    )
