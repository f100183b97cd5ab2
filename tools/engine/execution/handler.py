"""The interface of a tool's handler."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel

from tools.engine.execution.outcome import Outcome

# Permissions that a customer gives or refuses.
Consent = Literal["sms", "email", "call", "recording"]
# The customer's details that effects are sent to.
AddressedBy = Literal["phone", "email"]


@dataclass(frozen=True)
class Contact:
    """A customer's contact. Recipients come from here, never from a model.

    Fields `on_file` were entered by staff or through the API; values from the customer alone prove nothing about
    identity. `refused` holds the permissions that the customer has refused, in any conversation.
    """

    persona_id: UUID
    name: str = ""
    phone: str = ""
    email: str = ""
    language: str = ""
    phone_on_file: str = ""
    email_on_file: str = ""
    refused: frozenset[str] = frozenset()

    def address(self, by: AddressedBy) -> str:
        """The detail that effects are addressed by, in the form in which addresses are compared; "" if unknown."""
        if by == "phone":
            return "".join(character for character in self.phone if character.isdigit())
        return self.email.strip().lower()


@dataclass(frozen=True, kw_only=True)
class Place:
    """The business, conversation, customer and time of a tool's execution. None of it comes from a model.

    `shopper` holds the claims of a shopper signed in by the shop, `call` the phone's data of a call, such as `call_sid`
    and `caller_phone`. `has_chat` is true if we send the messages to a messenger ourselves, which then shows blocks.
    """

    organization_id: UUID
    project_id: UUID
    conversation_id: UUID | None
    turn_id: UUID | None
    channel: str
    timezone: str
    at: datetime
    contact: Contact | None
    business: str = ""
    shopper: Mapping[str, Any] = field(default_factory=dict)
    call: Mapping[str, Any] = field(default_factory=dict)
    has_chat: bool = False

    def context(self, *, effect_id: UUID, key: str, quote: str = "") -> ToolContext:
        """The context of one execution here."""
        return ToolContext(**vars(self), effect_id=effect_id, key=key, quote=quote)


@dataclass(frozen=True, kw_only=True)
class ToolContext(Place):
    """The place of one execution, and the execution itself.

    `key` is the effect's key, sent as the Idempotency-Key. `effect_id` is the call's own id if the call leaves no
    effect. `quote` is the agent's words that led to it.
    """

    effect_id: UUID
    key: str
    quote: str = ""


# Runs outside of any transaction, on the worker's event loop; database access goes through in_db and tenant_tx. Every
# foreseeable error is returned as an Outcome, not raised.
Execute = Callable[[Mapping[str, Any], ToolContext], Awaitable[Outcome]]
# The identity of an effect among its kind: recipient and content, or the object. None means never a duplicate.
RepeatOf = Callable[[Mapping[str, Any], ToolContext], "str | None"]


def never_a_repeat(arguments: Mapping[str, Any], context: ToolContext) -> str | None:
    return None


# The part of a description about null.
NULL_CLAUSE = re.compile(r"[;,] null (?:when|if|for) [^.;]*")


class NoArguments(BaseModel):
    """No arguments: no model is asked."""


@dataclass(frozen=True)
class Handler:
    """The handler of a built-in tool.

    `arguments` are extracted from the conversation by a model beforehand; their JSON Schema goes to the arguments
    skill. If `wait_seconds` > 0 the agent waits that long for the result; with `tells` it speaks without being asked
    when the result arrives. `addressee` names the argument in which a model chooses the recipient: such a tool runs
    only for approved addresses. `hidden` arguments, such as a one-time code, are shown to nobody.
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
        """The JSON Schema of the arguments, as function parameters."""
        return schema_of(self.arguments)


def schema_of(arguments: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of an argument model, as function parameters without additional properties.

    Models read it in every request, so titles and class descriptions are dropped.
    """
    schema = arguments.model_json_schema()
    for described in (schema, *schema.get("$defs", {}).values()):
        described.pop("description", None)
    return {"properties": {}, **_terse(schema), "additionalProperties": False}


def _terse(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without titles and empty defaults, and without null for optional fields."""
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
    """The schema of an optional field, without null. A null from the model is accepted anyway.

    The part of the description about null is for the arguments skill, which fills in every field.
    """
    kinds = [kind for kind in schema.get("anyOf", []) if kind != {"type": "null"}]
    if len(kinds) != 1 or "anyOf" not in schema:
        return schema
    kept = {name: value for name, value in schema.items() if name != "anyOf"}
    if "description" in kept:
        kept["description"] = NULL_CLAUSE.sub("", kept["description"])
    return {**kept, **kinds[0]}


def _is_no_default(name: str, value: Any) -> bool:
    return name == "default" and value in (None, "")
