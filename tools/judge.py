"""From what the model read to verdicts: a tool fires when every condition is a JSON true, and no rule holds it back (N17)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tools.catalogue import CompiledTool
from tools.skills.detect import Detection, Rule, ToolReading

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


def judge(detections: Iterable[Detection], *, tools: Sequence[CompiledTool], answer: str) -> list[Judgement]:
    """The verdicts on one answer, in the order of the words they rest on, before conflicts. Unknown tools are left out."""
    by_name = {tool.name: tool for tool in tools}
    readings = (reading for detection in detections for reading in detection.verdicts if reading.tool in by_name)
    judgements = _one_per_tool(_judge_one(reading, by_name[reading.tool]) for reading in readings)
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
