"""The nine steps of AnalyzeConversation, in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from tools.engine.catalogue import CompiledTool
from tools.engine.definition import RetryPolicy, ToolDefinition, Trigger
from tools.engine.verdicts import FIRES, Judgement

StepDocument = dict[str, Any]


class SkillGroup(StrEnum):
    """The kind of work of a step."""

    COMPILATION = "compilation"
    DETECTION = "detection"
    CONFLICT = "conflict"
    EXECUTION = "execution"


class Step(NamedTuple):
    number: int
    name: str
    group: SkillGroup

    def document(self, **data: Any) -> StepDocument:
        """The step as stored in a run's trace, with its data."""
        return {"number": self.number, "name": self.name, "group": self.group.value, "held": data}


COMPILE = Step(1, "Compile tools", SkillGroup.COMPILATION)
GROUP = Step(2, "Group tools", SkillGroup.COMPILATION)
WITHOUT_HISTORY = Step(3, "Evaluate tools without history", SkillGroup.DETECTION)
WITH_HISTORY = Step(4, "Evaluate tools with history", SkillGroup.DETECTION)
IDENTIFY = Step(5, "Identify conflicts", SkillGroup.CONFLICT)
RESOLVE = Step(6, "Resolve conflicts", SkillGroup.CONFLICT)
EXECUTE = Step(7, "Execute tools", SkillGroup.EXECUTION)
FOLLOW_UP = Step(8, "Update follow-up timer", SkillGroup.EXECUTION)
STATE = Step(9, "Set conversation state", SkillGroup.EXECUTION)


def merge_steps(steps: Iterable[StepDocument]) -> list[StepDocument]:
    """The steps sorted by number; the last one wins if a number occurs twice."""
    latest = {step["number"]: step for step in steps}
    return [latest[number] for number in sorted(latest)]


def step_data(steps: Iterable[StepDocument], step: Step) -> dict[str, Any]:
    """The data of a step in a stored run; empty if the run hasn't reached it."""
    found = next((one for one in steps if one["number"] == step.number), None)
    return dict(found["held"]) if found else {}


def compiled_object(tools: Iterable[CompiledTool]) -> dict[str, Any]:
    """Serialize the compiled tools by name, offered or not, with their current definitions."""
    return {
        tool.name: {
            "origin": tool.origin,
            "version": tool.version,
            "why_not": tool.why_not,
            "kind": tool.kind,
            "delivery": tool.delivery.value,
            "keeps_promise": tool.keeps_promise,
            "moments": [moment.value for moment in tool.moments],
            "definition": tool.definition.model_dump(mode="json", by_alias=True),
        }
        for tool in tools
    }


def tool_of(name: str, compiled: Mapping[str, Any]) -> CompiledTool:
    """Restore a tool from a stored compiled object."""
    stored = compiled[name]
    return CompiledTool(
        name=name,
        origin=stored["origin"],
        why_not=stored["why_not"],
        kind=stored["kind"],
        delivery=RetryPolicy(stored["delivery"]),
        definition=ToolDefinition.model_validate(stored["definition"]),
        moments=tuple(Trigger(moment) for moment in stored.get("moments", (Trigger.COMMITMENT,))),
        version=stored["version"],
        keeps_promise=stored.get("keeps_promise", True),
    )


def candidates(contested: Mapping[str, Sequence[Judgement]]) -> dict[str, Any]:
    """Serialize the competing verdicts by tag."""
    return {
        tag: [{"tool": rival.tool.name, "quote": rival.quote, "conditions": dict(rival.conditions)} for rival in rivals]
        for tag, rivals in contested.items()
    }


def contested_of(stored: Mapping[str, Any], compiled: Mapping[str, Any]) -> dict[str, list[Judgement]]:
    """Restore the competing verdicts that a stored run has yet to rank."""
    return {
        tag: [
            Judgement(
                tool=tool_of(one["tool"], compiled),
                fired=True,
                rule="",
                reason=FIRES,
                quote=one["quote"],
                conditions=one["conditions"],
            )
            for one in rivals
        ]
        for tag, rivals in stored.items()
    }
