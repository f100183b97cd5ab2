"""What every built-in tool states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from projects.attributes import Resolved, is_on
from tools.definition import Condition, ConflictPolicy, Delivery, Moment, ToolDefinition
from tools.execution.handler import Handler

__all__ = ["Attributes", "BuiltinTool", "Delivery", "Gate", "Moment", "always", "define", "switched_on_by"]

Attributes = Mapping[str, Resolved]
# Answers "" when the tool is on, else the reason why not.
Gate = Callable[[Attributes, str], str]


@dataclass(frozen=True)
class BuiltinTool:
    """A built-in tool. `kind` is what its effects are in the ledger; repeats are compared within a kind.

    `handler` carries it out (N44). It stands in the tool's own module, or is taken from the package that does the work
    (`tools.book`, `tools.integrations`). `moments` says when it may run: what only a conversation can obey is no task's.
    """

    name: str
    kind: str
    delivery: Delivery
    gate: Gate
    definition: ToolDefinition
    handler: Handler | None = None
    moments: tuple[Moment, ...] = (Moment.AFTER_TURN, Moment.TASK)


def define(
    description: str, *, conditions: Mapping[str, str], history: bool = False, tag: str | None = None
) -> ToolDefinition:
    """A definition whose action is the system event of the tool's own name."""
    return ToolDefinition(
        description=description,
        conditions={name: Condition(type="boolean", description=text) for name, text in conditions.items()},
        use_conversation_history=history,
        conflict_policy=ConflictPolicy(tag=tag) if tag else None,
    )


def always(attributes: Attributes, channel: str) -> str:
    """A gate that is always open (N31)."""
    return ""


def switched_on_by(key: str) -> Gate:
    """Open while a boolean attribute is true."""

    def gate(attributes: Attributes, channel: str) -> str:
        return "" if is_on(attributes, key) else f"{key} is not True"

    return gate
