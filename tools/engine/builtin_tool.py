"""The definition of a built-in tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from projects.common.verticals import Capability
from projects.records.attributes import is_on
from tools.engine.business_state import BusinessState
from tools.engine.definition import Condition, ConflictPolicy, RetryPolicy, ToolDefinition, Trigger
from tools.engine.execution.handler import Handler, Place

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
    "shows_blocks",
    "switched_on_by",
]

# Channels that show the customer the blocks of a reply.
SHOWING_BLOCKS = frozenset({"chat", "portal", "api"})


def shows_blocks(place: Place) -> bool:
    """True if the customer sees the blocks of a reply there: the channel's client does, or we render them ourselves."""
    return place.channel in SHOWING_BLOCKS or place.has_chat


# Returns "" when the tool is offered, otherwise the reason why not. Pure: the state is read beforehand.
Gate = Callable[[BusinessState], str]
# Restricts the JSON Schema of a tool's arguments to what the business has, for example its transfer numbers.
Narrow = Callable[[Mapping[str, Any], BusinessState], Mapping[str, Any]]
# Lines that the business adds to a tool's section, for example its escalation rules.
Adds = Callable[[BusinessState], Sequence[str]]


@dataclass(frozen=True)
class BuiltinTool:
    """A built-in tool.

    `kind` groups its effects in the ledger; duplicates are detected within a kind. A tool that only reads our own rows
    has an empty kind and leaves no effect.

    `keeps_promise` is true if its effect keeps a promise to the customer, who relies on it: a text, a booking, a transfer. It
    is false for an act of the conversation, such as a goodbye or a look-up, which opens no promise and is in no figure.

    `handler` executes it: defined in the tool's module, or taken from the service that does the work. `moments` lists
    the triggers it may run on. A tool that only a conversation can act on has no TASK trigger, and a tool with the
    COMMITMENT trigger needs conditions.

    `capability` is the vertical's capability it requires. `channels` restricts where it may run; empty means
    everywhere. `category` is its group in the catalogue. `section` is the markdown under `## Available Tools` that
    tells a model how to use it; `adds` appends lines from the business's own rules, and `narrow` restricts the
    arguments to what the business has. `is_always_listed` is true for a tool that an agent's list of tools can't take
    away.
    """

    name: str
    kind: str
    delivery: RetryPolicy
    keeps_promise: bool
    gate: Gate
    definition: ToolDefinition
    handler: Handler | None = None
    moments: tuple[Trigger, ...] = (Trigger.COMMITMENT, Trigger.TASK)
    capability: Capability | None = None
    channels: tuple[str, ...] = ()
    is_always_listed: bool = False
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
    """A definition whose action sends the system event named after the tool."""
    return ToolDefinition(
        description=description,
        conditions={name: Condition(type="boolean", description=text) for name, text in (conditions or {}).items()},
        use_conversation_history=history,
        conflict_policy=ConflictPolicy(tag=tag) if tag else None,
    )


def always(state: BusinessState) -> str:
    """A gate that is always open."""
    return ""


def switched_on_by(key: str) -> Gate:
    """A gate that is open while a boolean attribute is true."""

    def gate(state: BusinessState) -> str:
        return "" if is_on(state.attributes, key) else f"{key} is not True"

    return gate
