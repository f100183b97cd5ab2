"""Validity of approvals: checked before anything runs, against exactly the content that would run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.utils.translation import gettext, gettext_noop

from projects.common.translation import lazy
from todos.approvals.permissions import lost_permission, may_approve, needs_second
from todos.content.deliverability import TextRefusal, Undeliverable, is_only_messages, undeliverable_messages
from todos.content.plans import tool_problem
from todos.content.snapshot import ApprovalContext, compiled_tools, content_of, hash_of, tools_of
from todos.content.versions import time_of
from todos.models import Approval, Todo, TodoStatus
from tools.engine.catalogue import CompiledTool
from tools.engine.execution.handler import Contact
from tools.models import EffectState
from tools.services.messaging.sms import TextRules

__all__ = ["InvalidApproval", "check", "may_approve", "needs_second", "undeliverable_of", "why_not_runnable"]

CONTACT_LABELS = {"email": "an e-mail address", "phone": "a phone number"}
# An approval has no effect until the outcome of the planned effect is known.
OUTCOME_UNKNOWN = lazy("We don't know whether {tool} went through. Confirm the outcome first.")
RUNNABLE = (TodoStatus.APPROVED, TodoStatus.IN_PROGRESS)


class InvalidApproval(Exception):
    """No valid approval exists. `reason` is a sentence for people; `changed` lists the content fields that differ.

    `is_expired` marks an approval that was not used in time: its todo expires instead of returning to review.
    """

    def __init__(self, reason: str, *, changed: Sequence[str] = (), is_expired: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.changed = list(changed)
        self.is_expired = is_expired


def check(todo: Todo, approval: Approval | None, *, context: ApprovalContext) -> Approval:
    """Return the approval if it is valid for the todo and its context, which the current transaction has just read. The
    effects that follow use these same tools and this customer.

    Raises InvalidApproval if the content differs from the approved one; if the approval is missing, expired, ended or incomplete;
    if a giver has lost permission; if a tool is unavailable; and if the todo is neither approved nor in progress.
    """
    if todo.status not in RUNNABLE:
        raise InvalidApproval(TodoStatus(todo.status).sentence)
    if approval is None:
        raise InvalidApproval(gettext_noop("The current version isn’t approved."))
    if approval.expires_at <= time_of(todo):
        raise InvalidApproval(gettext_noop("The approval expired before it was used."), is_expired=True)
    _require_same(todo, approval, context)
    if not approval.is_complete or (needs_second(todo) and approval.second_by is None):
        raise InvalidApproval(gettext_noop("A second person has to approve this."))
    if reason := lost_permission(todo, approval):
        raise InvalidApproval(reason)
    return approval


def why_not_runnable(
    todo: Todo,
    *,
    tools: Mapping[str, CompiledTool] | None = None,
    contacts: Mapping[UUID, Contact] | None = None,
    text_refusal: TextRefusal | None = None,
) -> str:
    """The reason why the todo can't run, as a sentence; empty if it can, or if it has no tools and a person does it.

    `tools` are compiled tools by name, at least those of the todo, `contacts` customers by persona id, and the last
    argument the project's texting rules. Pass them if they are already loaded.
    """
    known = tools if tools is not None else compiled_tools(todo.project, names=tools_of(todo))
    if todo.effect is not None and todo.effect.state == EffectState.UNKNOWN:
        return OUTCOME_UNKNOWN.format(tool=todo.effect.tool)
    return _why_blocked(todo, known, contacts, text_refusal or TextRules(todo.project).refusal)


def undeliverable_of(
    todo: Todo,
    *,
    tools: Mapping[str, CompiledTool] | None = None,
    contacts: Mapping[UUID, Contact] | None = None,
    text_refusal: TextRefusal | None = None,
) -> list[Undeliverable]:
    """The todo's messages that would reach nobody. Empty if a tool is unavailable, because then nothing runs. The
    arguments are as above.
    """
    known = tools if tools is not None else compiled_tools(todo.project, names=tools_of(todo))
    if _why_unavailable(todo, known):
        return []
    named = [known[name] for name in tools_of(todo)]
    return undeliverable_messages(todo, named, contacts, text_refusal=text_refusal or TextRules(todo.project).refusal)


def _why_unavailable(todo: Todo, tools: Mapping[str, CompiledTool]) -> str:
    """The reason why the todo's type or a tool is unavailable, as a sentence; empty if all are available."""
    if todo.type is not None and todo.type.is_removed:
        return gettext("Type %(name)s was removed. Choose another type.") % {"name": todo.type.name}
    is_planned = todo.effect is not None
    problems = (tool_problem(tools.get(name), name, is_planned=is_planned) for name in tools_of(todo))
    return next((problem for problem in problems if problem), "")


def _why_blocked(
    todo: Todo,
    tools: Mapping[str, CompiledTool],
    contacts: Mapping[UUID, Contact] | None,
    text_refusal: TextRefusal | None = None,
) -> str:
    """The reason why the todo can't run: something is unavailable, or its tools would only send undeliverable messages.
    Empty if it can run.
    """
    if gone := _why_unavailable(todo, tools):
        return gone
    named = [tools[name] for name in tools_of(todo)]
    unsent = undeliverable_messages(todo, named, contacts, text_refusal=text_refusal)
    return unsent[0].reason if unsent and is_only_messages(named, unsent) else ""


def _require_same(todo: Todo, approval: Approval, context: ApprovalContext) -> None:
    content = content_of(todo, tools=context.tools, contacts=context.contacts)
    if hash_of(content) != approval.content_hash:
        changed = _changed_fields(approval.content, content)
        reason = (
            _why_unavailable(todo, context.tools) or f"Changed after approval: {', '.join(changed) or 'its content'}."
        )
        raise InvalidApproval(reason + _lost_contact(approval.content, content), changed=changed)
    # Texting rules and the customer's consent are checked when the message is sent.
    if stopped := _why_blocked(todo, context.tools, context.contacts):
        raise InvalidApproval(stopped, changed=["tools"])


def _lost_contact(approved: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """The contact details that the customer had at approval and has lost since, as a sentence; empty if none."""
    before, after = approved.get("contact") or {}, now.get("contact") or {}
    lost = [words for name, words in CONTACT_LABELS.items() if before.get(name) and not after.get(name)]
    return f" The customer no longer has {' or '.join(lost)}." if lost else ""


def _changed_fields(approved: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    return [name for name in dict.fromkeys([*now, *approved]) if approved.get(name) != now.get(name)]
