"""What a tool's handler is given, and what it must offer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from tools.execution.outcome import Outcome


@dataclass(frozen=True)
class Contact:
    """The customer as they are known: recipients come from here, never from a model (threat 8)."""

    persona_id: UUID
    name: str = ""
    phone: str = ""
    email: str = ""
    language: str = ""


@dataclass(frozen=True)
class Occasion:
    """Where, when and for whom a tool runs. `key` is the effect's key, which is the Idempotency-Key of what is sent."""

    organization_id: UUID
    project_id: UUID
    effect_id: UUID
    key: str
    conversation_id: UUID | None
    turn_id: UUID | None
    channel: str
    timezone: str
    at: datetime
    contact: Contact | None
    business: str = ""
    quote: str = ""


# Runs outside of any transaction, on the worker's loop; what it reads and writes it does in tenant_tx, through in_db.
# Raises nothing that it can foresee: every foreseen end is an Outcome.
CarryOut = Callable[[Mapping[str, Any], Occasion], Awaitable[Outcome]]
# What makes two effects of a kind the same thing: recipient and content, or the object. None: never a repeat.
RepeatOf = Callable[[Mapping[str, Any], Occasion], "str | None"]


def never_a_repeat(arguments: Mapping[str, Any], occasion: Occasion) -> str | None:
    return None


class NoArguments(BaseModel):
    """A tool that needs nothing from the conversation: no model is asked."""


@dataclass(frozen=True)
class Handler:
    """How a built-in tool is carried out.

    `arguments` is what a model reads off the conversation beforehand, each field with a description; its JSON Schema goes to
    the arguments skill. `wait_seconds` > 0 opens a wait until the result is there (T22), `tells` makes the agent speak by
    itself when it has come (T24). `addressee` is the argument in which a model names whom it writes to: such a tool runs only
    for addresses that a person has approved (D23).
    """

    carry_out: CarryOut = field(repr=False)
    arguments: type[BaseModel] = NoArguments
    repeat_of: RepeatOf = field(default=never_a_repeat, repr=False)
    wait_seconds: float = 0
    tells: bool = False
    addressee: str = ""
