"""Runs detection on cases, with the same model calls as on a turn."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

from llm.client import Client
from llm.errors import LlmError
from llm.types import CallRecord, ModelSpec
from tools.engine.analysis.exchange import detect_commitments, group_tools
from tools.engine.catalogue import CompiledTool
from tools.engine.skills.detect import Exchange, TranscriptLine
from tools.engine.verdicts import judge, shown_verdicts
from tools.evaluation.cases import FIRED, Case
from tools.evaluation.score import CaseReading

CONCURRENCY = 8
T = TypeVar("T")
ToolsFor = Callable[[Case], Sequence[CompiledTool]]


async def read_cases(
    cases: Sequence[Case],
    *,
    client: Client,
    model: ModelSpec,
    tools_for: ToolsFor,
    on_read: Callable[[CaseReading], None] = lambda read: None,
) -> list[CaseReading]:
    """Read each case with the model, in order, before conflicts between tools of one tag are resolved.

    A failed call yields a read with its error and no outcomes. `on_read` is called for each read as it completes.
    """

    async def read(case: Case) -> CaseReading:
        done = await _read(case, client=client, model=model, tools=tools_for(case))
        on_read(done)
        return done

    return await in_parallel([partial(read, case) for case in cases])


async def in_parallel(calls: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
    """The results of the calls in order, at most CONCURRENCY at a time."""
    gate = asyncio.Semaphore(CONCURRENCY)

    async def one(call: Callable[[], Awaitable[T]]) -> T:
        async with gate:
            return await call()

    return list(await asyncio.gather(*(one(call) for call in calls)))


async def _read(case: Case, *, client: Client, model: ModelSpec, tools: Sequence[CompiledTool]) -> CaseReading:
    try:
        return await read_case(case, client=client, model=model, tools=tools, record=_forget)
    except LlmError as error:
        return CaseReading(case=case, outcomes={}, error=f"{error.code}: {error}")


async def read_case(
    case: Case,
    *,
    client: Client,
    model: ModelSpec,
    tools: Sequence[CompiledTool],
    record: Callable[[CallRecord], None],
) -> CaseReading:
    """Read a case with the model. Raises LlmError."""
    offered = [tool for tool in tools if tool.is_offered]
    groups, exchange = group_tools(offered), exchange_of(case)
    found = await detect_commitments(client, model, groups=groups, exchange=exchange, record=record)
    judgements = judge(found.all, tools=offered, exchange=exchange)
    return CaseReading(
        case=case,
        outcomes={one.tool.name: FIRED if one.fired else one.rule for one in shown_verdicts(judgements)},
        unserved=list(dict.fromkeys(one.quote for one in found.unserved(exchange, judgements=judgements))),
    )


def exchange_of(case: Case) -> Exchange:
    """The exchange of a case. It ends with the answer, as in the tool caller."""
    before = [TranscriptLine(said.role, said.content) for said in case.conversation]
    return Exchange(answer=case.answer, lines=[*before, TranscriptLine("agent", case.answer)])


def _forget(record: CallRecord) -> None:
    """Discard the call record; an evaluation keeps only the score."""
