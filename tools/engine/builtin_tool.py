"""What every built-in tool states."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from projects.common.verticals import Capability
from projects.records.attributes import is_on
from tools.engine.business_state import BusinessState
from tools.engine.definition import Condition, ConflictPolicy, RetryPolicy, ToolDefinition, Trigger
from tools.engine.execution.handler import Handler

__all__ = [
    "SHOWING_BLOCKS",
    "BuiltinTool",
    "BusinessState",
    "Capability",
    "Gate",
    "RetryPolicy",
    "Trigger",
    "always",
    "define",
    "switched_on_by",
]

# The channels on which a customer sees the blocks of a reply (W11).
SHOWING_BLOCKS = frozenset({"chat", "portal", "api"})
# Answers "" when the tool is on, else the reason why not. A pure function: the state was read before (F06).
Gate = Callable[[BusinessState], str]
# Narrows the JSON Schema of a tool's arguments to what the business has: the numbers that a call may go to (L07).
Narrow = Callable[[Mapping[str, Any], BusinessState], Mapping[str, Any]]
# What the business itself adds to a tool's section, as lines of a list: its rules of escalation.
Adds = Callable[[BusinessState], Sequence[str]]


@dataclass(frozen=True)
class BuiltinTool:
    """A built-in tool. `kind` is what its effects are in the ledger; repeats are compared within a kind. A tool that only
    reads our own rows has none, and leaves no effect.

    `handler` carries it out (N44). It stands in the tool's own module, or is taken from the package that does the work
    (`tools.services.bookings`, `tools.services.messaging`). `moments` says when it may run (D18): what only a conversation can obey is no
    task's, and what a commitment fires has conditions.

    `capability` is what an agent's vertical has to bring (W01), `channels` where it may run, all where there are none;
    `category` is its group in the catalogue (F12). `section` is how a model is to use it, a markdown part under
    `## Available Tools` (L15); `adds` gives it the business's own rules, and `narrow` fits the arguments to the business.
    """

    name: str
    kind: str
    delivery: RetryPolicy
    gate: Gate
    definition: ToolDefinition
    handler: Handler | None = None
    moments: tuple[Trigger, ...] = (Trigger.COMMITMENT, Trigger.TASK)
    capability: Capability | None = None
    channels: tuple[str, ...] = ()
    category: str = ""
    section: str = ""
    narrow: Narrow | None = field(default=None, repr=False)
    adds: Adds | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if Trigger.COMMITMENT in self.moments and not self.definition.conditions:
            raise ValueError(f"{self.name} would fire on every reply: what commitments fire needs a condition.")


def define(
    description: str, *, conditions: Mapping[str, str] | None = None, history: bool = False, tag: str | None = None
) -> ToolDefinition:
    """A definition whose action is the system event of the tool's own name."""
    return ToolDefinition(
        description=description,
        conditions={name: Condition(type="boolean", description=text) for name, text in (conditions or {}).items()},
        use_conversation_history=history,
        conflict_policy=ConflictPolicy(tag=tag) if tag else None,
    )


def always(state: BusinessState) -> str:
    """A gate that is always open (N31)."""
    return ""


def switched_on_by(key: str) -> Gate:
    """Open while a boolean attribute is true."""

    def gate(state: BusinessState) -> str:
        return "" if is_on(state.attributes, key) else f"{key} is not True"

    return gate
