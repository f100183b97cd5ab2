"""Tools and verdicts as a run's trace keeps them, so that a run that goes on later acts on what was decided then."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tools.engine.catalogue import CompiledTool
from tools.engine.definition import RetryPolicy, ToolDefinition, Trigger
from tools.engine.verdicts import FIRES, Judgement


def compiled_object(tools: Iterable[CompiledTool]) -> dict[str, Any]:
    """The compiled object of step 1: every tool by name, offered or not, with its definition as it is now (N05)."""
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
    """A tool of a stored compiled object."""
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
    """The competing verdicts of step 5, by tag."""
    return {
        tag: [{"tool": rival.tool.name, "quote": rival.quote, "conditions": dict(rival.conditions)} for rival in rivals]
        for tag, rivals in contested.items()
    }


def contested_of(stored: Mapping[str, Any], compiled: Mapping[str, Any]) -> dict[str, list[Judgement]]:
    """The competing verdicts that a stored run left to be ranked."""
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
