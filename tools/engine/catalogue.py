"""The compiled set of tools of a project on a channel: `compile_tools_object` of the source (N05, N15, N22-N32, N49)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from projects.common.verticals import VERTICALS
from projects.models import Project
from projects.records.attributes import GATES, is_on
from tools.engine.builtin_tool import BuiltinTool, Gate
from tools.engine.business_state import BusinessState, read_state
from tools.engine.custom.current_tools import StandingTool, standing_tools
from tools.engine.definition import CALLED, ActionType, RetryPolicy, ToolDefinition, Trigger
from tools.engine.execution.schemas import NOTHING, MalformedTool, called_schema
from tools.engine.gates import needs_calendar
from tools.engine.keyed_cache import KeyedCache
from tools.engine.platform import StoredDefinition, interpolate, stored_definitions
from tools.engine.registry import builtin_tools

BUILT_IN, CUSTOM = "built-in", "custom"
# What every tool of a category needs, whatever else it asks for itself (F12).
CATEGORIES: Mapping[str, Gate] = {"calendar": needs_calendar}
SWITCHED_OFF = "It is switched off."
NOT_STORED = "the platform has no definition of it"


@dataclass(frozen=True)
class CompiledTool:
    """A tool as one project sees it on one channel. `why_not` is empty when it is offered.

    `overrides` is the origin of the tool of the same name that this one stands in for (D9); `moments` says when it may run.
    `parameters` is the JSON Schema that a model fills in when it calls the tool itself, `section` how it is to use it.
    """

    name: str
    origin: str
    why_not: str
    kind: str
    delivery: RetryPolicy
    definition: ToolDefinition
    overrides: str | None = None
    moments: Sequence[Trigger] = (Trigger.COMMITMENT,)
    version: int = 1
    capability: str = ""
    channels: Sequence[str] = ()
    category: str = ""
    section: str = ""
    parameters: Mapping[str, Any] | None = None

    @property
    def is_offered(self) -> bool:
        return not self.why_not


def compile_tools(
    project: Project, *, channel: str, moment: Trigger | None = None, names: Collection[str] | None = None
) -> list[CompiledTool]:
    """Every tool the project knows, offered or not, by name. A webcall is a phone call (N14).

    With `moment` those that may run then, with `names` those of these names; for no other anything is worked out.
    """
    state = read_state(project, channel=channel)
    own, stored = tuple(standing_tools(project.pk)) if state.has_own_tools else (), stored_definitions()
    if names is not None:
        return merge_tools(state, own, stored, moment=moment, names=names)
    place, ground = (project.pk, moment, state.channel), (state, own, stored)
    return list(_kept.of(place, ground, lambda: merge_tools(state, own, stored, moment=moment)))


# As the offers (tools.engine.function_calling.offer): most turns find their business as the one before found it.
_kept: KeyedCache[list[CompiledTool]] = KeyedCache(most=200)


def at_moment(tools: Iterable[CompiledTool], moment: Trigger) -> list[CompiledTool]:
    """Those of the tools, offered or not, that may run at a moment (D18)."""
    return [tool for tool in tools if moment in tool.moments]


def merge_tools(
    state: BusinessState,
    custom: Sequence[StandingTool],
    stored: Mapping[str, StoredDefinition] | None = None,
    *,
    moment: Trigger | None = None,
    names: Collection[str] | None = None,
) -> list[CompiledTool]:
    """The built-in tools behind their gates, in the platform's words where it has stored some (D10), and the project's own
    on top. An own tool that is switched off covers nothing. `moment` and `names` as in `compile_tools`.
    """
    known = builtin_tools()
    merged = {
        name: compile_builtin(tool, state, stored)
        for name, tool in known.items()
        if (moment is None or moment in tool.moments) and (names is None or name in names)
    }
    for own in custom:
        if (names is None or own.name in names) and (own.is_enabled or own.name not in known):
            merged[own.name] = compile_custom(own)
    compiled = [merged[name] for name in sorted(merged)]
    return compiled if moment is None else at_moment(compiled, moment)


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
        moments=tool.definition.runs_in,
        version=tool.version,
    )
    if is_called(compiled):
        return _with_parameters(compiled)
    # The event of a built-in tool is carried out by its flow, so what comes of it is of the same kind.
    if covered and tool.definition.action.type is ActionType.SEND_EVENT:
        # A tool that models call keeps its own moments: what stands in its place fires on commitments, beside it.
        moments = compiled.moments if is_called(covered) or tool.definition.moments else covered.moments
        return replace(compiled, kind=covered.kind or compiled.kind, delivery=covered.delivery, moments=moments)
    return compiled


def _with_parameters(tool: CompiledTool) -> CompiledTool:
    """A tool of a project's own with what a model fills in when it calls it."""
    try:
        return replace(tool, parameters=called_schema(tool.definition.action.webhook))
    except MalformedTool as error:
        return replace(tool, why_not=tool.why_not or f"its definition can't be used: {error}")


def approval_setting(name: str) -> str:
    """The attribute by which a project asks for a person's yes before each use of a built-in tool."""
    return f"{GATES}{name}_requires_approval_enabled"


def why_not(tool: BuiltinTool, state: BusinessState, *, category: str | None = None) -> str:
    """Why a built-in tool isn't offered, or "": the one place that decides it (W01, W02, F06). A pure function.

    `category` is what the platform's stored definition makes it, the tool's own without one.
    """
    if tool.channels and state.channel not in tool.channels:
        return f"{' and '.join(tool.channels)} only, this is {state.channel}"
    if tool.capability and tool.capability not in state.capabilities:
        title = VERTICALS[state.vertical].title
        return f"needs {tool.capability}, which the kind of business “{title}” does not bring"
    if is_called(tool) and state.enabled_tools is not None and tool.name not in state.enabled_tools:
        return "not among the tools that this agent may use"
    needed = CATEGORIES.get(category or tool.category)
    return (needed(state) if needed else "") or tool.gate(state)


def is_called(tool: BuiltinTool | CompiledTool) -> bool:
    """Whether a model calls the tool itself, while it answers."""
    return bool(CALLED & set(tool.moments))


def compile_builtin(
    tool: BuiltinTool, state: BusinessState, stored: Mapping[str, StoredDefinition] | None
) -> CompiledTool:
    """A built-in tool as one business sees it, offered or not and why. A pure function (F06)."""
    compiled = CompiledTool(
        name=tool.name,
        origin=BUILT_IN,
        why_not=why_not(tool, state),
        kind=tool.kind,
        delivery=tool.delivery,
        definition=_as_switched(tool, state),
        moments=tool.moments,
        capability=tool.capability or "",
        channels=tool.channels,
        category=tool.category,
    )
    return _in_words(compiled, tool, state, stored) if is_called(tool) else compiled


def _in_words(
    compiled: CompiledTool, tool: BuiltinTool, state: BusinessState, stored: Mapping[str, StoredDefinition] | None
) -> CompiledTool:
    """The tool as models are told of it: in the platform's words, or in the code's while the platform has stored none."""
    words = words_of(tool)
    if stored is not None:
        if tool.name not in stored:
            return replace(compiled, why_not=compiled.why_not or NOT_STORED)
        words = _over(words, stored[tool.name])
    closed = why_not(tool, state, category=words.category)
    parameters = words.parameters or NOTHING
    described = {"description": interpolate(words.description, state.names)}
    return replace(
        compiled,
        why_not=closed,
        definition=compiled.definition.model_copy(update=described),
        category=words.category,
        parameters=tool.narrow(parameters, state) if tool.narrow and not closed else parameters,
        section="\n".join([interpolate(words.section, state.names), *(tool.adds(state) if tool.adds else ())]),
    )


def words_of(tool: BuiltinTool) -> StoredDefinition:
    """A tool in the code's own words, as the platform would store them."""
    parameters = tool.handler.schema if tool.handler else NOTHING
    return StoredDefinition(tool.definition.description, tool.category, tool.section, parameters)


def _over(words: StoredDefinition, stored: StoredDefinition) -> StoredDefinition:
    """The platform's words, and the code's for what it left empty."""
    return StoredDefinition(
        stored.description,
        stored.category or words.category,
        stored.section or words.section,
        stored.parameters or words.parameters,
    )


def _as_switched(tool: BuiltinTool, state: BusinessState) -> ToolDefinition:
    """A built-in tool's definition, with the approval that the project asks for (D16)."""
    is_asked = Trigger.TASK in tool.moments and is_on(state.attributes, approval_setting(tool.name))
    return tool.definition.model_copy(update={"requires_approval": True}) if is_asked else tool.definition


def _delivery_of(definition: ToolDefinition) -> RetryPolicy:
    """Our own events and messages are written once by their transaction, so trying again is safe."""
    is_webhook = definition.action.type is ActionType.SEND_WEBHOOK
    return definition.action.webhook.how_often if is_webhook else RetryPolicy.IDEMPOTENT


def wait_seconds(tool: CompiledTool) -> float:
    """How long the agent waits for the tool's result: as its handler says, or its definition for a webhook. 0: not at all."""
    if tool.definition.action.type is not ActionType.SEND_EVENT:
        return tool.definition.wait_seconds
    built_in = builtin_tools().get(tool.name)
    return built_in.handler.wait_seconds if built_in is not None and built_in.handler is not None else 0
