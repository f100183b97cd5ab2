"""Scripted answers: tests queue the next response of each skill."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any


class BadStep(Exception):
    """Raised for an invalid step."""


class Fault(StrEnum):
    """Provider failures that a script can simulate."""

    RATE_LIMIT = "429"
    SERVER_ERROR = "500"
    UNAUTHORIZED = "401"
    NOT_FOUND = "404"
    HANG = "hang"
    """Not one byte, ever."""
    CUT = "cut"
    """The connection closes after some tokens."""
    EOF = "eof"
    """A clean end without a finish reason."""
    HTML = "html"
    """A gateway's page, with status 200."""
    EMPTY = "empty"
    """A finished answer without a word in it."""
    GARBAGE_JSON = "garbage_json"
    """Broken JSON: the content where JSON was asked for, else the body or a line of the stream."""
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    ERROR_200 = "error_200"
    """An error object with status 200; in a stream, after some tokens."""
    STALL = "stall"
    """Some tokens, then silence."""


class Mode(StrEnum):
    """Handling of requests without a matching step."""

    FREE = "free"
    STRICT = "strict"


@dataclass
class Step:
    """One scripted answer. `times` 0 means for ever; `match` must be in the request's messages."""

    skill: str = "*"
    match: str = ""
    times: int = 1
    text: str | None = None
    tool_calls: list[dict[str, Any]] | None = None
    json: Any = None
    fault: Fault | None = None
    retry_after: str = ""
    ttft_ms: float | None = None
    gap_ms: float | None = None
    after_tokens: int = 0
    used: int = 0

    def fits(self, *, skill: str, text: str) -> bool:
        is_left = self.times == 0 or self.used < self.times
        return is_left and self.skill in (skill, "*") and self.match in text


STEP_FIELDS = {f.name for f in fields(Step)} - {"used"}


def read_step(data: dict[str, Any]) -> Step:
    """A step from JSON; raises BadStep with the name of what is wrong."""
    unknown = set(data) - STEP_FIELDS
    if unknown:
        raise BadStep(f"Unknown keys: {', '.join(sorted(unknown))}. Known: {', '.join(sorted(STEP_FIELDS))}.")
    fault = data.get("fault")
    try:
        read_fault = Fault(str(fault)) if fault is not None else None
    except ValueError as error:
        raise BadStep(f"Unknown fault {fault!r}. Known: {', '.join(Fault)}.") from error
    step = Step(**{**data, "fault": read_fault, "retry_after": str(data.get("retry_after", ""))})
    if step.tool_calls and not all(isinstance(c, dict) and c.get("name") for c in step.tool_calls):
        raise BadStep("Each of `tool_calls` needs a `name`, and `arguments`.")
    return step


class Script:
    """The queued steps, used in the order they were given."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.mode = Mode.FREE

    def add(self, data: Any) -> int:
        """Take a step, a list of steps, `{"steps": […]}` or `{"mode": …}`; returns the number of steps added."""
        if isinstance(data, dict) and "mode" in data:
            self._set_mode(data["mode"])
            data = data.get("steps", [])
        steps = data["steps"] if isinstance(data, dict) and "steps" in data else data
        steps = [steps] if isinstance(steps, dict) else steps
        if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
            raise BadStep("Send a step, a list of steps, or a mode.")
        read = [read_step(step) for step in steps]
        self.steps += read
        return len(read)

    def _set_mode(self, mode: Any) -> None:
        try:
            self.mode = Mode(mode)
        except ValueError as error:
            raise BadStep(f"Unknown mode {mode!r}. Known: {', '.join(Mode)}.") from error

    def take(self, *, skill: str, text: str) -> Step | None:
        """The first step that fits, marked as used; None when there is none."""
        for step in self.steps:
            if step.fits(skill=skill, text=text):
                step.used += 1
                if step.times and step.used >= step.times:
                    self.steps.remove(step)
                return step
        return None

    def unused(self) -> list[dict[str, Any]]:
        """The steps that are still to come; one that holds for ever is unused until its first use."""
        return [json.loads(json.dumps(asdict(s))) for s in self.steps if s.times > s.used or not s.used]
