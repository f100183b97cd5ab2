"""Conflict resolution: tools that share a tag are mutually exclusive within a turn."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from llm.client import Client
from llm.errors import LengthCut, Refused, SchemaMismatch
from llm.requests import Recorder
from llm.types import ModelSpec
from tools.engine.quotes import are_apart
from tools.engine.skills.detect import Exchange
from tools.engine.skills.rerank import Ranking, rerank_conflict
from tools.engine.verdicts import Judgement
from tools.engine.words import normalize_words

LOST = "lost_rerank"
# Errors that mean the model's ranking is unusable.
UNUSABLE = (SchemaMismatch, LengthCut, Refused)


@dataclass(frozen=True)
class Conflicts:
    """The conflicts of a turn.

    `tags` maps each tag to its selected tools. `contested` holds the tags with more than one. `decided` are the
    verdicts that no ranking can change.
    """

    tags: Mapping[str, list[str]]
    contested: Mapping[str, list[Judgement]]
    decided: list[Judgement]


@dataclass(frozen=True)
class Resolution:
    """The result of ranking one tag's candidates. `winner` is None if the ranking was inconclusive; `why` is the
    reason for what is left to staff.
    """

    winner: str | None
    judgements: list[Judgement]
    why: str = ""

    def quotes_left(self, answer: str) -> list[str]:
        """The promises that the ranking leaves to staff: all of an inconclusive one, else those of the others that are
        in other words of the answer than the winner's. Of quotes that overlap, the longest remains.
        """
        won = [one.quote for one in self.judgements if one.tool.name == self.winner]
        lost = (one.quote for one in self.judgements if one.tool.name != self.winner and one.tool.keeps_promise)
        left = [quote for quote in lost if all(are_apart(quote, other, answer) for other in won)]
        words = {normalize_words(quote): quote for quote in left}
        return [quote for one, quote in words.items() if not any(one != other and one in other for other in words)]


def identify_conflicts(judgements: Iterable[Judgement]) -> Conflicts:
    """Group the selected tools by tag. A tool without a tag never conflicts."""
    judged = list(judgements)
    tags: defaultdict[str, list[Judgement]] = defaultdict(list)
    for judgement in judged:
        if judgement.fired and (tag := judgement.tool.definition.tag):
            tags[tag].append(judgement)
    contested = {tag: rivals for tag, rivals in tags.items() if len(rivals) > 1}
    waiting = {rival.tool.name for rivals in contested.values() for rival in rivals}
    return Conflicts(
        tags={tag: [rival.tool.name for rival in rivals] for tag, rivals in tags.items()},
        contested=contested,
        decided=[one for one in judged if not one.fired or one.tool.name not in waiting],
    )


async def resolve_conflicts(
    client: Client,
    model: ModelSpec,
    *,
    contested: Mapping[str, Sequence[Judgement]],
    exchange: Exchange,
    record: Recorder,
) -> dict[str, Resolution]:
    """Rank each contested tag, concurrently. Raises LlmError, except for an unusable answer."""

    async def ask(rivals: Sequence[Judgement]) -> Ranking | None:
        tools = [rival.tool for rival in rivals]
        try:
            return await rerank_conflict(client, model, tools=tools, exchange=exchange, record=record)
        except UNUSABLE:
            return None

    rankings = await asyncio.gather(*(ask(rivals) for rivals in contested.values()))
    return {
        tag: resolve_conflict(tag, rivals, ranking)
        for (tag, rivals), ranking in zip(contested.items(), rankings, strict=True)
    }


def resolve_conflict(tag: str, rivals: Sequence[Judgement], ranking: Ranking | None) -> Resolution:
    """Keep the winner and mark the others as lost. Without a winner none of them runs."""
    names = [rival.tool.name for rival in rivals]
    winner, why = _winner(ranking, names)
    if winner is None:
        reason = f"Undecided between {' and '.join(names)} (tag {tag}): {why} None of them runs."
        return Resolution(winner=None, judgements=[_lost(rival, reason) for rival in rivals], why=reason)
    reason = f"Lost rerank to {winner} (tag {tag})."
    return Resolution(
        winner=winner,
        judgements=[rival if rival.tool.name == winner else _lost(rival, reason) for rival in rivals],
        why=f"Of the tools with the tag {tag}, one runs per reply: {winner}.",
    )


def _winner(ranking: Ranking | None, names: Sequence[str]) -> tuple[str | None, str]:
    if ranking is None or not ranking.ranking:
        return None, "the model gave no ranking that can be used."
    if strangers := [one.tool for one in ranking.ranking if one.tool not in names]:
        return None, f"the model named {strangers[0][:64]}, which is not among them."
    best = max(one.relevance for one in ranking.ranking)
    first = list(dict.fromkeys(one.tool for one in ranking.ranking if one.relevance == best))
    return (first[0], "") if len(first) == 1 else (None, f"the model ranked {' and '.join(first)} equally.")


def _lost(judgement: Judgement, reason: str) -> Judgement:
    return replace(judgement, fired=False, rule=LOST, reason=reason[:300])
