"""The compiled set of tools of a project on a channel: `compile_tools_object` of the source (N05, N15, N22-N32, N49)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from projects.attributes import GATES, Resolved, is_on, resolve_attributes
from projects.models import Project
from tools.builtin import builtin_tools
from tools.builtin.base import BuiltinTool
from tools.custom.standing import StandingTool, standing_tools
from tools.definition import ActionType, Delivery, Moment, ToolDefinition

BUILT_IN, CUSTOM = "built-in", "custom"
SWITCHED_OFF = "It is switched off."


@dataclass(frozen=True)
class CompiledTool:
    """A tool as one project sees it on one channel. `why_not` is empty when it is offered.

    `overrides` is the origin of the tool of the same name that this one stands in for (D9); `moments` says when it may run.
    """

    name: str
    origin: str
    why_not: str
    kind: str
    delivery: Delivery
    definition: ToolDefinition
    overrides: str | None = None
    moments: Sequence[Moment] = (Moment.AFTER_TURN,)
    version: int = 1

    @property
    def is_offered(self) -> bool:
        return not self.why_not


def compile_tools(project: Project, *, channel: str) -> list[CompiledTool]:
    """Every tool the project knows, offered or not, by name. A webcall is a phone call (N14)."""
    return merge_tools(resolve_attributes(project), standing_tools(project.pk), channel=channel)


def at_moment(tools: Iterable[CompiledTool], moment: Moment) -> list[CompiledTool]:
    """Those of the tools, offered or not, that may run at a moment (D18)."""
    return [tool for tool in tools if moment in tool.moments]


def merge_tools(
    attributes: Mapping[str, Resolved], custom: Sequence[StandingTool], *, channel: str
) -> list[CompiledTool]:
    """The built-in tools behind their gates, and the project's own on top. An own tool that is switched off covers nothing."""
    spoken = normalise_channel(channel)
    merged = {name: _built_in(tool, attributes, spoken) for name, tool in builtin_tools().items()}
    for tool in custom:
        if tool.is_enabled or tool.name not in merged:
            merged[tool.name] = compile_custom(tool)
    return [merged[name] for name in sorted(merged)]


def compile_custom(tool: StandingTool) -> CompiledTool:
    """A project's own tool, whatever gate a built-in tool of its name stands behind."""
    covered = builtin_tools().get(tool.name)
    compiled = CompiledTool(
        name=tool.name,
        origin=CUSTOM,
        why_not="" if tool.is_enabled else SWITCHED_OFF,
        kind=tool.definition.action.type.removeprefix("send_"),
        delivery=_delivery_of(tool.definition),
        definition=tool.definition,
        overrides=BUILT_IN if covered else None,
        moments=_moments_of(tool.definition),
        version=tool.version,
    )
    # The event of a built-in tool is carried out by its flow, so what comes of it is of the same kind.
    if covered and tool.definition.action.type is ActionType.SEND_EVENT:
        return replace(compiled, kind=covered.kind, delivery=covered.delivery, moments=covered.moments)
    return compiled


def approval_setting(name: str) -> str:
    """The attribute by which a project asks for a person's yes before each use of a built-in tool."""
    return f"{GATES}{name}_requires_approval_enabled"


def normalise_channel(channel: str) -> str:
    """The channel as tools read it: a webcall is a phone call (N14)."""
    return "phone" if channel == "webcall" else channel


def _built_in(tool: BuiltinTool, attributes: Mapping[str, Resolved], channel: str) -> CompiledTool:
    return CompiledTool(
        name=tool.name,
        origin=BUILT_IN,
        why_not=tool.gate(attributes, channel),
        kind=tool.kind,
        delivery=tool.delivery,
        definition=_as_switched(tool, attributes),
        moments=tool.moments,
    )


def _as_switched(tool: BuiltinTool, attributes: Mapping[str, Resolved]) -> ToolDefinition:
    """A built-in tool's definition, with the approval that the project asks for (D16)."""
    is_asked = Moment.TASK in tool.moments and is_on(attributes, approval_setting(tool.name))
    return tool.definition.model_copy(update={"requires_approval": True}) if is_asked else tool.definition


def _moments_of(definition: ToolDefinition) -> tuple[Moment, ...]:
    """An event or a message of a project's own is for its conversation alone; a request may be made for a todo too."""
    is_webhook = definition.action.type is ActionType.SEND_WEBHOOK
    return (Moment.AFTER_TURN, Moment.TASK) if is_webhook else (Moment.AFTER_TURN,)


def _delivery_of(definition: ToolDefinition) -> Delivery:
    """Our own events and messages are written once by their transaction, so trying again is safe."""
    is_webhook = definition.action.type is ActionType.SEND_WEBHOOK
    return definition.action.webhook.how_often if is_webhook else Delivery.IDEMPOTENT
