"""What a tool's handler is given, and what it must offer."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from tools.engine.execution.outcome import Outcome


@dataclass(frozen=True)
class Contact:
    """The customer as they are known: recipients come from here, never from a model (threat 8).

    What is `on file` was given by staff or the API; what the customer only said of themselves proves nothing (D14).
    """

    persona_id: UUID
    name: str = ""
    phone: str = ""
    email: str = ""
    language: str = ""
    phone_on_file: str = ""
    email_on_file: str = ""


@dataclass(frozen=True)
class ToolContext:
    """Where, when and for whom a tool runs. `key` is the effect's key, which is the Idempotency-Key of what is sent.

    `effect_id` is the call's own where it leaves no effect. `shopper` are the claims of a shopper whom the shop has signed in
    (W05), `call` is what the phone tells of a call, as `call_sid` and `caller_phone` (F14): neither comes from a model.
    """

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
    shopper: Mapping[str, Any] = field(default_factory=dict)
    call: Mapping[str, Any] = field(default_factory=dict)


# Runs outside of any transaction, on the worker's loop; what it reads and writes it does in tenant_tx, through in_db.
# Raises nothing that it can foresee: every foreseen end is an Outcome.
Execute = Callable[[Mapping[str, Any], ToolContext], Awaitable[Outcome]]
# What makes two effects of a kind the same thing: recipient and content, or the object. None: never a repeat.
RepeatOf = Callable[[Mapping[str, Any], ToolContext], "str | None"]


def never_a_repeat(arguments: Mapping[str, Any], context: ToolContext) -> str | None:
    return None


# What a description says of a field that nobody named.
OF_NULL = re.compile(r"[;,] null (?:when|if|for) [^.;]*")


class NoArguments(BaseModel):
    """A tool that needs nothing from the conversation: no model is asked."""


@dataclass(frozen=True)
class Handler:
    """How a built-in tool is carried out.

    `arguments` is what a model reads off the conversation beforehand, each field with a description; its JSON Schema goes to
    the arguments skill. `wait_seconds` > 0 opens a wait until the result is there (T22), `tells` makes the agent speak by
    itself when it has come (T24). `addressee` is the argument in which a model names whom it writes to: such a tool runs only
    for addresses that a person has approved (D23). `hidden` arguments are shown to nobody, as a one-time code (D14).
    """

    execute: Execute = field(repr=False)
    arguments: type[BaseModel] = NoArguments
    repeat_of: RepeatOf = field(default=never_a_repeat, repr=False)
    wait_seconds: float = 0
    tells: bool = False
    addressee: str = ""
    hidden: frozenset[str] = frozenset()

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments, as a function's parameters; made once."""
        return schema_of(self.arguments)


def schema_of(arguments: type[BaseModel]) -> dict[str, Any]:
    """A model of arguments as the parameters of a function: nothing may be added to them.

    A model reads it in every request: what a field is called is its title already, and what a class says is for us.
    """
    schema = arguments.model_json_schema()
    for described in (schema, *schema.get("$defs", {}).values()):
        described.pop("description", None)
    return {"properties": {}, **_terse(schema), "additionalProperties": False}


def _terse(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without titles, without a default that is nothing, and without null for what may be left out."""
    terse = {name: value for name, value in schema.items() if name != "title" and not _is_no_default(name, value)}
    needed = schema.get("required", [])
    for name in ("properties", "$defs"):
        if name in terse:
            terse[name] = {
                key: _terse(part if key in needed or name == "$defs" else _without_null(part))
                for key, part in terse[name].items()
            }
    for name in ("anyOf", "oneOf", "allOf"):
        if name in terse:
            terse[name] = [_terse(part) for part in terse[name]]
    return {**terse, "items": _terse(terse["items"])} if isinstance(terse.get("items"), dict) else terse


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """A field that may be left out is of its one kind; a null that comes all the same is taken for nothing. What its
    description says of null is for a skill that has to fill in every field.
    """
    kinds = [kind for kind in schema.get("anyOf", []) if kind != {"type": "null"}]
    if len(kinds) != 1 or "anyOf" not in schema:
        return schema
    kept = {name: value for name, value in schema.items() if name != "anyOf"}
    if "description" in kept:
        kept["description"] = OF_NULL.sub("", kept["description"])
    return {**kept, **kinds[0]}


def _is_no_default(name: str, value: Any) -> bool:
    return name == "default" and value in (None, "")
