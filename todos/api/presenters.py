"""Serialization of todos, types, approvals and rules for the API."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from uuid import UUID

from projects.common.presenters import stamp
from todos.approvals.job_keys import next_attempts
from todos.approvals.validity import undeliverable_of, why_not_runnable
from todos.content.deliverability import Undeliverable
from todos.content.requested_recipients import requested_recipients
from todos.content.snapshot import compiled_tools, content_of, hash_of, tools_of
from todos.content.versions import current_approval
from todos.models import Approval, StandingRule, Todo, TodoCall, TodoEvent, TodoStep, TodoType
from todos.payloads import (
    ApprovalPayload,
    ApprovedPayload,
    StandingRulePayload,
    TodoCallPayload,
    TodoDetailPayload,
    TodoEventPayload,
    TodoPayload,
    TodoStepPayload,
    TodoTypePayload,
    UnsentPayload,
)
from tools.engine.presenters import effect_payload
from tools.models import Effect


def type_payload(todo_type: TodoType) -> TodoTypePayload:
    return {
        "id": str(todo_type.pk),
        "name": todo_type.name,
        "description": todo_type.description,
        "tools": todo_type.tools,
        "model": todo_type.model or None,
        "recipients": todo_type.recipients,
        "approver_role": todo_type.approver_role,
        "second_approver": todo_type.second_approver,
        "limit_argument": todo_type.limit_argument or None,
        "limit_value": float(todo_type.limit_value) if todo_type.limit_value is not None else None,
        "expires_after_hours": todo_type.expires_after_hours,
        "is_extracted": todo_type.is_extracted,
        "created_at": stamp(todo_type.created_at),
        "updated_at": stamp(todo_type.updated_at),
    }


def todo_payload(todo: Todo) -> TodoPayload:
    """A todo without its steps and history, as returned in lists."""
    return {
        "id": str(todo.pk),
        "type": str(todo.type_id) if todo.type_id else None,
        "type_name": todo.type.name if todo.type else None,
        "title": todo.heading,
        "description": todo.description,
        "status": todo.status,
        "reason": todo.reason or None,
        "source": todo.source,
        "conversation": str(todo.conversation_id) if todo.conversation_id else None,
        "turn": str(todo.turn_id) if todo.turn_id else None,
        "persona": str(todo.persona_id) if todo.persona_id else None,
        "promise": str(todo.promise_id) if todo.promise_id else None,
        "due_at": stamp(todo.promise_due_at) if todo.promise_due_at else None,
        "effect": str(todo.effect_id) if todo.effect_id else None,
        "quote": todo.quote or None,
        "tool": todo.tool or None,
        "arguments": todo.arguments,
        "recipients": todo.recipients,
        "repeats": todo.repeats,
        "version": todo.version,
        "taker": todo.taker or None,
        "taken_by": str(todo.taken_by) if todo.taken_by else None,
        "created_at": stamp(todo.created_at),
        "status_at": stamp(todo.status_at),
        "expires_at": stamp(todo.expires_at),
    }


def todo_detail(todo: Todo) -> TodoDetailPayload:
    """A todo with its current content and hash, approval, steps, effects and history. Call it inside a transaction.

    `unsent` is empty for a todo that can't be approved.
    """
    tools = compiled_tools(todo.project, names=tools_of(todo))
    content = content_of(todo, tools=tools)
    approval = current_approval(todo) or todo.approvals.order_by("-created_at").first()
    problem = why_not_runnable(todo, tools=tools)
    effects = effects_of(todo)
    due = next_attempts(approval, effects) if approval else {}
    steps = list(todo.steps.prefetch_related("calls").order_by("started_at", "number"))
    return {
        **todo_payload(todo),
        "content": content,
        "content_hash": hash_of(content),
        "why_not_runnable": problem or None,
        "unsent": [] if problem else unsent_payload(undeliverable_of(todo, tools=tools)),
        "by_hand": not content["tools"],
        "wanted_recipients": requested_recipients(todo, tools=tools),
        "approval": approval_payload(approval) if approval else None,
        "steps": [step_payload(step, due=due) for step in steps],
        "effects": [effect_payload(effect) for effect in effects],
        "history": [event_payload(event) for event in todo.history.all()],
    }


def unsent_payload(unsent: Iterable[Undeliverable]) -> list[UnsentPayload]:
    return [{"kind": one.kind, "reason": one.reason} for one in unsent]


def approval_payload(approval: Approval) -> ApprovalPayload:
    return {
        "id": str(approval.pk),
        "version": approval.version,
        "content_hash": approval.content_hash,
        "approver": approval.approver,
        "approved_by": str(approval.approved_by) if approval.approved_by else None,
        "rule": str(approval.rule_id) if approval.rule_id else None,
        "needs_second": approval.needs_second,
        "second_approver": approval.second_approver or None,
        "second_at": stamp(approval.second_at),
        "is_complete": approval.is_complete,
        "created_at": stamp(approval.created_at),
        "expires_at": stamp(approval.expires_at),
        "ended_at": stamp(approval.ended_at),
    }


def approved_payload(approval: Approval) -> ApprovedPayload:
    """The exact content that was approved; nothing else will run."""
    return {"version": approval.version, "content_hash": approval.content_hash, "content": approval.content}


def effects_of(todo: Todo) -> list[Effect]:
    """The todo's planned effect, followed by the effects of its runs in order of creation."""
    done = Effect.objects.filter(todo_calls__step__todo=todo).distinct().order_by("created_at", "id")
    return [*([todo.effect] if todo.effect else []), *(effect for effect in done if effect.pk != todo.effect_id)]


def step_payload(step: TodoStep, *, due: Mapping[UUID, datetime]) -> TodoStepPayload:
    """A step with its calls. `due` holds the times of the next attempts, by effect."""
    return {
        "number": step.number,
        "approval": str(step.approval_id),
        "content": step.content or None,
        "model": step.model or None,
        "cost": float(step.cost) if step.cost is not None else None,
        "total_ms": step.total_ms,
        "started_at": stamp(step.started_at),
        "finished_at": stamp(step.finished_at),
        "calls": [call_payload(call, due=due) for call in step.calls.all()],
    }


def call_payload(call: TodoCall, *, due: Mapping[UUID, datetime]) -> TodoCallPayload:
    return {
        "name": call.name,
        "arguments": call.arguments,
        "effect": str(call.effect_id) if call.effect_id else None,
        "result": call.result or None,
        "is_error": call.is_error,
        "next_attempt_at": stamp(due.get(call.effect_id)) if call.effect_id else None,
        "finished_at": stamp(call.finished_at),
    }


def event_payload(event: TodoEvent) -> TodoEventPayload:
    """One entry of the history, without the content snapshot of its version."""
    return {
        "what": event.what,
        "from": event.from_status or None,
        "to": event.to_status or None,
        "version": event.version,
        "actor": event.actor or None,
        "member": str(event.actor_id) if event.actor_id else None,
        "detail": {name: value for name, value in event.detail.items() if name != "content"},
        "at": stamp(event.at),
    }


def rule_payload(rule: StandingRule) -> StandingRulePayload:
    return {
        "id": str(rule.pk),
        "tool": rule.tool,
        "type": str(rule.type_id) if rule.type_id else None,
        "allowed": rule.allowed,
        "most_per_day": rule.most_per_day,
        "created_by": str(rule.created_by),
        "created_at": stamp(rule.created_at),
        "ended_at": stamp(rule.ended_at),
    }
