"""API representations of the tools' rows."""

from __future__ import annotations

from datetime import datetime

from projects.common.presenters import stamp
from projects.common.stored_sentences import translated
from tools.engine.catalogue import CompiledTool
from tools.engine.payloads import (
    AfterActionPayload,
    EffectDetailPayload,
    EffectPayload,
    EffectReceiptPayload,
    PromisePayload,
    ToolPayload,
    VerdictPayload,
)
from tools.engine.verdicts import VOID_RULES
from tools.models import AfterAction, Effect, Promise, Verdict


def effect_payload(effect: Effect) -> EffectPayload:
    return {
        "id": str(effect.pk),
        "tool": effect.tool,
        "version": effect.tool_version,
        "kind": effect.kind,
        "delivery": effect.delivery,
        "origin": effect.origin,
        "state": effect.state,
        "conversation": str(effect.conversation_id) if effect.conversation_id else None,
        "turn": str(effect.turn_id) if effect.turn_id else None,
        "quote": effect.quote,
        "arguments": effect.arguments,
        "result": effect.result,
        "told": effect.told or None,
        "error": effect.error or None,
        "attempts": effect.attempts,
        "http_status": effect.http_status,
        "adapter": effect.adapter or None,
        "repeats": str(effect.repeats) if effect.repeats else None,
        "created_at": stamp(effect.created_at),
        "started_at": stamp(effect.started_at),
        "accepted_at": stamp(effect.accepted_at),
        "acknowledged_at": stamp(effect.acknowledged_at),
        "receipt": _receipt_payload(effect),
        "finished_at": stamp(effect.finished_at),
        "resolved_at": stamp(effect.resolved_at),
    }


def _receipt_payload(effect: Effect) -> EffectReceiptPayload | None:
    if not effect.receipt:
        return None
    return {
        "state": effect.receipt,
        "reason": effect.receipt_reason,
        "at": stamp(effect.receipt_at),
        "due_at": stamp(effect.receipt_due_at),
    }


def effect_detail(effect: Effect, *, next_attempt_at: datetime | None) -> EffectDetailPayload:
    """An effect with its redacted request, the response, and its after-actions."""
    return {
        **effect_payload(effect),
        "key": effect.effect_key,
        "request": effect.request,
        "response": effect.excerpt or None,
        "deadline_at": stamp(effect.deadline_at),
        "next_attempt_at": stamp(next_attempt_at),
        "resolved_by": str(effect.resolved_by) if effect.resolved_by else None,
        "after_actions": [after_action_payload(row) for row in effect.after_actions.order_by("index")],
    }


def after_action_payload(row: AfterAction) -> AfterActionPayload:
    return {
        "type": row.type,
        "state": row.state,
        "options": row.options,
        "raw": row.raw or None,
        "value": row.value or None,
        "error": row.error or None,
        "finished_at": stamp(row.finished_at),
    }


def promise_payload(promise: Promise) -> PromisePayload:
    return {
        "id": str(promise.pk),
        "quote": promise.quote,
        "tool": promise.tool or None,
        "effect": str(promise.effect_id) if promise.effect_id else None,
        "state": promise.state,
        "evidence": promise.evidence or None,
        "owner": promise.owner or None,
        "reason": translated(promise.reason) or None,
        "conversation": str(promise.conversation_id),
        "turn": str(promise.turn_id),
        "message": str(promise.message_id),
        "due_at": stamp(promise.due_at),
        "created_at": stamp(promise.created_at),
        "closed_at": stamp(promise.closed_at),
    }


def verdict_payload(verdict: Verdict) -> VerdictPayload:
    return {
        "tool": verdict.tool,
        "fired": verdict.fired,
        "reason": translated(verdict.reason),
        "rule": VOID_RULES.get(verdict.rule, verdict.rule) or None,
        "void": void_because(verdict.rule),
        "quote": verdict.quote,
        "conditions": verdict.conditions,
    }


def void_because(rule: str) -> str | None:
    """The rule if verdicts with it are void, otherwise None."""
    return rule if rule in VOID_RULES else None


def tool_payload(tool: CompiledTool) -> ToolPayload:
    return {
        "name": tool.name,
        "origin": tool.origin,
        "overrides": tool.overrides,
        "offered": tool.is_offered,
        "why_not": tool.why_not or None,
        "moments": list(tool.moments),
        "version": tool.version,
        "kind": tool.kind,
        "keeps_promise": tool.keeps_promise,
        "capability": tool.capability or None,
        "channels": list(tool.channels),
        "category": tool.category or None,
        "parameters": dict(tool.parameters) if tool.parameters is not None else None,
        "section": tool.section or None,
        "definition": tool.definition.model_dump(mode="json", by_alias=True),
    }
