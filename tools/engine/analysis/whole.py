"""The whole analysis of one answer, without side effects (POST /tools/evaluate)."""

from __future__ import annotations

from collections.abc import Iterable

from llm.client import Client
from llm.requests import Recorder
from llm.types import ModelSpec
from tools.engine.analysis.conflicts import identify_conflicts, resolve_conflicts
from tools.engine.analysis.exchange import detect_commitments, group_tools
from tools.engine.catalogue import CompiledTool
from tools.engine.skills.detect import Exchange
from tools.engine.verdicts import Judgement, judge, shown_verdicts


async def analyze(
    client: Client, model: ModelSpec, *, offered: Iterable[CompiledTool], exchange: Exchange, record: Recorder
) -> list[Judgement]:
    """All verdicts on one answer, with conflicts resolved. Nothing is stored or executed. Raises LlmError."""
    tools = list(offered)
    read = await detect_commitments(client, model, groups=group_tools(tools), exchange=exchange, record=record)
    found = identify_conflicts(judge(read.all, tools=tools, exchange=exchange))
    settled = await resolve_conflicts(client, model, contested=found.contested, exchange=exchange, record=record)
    return [*shown_verdicts(found.decided), *(judgement for one in settled.values() for judgement in one.judgements)]
