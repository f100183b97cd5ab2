"""From what the model read to verdicts: a tool fires when every condition is a JSON true, and no rule holds it back (N17)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from tools.engine.catalogue import CompiledTool
from tools.engine.definition import ActionType
from tools.engine.skills.detect import Detection, Rule, ToolReading
from tools.engine.skills.exchange import Exchange
from tools.models import Effect, EffectState

REASONS: Mapping[Rule, str] = {
    Rule.IN_PROGRESS: "It has already started.",
    Rule.COMPLETED: "It is told as done already.",
    Rule.FUTURE_STEP: "It is a later step of a sequence.",
    Rule.OFFER: "It is an offer, a question or a condition.",
    Rule.SUBJECT: "The agent is not the one who does it.",
    Rule.NEGATION: "The agent says that it won't.",
    Rule.QUOTATION: "The words are quoted.",
    Rule.CONDITION: "A condition is not met.",
}

SAID_EARLIER = "It was said in an earlier message, and judged then."
FIRES = "The agent commits to it now, and every condition is met."


@dataclass(frozen=True)
class Judgement:
    """One tool's verdict before it is stored."""

    tool: CompiledTool
    fired: bool
    rule: str
    reason: str
    quote: str
    conditions: Mapping[str, bool]


def judge(detections: Iterable[Detection], *, tools: Sequence[CompiledTool], exchange: Exchange) -> list[Judgement]:
    """The verdicts on one answer, in the order of the words they rest on, before conflicts. Unknown tools are left out."""
    answer, before = exchange.answer, [_plain(said) for said in exchange.said_before]
    by_name = {tool.name: tool for tool in tools}
    readings = (reading for detection in detections for reading in detection.verdicts if reading.tool in by_name)
    judgements = _one_per_tool(
        _said_earlier(one) if _is_only_in(one.quote, before, answer=answer) else one
        for one in (_judge_one(reading, by_name[reading.tool]) for reading in readings)
    )
    return sorted(judgements, key=lambda judgement: _position(judgement.quote, answer))


def _judge_one(reading: ToolReading, tool: CompiledTool) -> Judgement:
    conditions = {name: _is_met(name, reading) for name in tool.definition.conditions}
    rule = reading.rule or (None if all(conditions.values()) else Rule.CONDITION)
    return Judgement(
        tool=tool,
        fired=rule is None,
        rule=rule or "",
        reason=REASONS[rule] if rule else FIRES,
        quote=reading.quote,
        conditions=conditions,
    )


def _said_earlier(judgement: Judgement) -> Judgement:
    """Only the latest answer promises: what an earlier one said was judged then."""
    if not judgement.fired:
        return judgement
    return replace(judgement, fired=False, rule=Rule.IN_PROGRESS, reason=SAID_EARLIER)


def _is_only_in(quote: str, before: Sequence[str], *, answer: str) -> bool:
    """Whether these very words stand in an earlier message, and not in the answer."""
    words = _plain(quote)
    return bool(words) and words not in _plain(answer) and any(words in said for said in before)


def _plain(text: str) -> str:
    """The words as they are told from others: without their case, their marks and the blanks between them."""
    return " ".join("".join(one if one.isalnum() else " " for one in text.casefold()).split())


def _is_met(name: str, reading: ToolReading) -> bool:
    """A condition that was not read is not met, nor is one that was read both ways."""
    readings = [condition.met for condition in reading.conditions if condition.name == name]
    return bool(readings) and all(readings)


def _one_per_tool(judgements: Iterable[Judgement]) -> list[Judgement]:
    """A tool read twice fires once: the reading that fires wins."""
    best: dict[str, Judgement] = {}
    for judgement in judgements:
        standing = best.get(judgement.tool.name)
        if standing is None or (judgement.fired and not standing.fired):
            best[judgement.tool.name] = judgement
    return list(best.values())


def _position(quote: str, answer: str) -> int:
    found = answer.find(quote)
    return found if found >= 0 else len(answer)


# An unknown outcome is never told as success (E5).
STANDS_BEHIND = (EffectState.PLANNED, EffectState.SENDING, EffectState.DONE, EffectState.HELD)


# What they have in common is how they are carried out, not what they do: one webhook stands behind no other.
MANNERS = frozenset(action.removeprefix("send_") for action in ActionType)


def unbacked_claims(judgements: Iterable[Judgement], *, conversation_id: UUID) -> list[Judgement]:
    """The verdicts "completed" with no effect of that kind behind them, neither done nor under way; of a tool of the project's
    own with none of that tool.
    """
    claims = [judgement for judgement in judgements if judgement.rule == Rule.COMPLETED]
    if not claims:
        return []
    done = Effect.objects.filter(
        conversation_id=conversation_id, kind__in={claim.tool.kind for claim in claims}, state__in=STANDS_BEHIND
    )
    backed = {_deed(kind, tool) for kind, tool in done.values_list("kind", "tool")}
    return [claim for claim in claims if _deed(claim.tool.kind, claim.tool.name) not in backed]


def _deed(kind: str, tool: str) -> tuple[str, str]:
    return kind, tool if kind in MANNERS else ""
