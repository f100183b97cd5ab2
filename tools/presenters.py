"""Rows of the tools as the API shows them (design section 6)."""

from __future__ import annotations

from typing import Any

from projects.presenters import stamp
from tools.catalogue import CompiledTool
from tools.models import Effect, Verdict


def effect_payload(effect: Effect) -> dict[str, Any]:
    return {
        "id": str(effect.pk),
        "tool": effect.tool,
        "kind": effect.kind,
        "state": effect.state,
        "conversation": str(effect.conversation_id) if effect.conversation_id else None,
        "turn": str(effect.turn_id) if effect.turn_id else None,
        "arguments": effect.arguments,
        "result": effect.result,
        "error": effect.error or None,
        "attempts": effect.attempts,
        "created_at": stamp(effect.created_at),
        "started_at": stamp(effect.started_at),
        "finished_at": stamp(effect.finished_at),
    }


def verdict_payload(verdict: Verdict) -> dict[str, Any]:
    return {
        "tool": verdict.tool,
        "fired": verdict.fired,
        "reason": verdict.reason,
        "rule": verdict.rule or None,
        "quote": verdict.quote,
        "conditions": verdict.conditions,
    }


def tool_payload(tool: CompiledTool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "origin": tool.origin,
        "overrides": tool.overrides,
        "offered": tool.is_offered,
        "why_not": tool.why_not or None,
        "moments": list(tool.moments),
        "version": tool.version,
        "kind": tool.kind,
        "definition": tool.definition.model_dump(mode="json", by_alias=True),
    }
