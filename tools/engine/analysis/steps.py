"""The nine steps of AnalyzeConversation, in order."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, NamedTuple

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

    def held(self, **held: Any) -> StepDocument:
        """The step as stored in a run's trace, with its data."""
        return {"number": self.number, "name": self.name, "group": self.group.value, "held": held}


COMPILE = Step(1, "Compile tools", SkillGroup.COMPILATION)
GROUP = Step(2, "Group tools", SkillGroup.COMPILATION)
WITHOUT_HISTORY = Step(3, "Evaluate tools without history", SkillGroup.DETECTION)
WITH_HISTORY = Step(4, "Evaluate tools with history", SkillGroup.DETECTION)
IDENTIFY = Step(5, "Identify conflicts", SkillGroup.CONFLICT)
RESOLVE = Step(6, "Resolve conflicts", SkillGroup.CONFLICT)
EXECUTE = Step(7, "Execute tools", SkillGroup.EXECUTION)
FOLLOW_UP = Step(8, "Update follow-up timer", SkillGroup.EXECUTION)
STATE = Step(9, "Set conversation state", SkillGroup.EXECUTION)


def in_order(steps: Iterable[StepDocument]) -> list[StepDocument]:
    """The steps sorted by number; the last one wins if a number occurs twice."""
    latest = {step["number"]: step for step in steps}
    return [latest[number] for number in sorted(latest)]


def held_by(steps: Iterable[StepDocument], step: Step) -> dict[str, Any]:
    """The data of a step in a stored run; empty if the run hasn't reached it."""
    found = next((one for one in steps if one["number"] == step.number), None)
    return dict(found["held"]) if found else {}
