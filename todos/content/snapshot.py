"""The snapshot that an approval is bound to: everything that determines what a todo will do, and its hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from projects.models import Project
from todos.models import Todo
from todos.payloads import ContentPayload
from tools.engine.catalogue import CompiledTool, compile_tools
from tools.engine.execution.consent import with_refusals
from tools.engine.execution.handler import Contact
from tools.engine.hooks import read_contact
from tools.engine.policy import policy_of
from tools.models import Effect

# Todos run outside of any channel, so tools that need a particular channel are never among theirs.
CHANNEL = "api"


@dataclass(frozen=True)
class ApprovalContext:
    """The data an approval depends on beside the todo's own row, read together: the todo's tools and its customer."""

    tools: Mapping[str, CompiledTool]
    contact: Contact | None

    @property
    def contacts(self) -> Mapping[UUID, Contact]:
        """The customer by persona id."""
        return {self.contact.persona_id: self.contact} if self.contact else {}


def load_approval_context(todo: Todo) -> ApprovalContext:
    """Read the current tools and customer of a todo. Call it inside a transaction."""
    tools = compiled_tools(todo.project, names=tools_of(todo))
    return ApprovalContext(tools, contact_for(todo, tools.values()))


def contact_for(todo: Todo, tools: Iterable[CompiledTool]) -> Contact | None:
    """The todo's customer, with the refusals at their address that concern the tools."""
    contact = read_contact(todo.persona_id)
    consents = {consent for tool in tools if (consent := policy_of(tool.kind).consent)}
    return with_refusals(contact, consents, project_id=todo.project_id) if contact else None


def content_of(
    todo: Todo, *, tools: Mapping[str, CompiledTool] | None = None, contacts: Mapping[UUID, Contact] | None = None
) -> ContentPayload:
    """The todo's current content: description, contact, tool versions, recipients, arguments. Call it inside a
    transaction.

    `tools` are compiled tools by name, at least those of the todo; `contacts` are customers by persona id. Pass them if
    they are already loaded.
    """
    known = tools if tools is not None else compiled_tools(todo.project, names=tools_of(todo))
    contact = read_contact(todo.persona_id) if contacts is None else _known(contacts, todo.persona_id)
    return {
        "description": todo.description,
        "contact": {"id": str(contact.persona_id), "name": contact.name, "phone": contact.phone, "email": contact.email}
        if contact
        else None,
        "conversation": str(todo.conversation_id) if todo.conversation_id else None,
        "type": todo.type.name if todo.type else None,
        "model": todo.type.model if todo.type else "",
        "tools": {name: _fingerprint(known.get(name), planned=todo.effect) for name in tools_of(todo)},
        "tool": todo.tool or None,
        # A planned effect runs with the arguments in the ledger, not with the todo's copy.
        "arguments": todo.effect.arguments if todo.effect else todo.arguments,
        "recipients": recipients_of(todo),
        "effect": str(todo.effect_id) if todo.effect_id else None,
        "repeats": todo.repeats,
    }


def hash_of(content: Mapping[str, Any]) -> str:
    """The SHA-256 of a content, in hex. Equal contents have equal hashes."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def tools_of(todo: Todo) -> list[str]:
    """The names of the tools that may run for a todo: its one frozen tool, or those of its type."""
    if todo.tool:
        return [todo.tool]
    return list(todo.type.tools) if todo.type else []


def fingerprint_of(effect: Effect) -> str:
    """The version fingerprint of the tool that an effect runs, as used in contents."""
    return _digest(effect.tool_version, effect.definition)


def recipients_of(todo: Todo) -> list[str]:
    """The addresses that the todo's tools may write to: its own, or else those of its type.

    A frozen tool's addressee is among its arguments.
    """
    if todo.recipients or todo.tool or todo.type is None:
        return list(todo.recipients)
    return list(todo.type.recipients)


def compiled_tools(project: Project, *, names: Collection[str] | None = None) -> dict[str, CompiledTool]:
    """The project's tools by name, as todos see them; `names` limits them."""
    return {tool.name: tool for tool in compile_tools(project, channel=CHANNEL, names=names)}


def is_bound_to_channels(tool: CompiledTool) -> bool:
    """True if the tool runs on other channels only. An effect planned on one of them is judged when it is sent."""
    return bool(tool.channels) and CHANNEL not in tool.channels


def _known(contacts: Mapping[UUID, Contact], persona_id: UUID | None) -> Contact | None:
    return contacts.get(persona_id) if persona_id is not None else None


def _fingerprint(tool: CompiledTool | None, *, planned: Effect | None) -> str | None:
    """A digest of the tool's version and definition; None for a tool that is gone or not offered.

    A planned effect runs with the definition it was planned with.
    """
    if tool is None or not (tool.is_offered or (planned and is_bound_to_channels(tool))):
        return None
    if planned is not None:
        return fingerprint_of(planned)
    return _digest(tool.version, tool.definition.model_dump(mode="json", by_alias=True))


def _digest(version: int, definition: Mapping[str, Any]) -> str:
    text = json.dumps(definition, sort_keys=True, ensure_ascii=False)
    return f"{version}:{hashlib.sha256(text.encode()).hexdigest()[:16]}"
