"""Steps 2 to 4: the two groups, and the two detections side by side (N06-N08, N33)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from llm.client import Client
from llm.requests import Recorder
from llm.types import ModelSpec
from tools.engine.catalogue import CompiledTool
from tools.engine.skills.detect import Detection, detect
from tools.engine.skills.exchange import Exchange


@dataclass(frozen=True)
class Groups:
    """The offered tools, each in one group: those that read the latest answer only, and those that read it all (N06)."""

    without_history: list[CompiledTool]
    with_history: list[CompiledTool]


@dataclass(frozen=True)
class Detections:
    """What the two calls read; None where a group has no tool, and so no call."""

    without_history: Detection | None
    with_history: Detection | None

    @property
    def all(self) -> list[Detection]:
        return [one for one in (self.without_history, self.with_history) if one is not None]

    def unserved(self, answer: str, *, served: Iterable[str]) -> list[str]:
        """The words of commitments that no tool serves. Words that don't stand in the answer are nobody's commitment."""
        plain, taken = _plain(answer), [_plain(quote) for quote in served]
        found = {_plain(one.quote): one.quote for detection in self.all for one in detection.unserved}
        return [
            quote
            for words, quote in found.items()
            if words and words in plain and not any(words in other or other in words for other in taken if other)
        ]


def group_tools(offered: Iterable[CompiledTool]) -> Groups:
    """Step 2: by whether a tool needs the conversation's history."""
    tools = list(offered)
    return Groups(
        without_history=[tool for tool in tools if not tool.definition.use_conversation_history],
        with_history=[tool for tool in tools if tool.definition.use_conversation_history],
    )


async def detect_side_by_side(
    client: Client, model: ModelSpec, *, groups: Groups, exchange: Exchange, record: Recorder
) -> Detections:
    """Steps 3 and 4, at once; no call for an empty group. The first that is asked also looks for what no tool serves.

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
            record=record,
        )

    without, with_history = await asyncio.gather(
        ask(first, history=False, elsewhere=second),
        ask(second, history=True, elsewhere=None if first else []),
    )
    return Detections(without_history=without, with_history=with_history)


# A model that quotes writes marks as it likes.
MARKS = str.maketrans("’‘“”„", '\'\'"""')


def _plain(text: str) -> str:
    return " ".join(text.split()).strip(" .!").translate(MARKS).casefold()
