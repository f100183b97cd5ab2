"""A tool's definition, in the schema of the source, exactly (N16-N21)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Condition(Part):
    """One named condition; all of a tool's must be true for it to fire (N17)."""

    type: Literal["boolean"]
    description: Annotated[str, Field(min_length=1)]


class ConflictPolicy(Part):
    """Tools that share a tag exclude each other within a turn (N19, N40)."""

    tag: Annotated[str, Field(min_length=1)]


class ActionType(StrEnum):
    """How a tool acts (N20)."""

    SEND_EVENT = "send_event"
    SEND_WEBHOOK = "send_webhook"
    SEND_URGENT_MESSAGE = "send_urgent_message"


class Action(Part):
    type: ActionType = ActionType.SEND_EVENT
    options: dict[str, Any] = {}


class ToolDefinition(Part):
    """What a tool is for, when it fires, and what it does then."""

    description: Annotated[str, Field(min_length=1)]
    conditions: Annotated[dict[str, Condition], Field(min_length=1)]
    use_conversation_history: Annotated[bool, Field(alias="useConversationHistory", strict=True)]
    conflict_policy: Annotated[ConflictPolicy | None, Field(alias="conflictPolicy")] = None
    action: Action = Action()
    after_actions: list[dict[str, Any]] = []

    @property
    def tag(self) -> str | None:
        """The conflict tag, if the tool competes."""
        return self.conflict_policy.tag if self.conflict_policy else None
