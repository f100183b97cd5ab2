"""Tools and verdicts as stored in a run's trace, so that a resumed run acts on the original decisions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tools.engine.catalogue import CompiledTool
from tools.engine.definition import RetryPolicy, ToolDefinition, Trigger
from tools.engine.verdicts import FIRES, Judgement


def compiled_object(tools: Iterable[CompiledTool]) -> dict[str, Any]:
    """Serialize the compiled tools by name, offered or not, with their current definitions."""
    return {
        tool.name: {
            "origin": tool.origin,
            "version": tool.version,
            "why_not": tool.why_not,
            "kind": tool.kind,
            "delivery": tool.delivery.value,
            "moments": [moment.value for moment in tool.moments],
            "definition": tool.definition.model_dump(mode="json", by_alias=True),
        }
        for tool in tools
    }


def tool_of(name: str, compiled: Mapping[str, Any]) -> CompiledTool:
    """Restore a tool from a stored compiled object."""
    stored = compiled[name]
    return CompiledTool(
        name=name,
        origin=stored["origin"],
        why_not=stored["why_not"],
        kind=stored["kind"],
        delivery=RetryPolicy(stored["delivery"]),
        definition=ToolDefinition.model_validate(stored["definition"]),
        moments=tuple(Trigger(moment) for moment in stored.get("moments", (Trigger.COMMITMENT,))),
        version=stored["version"],
    )


def candidates(contested: Mapping[str, Sequence[Judgement]]) -> dict[str, Any]:
    """Serialize the competing verdicts by tag."""
    return {
        tag: [{"tool": rival.tool.name, "quote": rival.quote, "conditions": dict(rival.conditions)} for rival in rivals]
        for tag, rivals in contested.items()
    }


def contested_of(stored: Mapping[str, Any], compiled: Mapping[str, Any]) -> dict[str, list[Judgement]]:
    """Restore the competing verdicts that a stored run has yet to rank."""
    return {
        tag: [
            Judgement(
                tool=tool_of(one["tool"], compiled),
                fired=True,
                rule="",
                reason=FIRES,
                quote=one["quote"],
                conditions=one["conditions"],
            )
            for one in rivals
        ]
        for tag, rivals in stored.items()
    }
