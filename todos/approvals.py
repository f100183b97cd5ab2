"""The one question before anything runs: does a complete, standing approval hold for exactly what would run now (T1, T10)?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from todos.authority import lost_by, may_approve, needs_second
from todos.content import Ground, compiled_tools, content_of, hash_of, recipients_of, tools_of
from todos.models import Approval, Todo, TodoStatus
from todos.plans import names_addressee, tool_problem
from todos.versions import time_of
from tools.catalogue import CompiledTool
from tools.contacts import contact_of
from tools.execution.caps import LETTERS, recipient_of
from tools.execution.handler import Contact

__all__ = ["Void", "check", "may_approve", "needs_second", "why_not_runnable"]

NOBODY = "There is nobody to write to: name the addresses here, or with its type."
NO_CUSTOMER = "It goes to the customer, and this todo has none: choose whose it is."
UNREACHED = {
    "email": "The customer has no e-mail address: fill it in, or choose another way.",
    "sms": "The customer has no phone number: fill it in, or choose another way.",
}
REACHED_BY = {"email": "e-mail address", "phone": "phone number"}
RUNS = (TodoStatus.APPROVED, TodoStatus.IN_PROGRESS)


class Void(Exception):
    """No approval holds. `reason` is a sentence for people; `changed` are the fields of the content that differ.

    `is_expired` tells an approval that wasn't used in time, for which the todo ends, from one whose todo is reviewed again.
    """

    def __init__(self, reason: str, *, changed: Sequence[str] = (), is_expired: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.changed = list(changed)
        self.is_expired = is_expired


def check(todo: Todo, approval: Approval | None, *, ground: Ground) -> Approval:
    """The approval of the todo's version, if it holds for the todo and its ground, all of which the running transaction has
    just read: what is then done is done by these tools, to this customer.

    Raises Void when the content isn't the approved one, when the approval has expired, was ended or waits for a second person,
    when whoever gave it may not any more, when a tool is gone, and when the todo is neither approved nor in progress.
    """
    if todo.status not in RUNS:
        raise Void(f"This todo is {TodoStatus(todo.status).label.lower()}.")
    if approval is None:
        raise Void("Nobody has approved this as it stands.")
    if approval.expires_at <= time_of(todo):
        raise Void("The approval wasn't used in time.", is_expired=True)
    _demand_same(todo, approval, ground)
    if not approval.is_complete or (needs_second(todo) and approval.second_by is None):
        raise Void("A second person has to approve this.")
    if reason := lost_by(todo, approval):
        raise Void(reason)
    return approval


def why_not_runnable(
    todo: Todo,
    *,
    tools: Mapping[str, CompiledTool] | None = None,
    contacts: Mapping[UUID, Contact] | None = None,
) -> str:
    """Why what is to carry the todo out can't, as a sentence; empty when it can. Without any tool a person carries it out.

    `tools` are the project's compiled tools by name, those of the todo at least, and `contacts` its customer's by the persona,
    where the caller has them already.
    """
    names = tools_of(todo)
    known = tools if tools is not None else compiled_tools(todo.project, names=names)
    return _gone(todo, known) or _unreached(todo, [known[name] for name in names], contacts)


def needs_contact(tool: CompiledTool) -> bool:
    """Whether the tool writes to the customer, at the address that is known of them."""
    return tool.kind in LETTERS and not names_addressee(tool)


def _gone(todo: Todo, tools: Mapping[str, CompiledTool]) -> str:
    """What the todo names and isn't there to be used, as a sentence; empty when all of it is."""
    if todo.type is not None and todo.type.is_removed:
        return f"The type {todo.type.name} was removed; give this todo another."
    return next((problem for name in tools_of(todo) if (problem := tool_problem(tools.get(name), name))), "")


def _unreached(todo: Todo, tools: Sequence[CompiledTool], contacts: Mapping[UUID, Contact] | None) -> str:
    """Why nothing that the tools write would reach anybody (L10, L11); empty where one does, or does something else."""
    # A frozen tool's addressee is among its arguments, which were checked with the plan.
    is_named = bool(todo.tool or todo.effect_id or recipients_of(todo))
    if not all((names_addressee(tool) and not is_named) or needs_contact(tool) for tool in tools):
        return ""
    kinds = [tool.kind for tool in tools if needs_contact(tool)]
    if not kinds:
        return NOBODY if tools else ""
    contact = contact_of(todo.persona_id) if contacts is None else _of(contacts, todo.persona_id)
    if contact is None:
        return NO_CUSTOMER
    return "" if any(recipient_of(kind, contact) for kind in kinds) else UNREACHED[kinds[0]]


def _of(contacts: Mapping[UUID, Contact], persona_id: UUID | None) -> Contact | None:
    """The todo's customer among those that the caller has."""
    return contacts.get(persona_id) if persona_id is not None else None


def _demand_same(todo: Todo, approval: Approval, ground: Ground) -> None:
    content = content_of(todo, tools=ground.tools, contacts=ground.contacts)
    if hash_of(content) != approval.content_hash:
        changed = _changed_fields(approval.content, content)
        reason = (
            _gone(todo, ground.tools) or f"It changed after it was approved: {', '.join(changed) or 'its content'}."
        )
        raise Void(reason + _lost(approval.content, content), changed=changed)
    if gone := why_not_runnable(todo, tools=ground.tools, contacts=ground.contacts):
        raise Void(gone, changed=["tools"])


def _lost(approved: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """How the customer could be reached when it was approved, and can't any more; empty where nothing was lost."""
    before, after = approved.get("contact") or {}, now.get("contact") or {}
    lost = [words for name, words in REACHED_BY.items() if before.get(name) and not after.get(name)]
    return f" The customer has no {' and no '.join(lost)} any more." if lost else ""


def _changed_fields(approved: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    return [name for name in dict.fromkeys([*now, *approved]) if approved.get(name) != now.get(name)]
