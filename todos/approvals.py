"""The one question before anything runs: does a complete, standing approval hold for exactly what would run now (T1, T10)?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import BooleanField, ExpressionWrapper, F, Q
from django.db.models.functions import Now

from projects.compiled import Compiled
from todos.authority import lost_by, may_approve, needs_second
from todos.content import compiled_tools, content_of, hash_of, recipients_of, tools_of
from todos.models import Approval, Todo, TodoStatus
from todos.plans import names_addressee, tool_problem
from tools.catalogue import CompiledTool
from tools.execution.handler import Contact

__all__ = ["Void", "check", "may_approve", "needs_second", "why_not_runnable"]

NOBODY = "There is nobody to write to: name the addresses here, or with its type."
REACHED_BY = {"email": "e-mail address", "phone": "phone number"}
RUNS = (TodoStatus.APPROVED, TodoStatus.IN_PROGRESS)

FRESH = Compiled(
    lambda todo: Todo.objects.select_related("project__agent_version", "type", "effect").filter(pk=todo),
    kinds=(UUID,),
)
STANDING = Compiled(
    lambda todo: (
        Approval.objects.select_related("rule")
        .annotate(is_late=ExpressionWrapper(Q(expires_at__lte=Now()), output_field=BooleanField()))
        .filter(todo_id=todo, version=F("todo__version"), ended_at=None)
    ),
    kinds=(UUID,),
)


class Void(Exception):
    """No approval holds. `reason` is a sentence for people; `changed` are the fields of the content that differ.

    `is_expired` tells an approval that wasn't used in time, for which the todo ends, from one whose todo is reviewed again.
    """

    def __init__(self, reason: str, *, changed: Sequence[str] = (), is_expired: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.changed = list(changed)
        self.is_expired = is_expired


def check(todo: Todo, *, contacts: Mapping[UUID, Contact] | None = None) -> Approval:
    """The approval that holds for the todo as it stands now. Reads everything anew, locks nothing; inside a transaction.

    `contacts` has the todo's customer, where the caller has just read who they are: what is then done is done to them.

    Raises Void when the content isn't the approved one, when the approval has expired, was ended or waits for a second person,
    when whoever gave it may not any more, when a tool is gone, and when the todo is neither approved nor in progress.
    """
    [fresh] = FRESH(todo.pk)
    if fresh.status not in RUNS:
        raise Void(f"This todo is {TodoStatus(fresh.status).label.lower()}.")
    approval = _in_time(STANDING(todo.pk))
    _demand_same(fresh, approval, contacts=contacts)
    if not approval.is_complete or (needs_second(fresh) and approval.second_by is None):
        raise Void("A second person has to approve this.")
    if reason := lost_by(fresh, approval):
        raise Void(reason)
    return approval


def why_not_runnable(todo: Todo, *, tools: Mapping[str, CompiledTool] | None = None) -> str:
    """Why what is to carry the todo out can't, as a sentence; empty when it can. Without any tool a person carries it out.

    `tools` are the project's compiled tools by name, where the caller has them already.
    """
    if todo.type is not None and todo.type.is_removed:
        return f"The type {todo.type.name} was removed; give this todo another."
    names = tools_of(todo)
    if not names:
        return ""
    known = tools if tools is not None else compiled_tools(todo.project)
    if problem := next((problem for name in names if (problem := tool_problem(known.get(name), name))), ""):
        return problem
    is_open = not todo.tool and not todo.effect_id and not recipients_of(todo)
    return NOBODY if is_open and all(names_addressee(known[name]) for name in names) else ""


def _in_time(standing: Sequence[Approval]) -> Approval:
    if not standing:
        raise Void("Nobody has approved this as it stands.")
    if vars(standing[0])["is_late"]:
        raise Void("The approval wasn't used in time.", is_expired=True)
    return standing[0]


def _demand_same(todo: Todo, approval: Approval, *, contacts: Mapping[UUID, Contact] | None) -> None:
    tools = compiled_tools(todo.project)
    content, gone = content_of(todo, tools=tools, contacts=contacts), why_not_runnable(todo, tools=tools)
    if hash_of(content) != approval.content_hash:
        changed = _changed_fields(approval.content, content)
        reason = gone or f"It changed after it was approved: {', '.join(changed) or 'its content'}."
        raise Void(reason + _lost(approval.content, content), changed=changed)
    if gone:
        raise Void(gone, changed=["tools"])


def _lost(approved: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """How the customer could be reached when it was approved, and can't any more; empty where nothing was lost."""
    before, after = approved.get("contact") or {}, now.get("contact") or {}
    lost = [words for name, words in REACHED_BY.items() if before.get(name) and not after.get(name)]
    return f" The customer has no {' and no '.join(lost)} any more." if lost else ""


def _changed_fields(approved: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    return [name for name in dict.fromkeys([*now, *approved]) if approved.get(name) != now.get(name)]
