"""What an approval is bound to: everything of a todo that decides what will happen, and its hash (T1)."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from projects.models import Project
from todos.models import Todo
from tools.catalogue import CompiledTool, compile_tools
from tools.contacts import contact_of

# Tasks run outside of any channel; a tool that only a channel can obey is never one of theirs.
CHANNEL = "api"


def content_of(todo: Todo, *, tools: dict[str, CompiledTool] | None = None) -> dict[str, Any]:
    """The content as it stands now, inside a transaction: words, contact, tools with their versions, recipients, arguments.

    `tools` are the project's compiled tools by name, where the caller has them already.
    """
    known = tools if tools is not None else compiled_tools(todo.project)
    contact = contact_of(todo.persona_id)
    return {
        "description": todo.description,
        "contact": {"id": str(contact.persona_id), "name": contact.name, "phone": contact.phone, "email": contact.email}
        if contact
        else None,
        "conversation": str(todo.conversation_id) if todo.conversation_id else None,
        "type": todo.type.name if todo.type else None,
        "model": todo.type.model if todo.type else "",
        "tools": {name: _fingerprint(known.get(name)) for name in tools_of(todo)},
        "tool": todo.tool or None,
        "arguments": todo.arguments,
        "recipients": todo.recipients,
        "effect": str(todo.effect_id) if todo.effect_id else None,
    }


def hash_of(content: dict[str, Any]) -> str:
    """The SHA-256 of a content, in hex; equal contents have equal hashes."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def tools_of(todo: Todo) -> list[str]:
    """The names of the tools that may run for a todo: its one frozen tool, or those of its type (L09)."""
    if todo.tool:
        return [todo.tool]
    return list(todo.type.tools) if todo.type else []


def compiled_tools(project: Project) -> dict[str, CompiledTool]:
    """Every tool of the project by name, as tasks see them."""
    return {tool.name: tool for tool in compile_tools(project, channel=CHANNEL)}


def _fingerprint(tool: CompiledTool | None) -> str | None:
    """What tells one version of a tool from another; None for a tool that is gone or not offered."""
    if tool is None or not tool.is_offered:
        return None
    definition = tool.definition.model_dump_json(by_alias=True)
    return f"{tool.version}:{hashlib.sha256(definition.encode()).hexdigest()[:16]}"
