"""Detection: the tools in two groups, with and without history, and one model call for each."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from llm.client import Client
from llm.requests import Recorder
from llm.types import ModelSpec
from tools.engine.catalogue import CompiledTool
from tools.engine.quotes import is_quote_of, repeats
from tools.engine.skills.detect import Detection, Exchange, Rule, Unserved, detect
from tools.engine.verdicts import VOID_RULES, Judgement
from tools.engine.words import normalize_words

# Rules of verdicts that serve no promise.
NOT_SERVING = frozenset({*VOID_RULES, Rule.FUTURE_STEP, Rule.CONDITION})


@dataclass(frozen=True)
class Groups:
    """The offered tools by whether they read the latest answer only or the whole conversation."""

    without_history: list[CompiledTool]
    with_history: list[CompiledTool]


@dataclass(frozen=True)
class Detections:
    """The results of the two calls; None for a group without tools, which is not called."""

    without_history: Detection | None
    with_history: Detection | None

    @property
    def all(self) -> list[Detection]:
        return [one for one in (self.without_history, self.with_history) if one is not None]

    def unserved(self, exchange: Exchange, *, judgements: Iterable[Judgement]) -> list[Unserved]:
        """Commitments that no tool serves. Quotes that aren't in the answer, or that a tool told, are ignored.

        A tool that is held back for a later step or a condition serves nothing, such as one that the agent promises for a
        later time.
        """
        served = [normalize_words(one.quote) for one in judgements if one.rule not in NOT_SERVING]
        found = [one for detection in self.all for one in detection.unserved]
        return [
            one
            for one, words in ((one, normalize_words(one.quote)) for one in found)
            if is_quote_of(one.quote, exchange.answer)
            and not any(repeats(one.quote, told) for told in exchange.relayed)
            and not any(words in other or other in words for other in served)
        ]


def group_tools(offered: Iterable[CompiledTool]) -> Groups:
    """Group the tools by whether they need the conversation's history."""
    tools = list(offered)
    return Groups(
        without_history=[tool for tool in tools if not tool.definition.use_conversation_history],
        with_history=[tool for tool in tools if tool.definition.use_conversation_history],
    )


async def detect_commitments(
    client: Client, model: ModelSpec, *, groups: Groups, exchange: Exchange, record: Recorder
) -> Detections:
    """Run both detections concurrently. The first call made also looks for commitments that no tool serves.

    Raises LlmError.
    """
    first, second = groups.without_history, groups.with_history

    async def ask(
        tools: list[CompiledTool], *, history: bool, elsewhere: list[CompiledTool] | None
    ) -> Detection | None:
        if not tools:
            return None
        return await detect(
            client,
            model,
            tools=tools,
            elsewhere=elsewhere,
            lines=exchange.lines if history else [],
            answer=exchange.answer,
            summary=exchange.summary if history else "",
            relayed=exchange.relayed,
            said_at=exchange.said_at,
            record=record,
        )

    without, with_history = await asyncio.gather(
        ask(first, history=False, elsewhere=second),
        ask(second, history=True, elsewhere=None if first else []),
    )
    return Detections(without_history=without, with_history=with_history)
