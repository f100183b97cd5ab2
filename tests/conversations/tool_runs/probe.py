"""A tool for tests of the loop: it counts its calls and behaves as instructed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, Field

from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, Trigger, always, define
from tools.engine.execution.handler import Handler, ToolContext
from tools.engine.execution.outcome import Outcome
from tools.engine.registry import builtin_tools

NAME = "ring_bell"


class Ring(BaseModel):
    """Arguments of the bell."""

    times: int = Field(1, ge=1, le=3, description="how often")
    tone: Literal["high", "low"] = Field("low", description="the bell's tone")


@dataclass
class Probe:
    """The tool's next behavior, and its calls so far."""

    outcome: Outcome = field(
        default_factory=lambda: Outcome.done("The bell was rung.", said="The bell was rung.", result={"rung": True})
    )
    done: list[Mapping[str, Any]] = field(default_factory=list)
    contexts: list[ToolContext] = field(default_factory=list)
    raises: Exception | None = None
    until: threading.Event | None = None

    async def execute(self, arguments: Mapping[str, Any], context: ToolContext) -> Outcome:
        self.done.append(arguments)
        self.contexts.append(context)
        while self.until is not None and not self.until.is_set():
            await asyncio.sleep(0.01)
        if self.raises is not None:
            raise self.raises
        return self.outcome


@contextmanager
def offered(name: str = NAME, *, kind: str = "bell", delivery: RetryPolicy = RetryPolicy.ONCE) -> Iterator[Probe]:
    """Add the tool to the built-in tools of this process inside the context."""
    probe = Probe()
    handler = Handler(execute=probe.execute, arguments=Ring, repeat_of=lambda arguments, context: str(arguments))
    builtin_tools()[name] = BuiltinTool(
        name=name,
        kind=kind,
        delivery=delivery,
        keeps_promise=False,
        gate=always,
        definition=define("Rings the bell at the counter."),
        handler=handler,
        moments=(Trigger.TURN,),
        section="### The Bell\n- Ring it when the customer asks for it.",
    )
    try:
        yield probe
    finally:
        del builtin_tools()[name]
