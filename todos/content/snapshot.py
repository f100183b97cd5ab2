"""What an approval is bound to: everything of a todo that decides what will happen, and its hash (T1)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from projects.models import Project
from todos.models import Todo
from todos.payloads import ContentPayload
from tools.engine.catalogue import CompiledTool, compile_tools
from tools.engine.execution.handler import Contact
from tools.engine.hooks import read_contact
from tools.models import Effect

# Tasks run outside of any channel; a tool that only a channel can obey is never one of theirs.
CHANNEL = "api"


@dataclass(frozen=True)
class ApprovalContext:
    """What a todo stands on beside its own row, read together: the tools that it names, and its customer."""

    tools: Mapping[str, CompiledTool]
    contact: Contact | None

    @property
    def contacts(self) -> Mapping[UUID, Contact]:
        """The customer by the persona."""
        return {self.contact.persona_id: self.contact} if self.contact else {}


def load_approval_context(todo: Todo) -> ApprovalContext:
    """The tools and the customer of a todo as they stand now, inside a transaction."""
    return ApprovalContext(compiled_tools(todo.project, names=tools_of(todo)), read_contact(todo.persona_id))


def content_of(
    todo: Todo, *, tools: Mapping[str, CompiledTool] | None = None, contacts: Mapping[UUID, Contact] | None = None
) -> ContentPayload:
    """The content as it stands now, inside a transaction: words, contact, tools with their versions, recipients, arguments.

    `tools` are the project's compiled tools by name, those of the todo at least, and `contacts` every customer's by the
    persona, where the caller has them already.
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
        # A planned effect runs as it stands in the ledger, whatever the todo says of it.
        "arguments": todo.effect.arguments if todo.effect else todo.arguments,
        "recipients": recipients_of(todo),
        "effect": str(todo.effect_id) if todo.effect_id else None,
        "repeats": todo.repeats,
    }


def hash_of(content: Mapping[str, Any]) -> str:
    """The SHA-256 of a content, in hex; equal contents have equal hashes."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def tools_of(todo: Todo) -> list[str]:
    """The names of the tools that may run for a todo: its one frozen tool, or those of its type (L09)."""
    if todo.tool:
        return [todo.tool]
    return list(todo.type.tools) if todo.type else []


def fingerprint_of(effect: Effect) -> str:
    """The version of the tool that an effect runs, as a content names it."""
    return _digest(effect.tool_version, effect.definition)


def recipients_of(todo: Todo) -> list[str]:
    """Whom the todo's tools may write to: the addresses that it names, else those of its type (L11, D23).

    A frozen tool's addressee is among its arguments.
    """
    if todo.recipients or todo.tool or todo.type is None:
        return list(todo.recipients)
    return list(todo.type.recipients)


def compiled_tools(project: Project, *, names: Collection[str] | None = None) -> dict[str, CompiledTool]:
    """Every tool of the project by name, or those of these names, as tasks see them."""
    return {tool.name: tool for tool in compile_tools(project, channel=CHANNEL, names=names)}


def _known(contacts: Mapping[UUID, Contact], persona_id: UUID | None) -> Contact | None:
    return contacts.get(persona_id) if persona_id is not None else None


def _fingerprint(tool: CompiledTool | None, *, planned: Effect | None) -> str | None:
    """What tells one version of a tool from another; None for a tool that is gone or not offered.

    A planned effect runs with the definition that it was planned with (E9).
    """
    if tool is None or not tool.is_offered:
        return None
    if planned is not None:
        return fingerprint_of(planned)
    return _digest(tool.version, tool.definition.model_dump(mode="json", by_alias=True))


def _digest(version: int, definition: Mapping[str, Any]) -> str:
    text = json.dumps(definition, sort_keys=True, ensure_ascii=False)
    return f"{version}:{hashlib.sha256(text.encode()).hexdigest()[:16]}"
