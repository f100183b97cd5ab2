"""The compiled set of tools of a project on a channel: `compile_tools_object` of the source (N05, N22-N32)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from projects.attributes import resolve_attributes
from projects.models import Project
from tools.builtin import builtin_tools
from tools.builtin.base import Delivery
from tools.definition import ToolDefinition

AFTER_TURN = ("after_turn",)


@dataclass(frozen=True)
class CompiledTool:
    """A tool as one project sees it on one channel. `why_not` is empty when it is offered."""

    name: str
    origin: str
    why_not: str
    kind: str
    delivery: Delivery
    definition: ToolDefinition
    overrides: str | None = None
    moments: Sequence[str] = AFTER_TURN
    version: int = 1

    @property
    def is_offered(self) -> bool:
        return not self.why_not


def compile_tools(project: Project, *, channel: str) -> list[CompiledTool]:
    """Every tool the project knows, offered or not, by name. A webcall is a phone call (N14)."""
    attributes = resolve_attributes(project)
    spoken = normalise_channel(channel)
    return [
        CompiledTool(
            name=tool.name,
            origin="built-in",
            why_not=tool.gate(attributes, spoken),
            kind=tool.kind,
            delivery=tool.delivery,
            definition=tool.definition,
        )
        for _, tool in sorted(builtin_tools().items())
    ]


def normalise_channel(channel: str) -> str:
    """The channel as tools read it: a webcall is a phone call (N14)."""
    return "phone" if channel == "webcall" else channel
