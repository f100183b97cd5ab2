"""The compiled set of tools of a project on a channel."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext_noop

from projects.common.translation import in_english
from projects.common.verticals import VERTICALS
from projects.models import Project
from projects.records.attributes import GATES, is_off, is_on
from tools.engine.builtin_tool import BuiltinTool, Gate
from tools.engine.business_state import BusinessState, read_state
from tools.engine.custom.current_tools import CurrentTool, load_current_tools
from tools.engine.definition import CALLED, ActionType, RetryPolicy, ToolDefinition, Trigger
from tools.engine.execution.schemas import NO_PARAMETERS, MalformedTool, called_schema
from tools.engine.gates import needs_calendar
from tools.engine.keyed_cache import KeyedCache
from tools.engine.platform import StoredDefinition, interpolate, stored_definitions
from tools.engine.policy import why_kind_closed
from tools.engine.registry import builtin_tools

BUILT_IN, CUSTOM = "built-in", "custom"
# Gates that apply to every tool of a category, in addition to its own.
CATEGORIES: Mapping[str, Gate] = {"calendar": needs_calendar}
SWITCHED_OFF = gettext_noop("It is switched off.")
NOT_STORED = gettext_noop("the platform has no definition of it")


@dataclass(frozen=True)
class CompiledTool:
    """A tool as compiled for one project on one channel. `why_not` is empty if it is offered.

    `overrides` is the origin of the same-named tool that it replaces. `parameters` is the JSON Schema of the arguments
    when a model calls the tool, `section` the instructions for its use. `keeps_promise` is false for an act of the
    conversation. `is_off_in_todos` is true if todos may not use it, except for what a conversation has planned.
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
    keeps_promise: bool = True
    is_off_in_todos: bool = False

    @property
    def is_offered(self) -> bool:
        return not self.why_not


def compile_tools(
    project: Project, *, channel: str, moment: Trigger | None = None, names: Collection[str] | None = None
) -> list[CompiledTool]:
    """Every tool of the project, offered or not, sorted by name.

    `moment` limits the result to tools with that trigger, `names` to tools with these names.
    """
    state = read_state(project, channel=channel)
    own, stored = tuple(load_current_tools(project.pk)) if state.has_own_tools else (), stored_definitions()
    if names is not None:
        return merge_tools(state, own, stored, moment=moment, names=names)
    key, inputs = (project.pk, moment, state.channel), (state, own, stored)
    return list(_cache.get(key, inputs, lambda: merge_tools(state, own, stored, moment=moment)))


# Consecutive turns usually find the business in the same state.
_cache: KeyedCache[list[CompiledTool]] = KeyedCache(max_entries=200)


def at_moment(tools: Iterable[CompiledTool], moment: Trigger) -> list[CompiledTool]:
    """The tools, offered or not, that may run on a trigger."""
    return [tool for tool in tools if moment in tool.moments]


def merge_tools(
    state: BusinessState,
    custom: Sequence[CurrentTool],
    stored: Mapping[str, StoredDefinition] | None = None,
    *,
    moment: Trigger | None = None,
    names: Collection[str] | None = None,
) -> list[CompiledTool]:
    """The built-in tools, gated and described by the platform's stored definitions if any, overridden by custom tools.

    A disabled custom tool overrides nothing. `moment` and `names` as in `compile_tools`.
    """
    known = builtin_tools()
    merged = {
        name: compile_builtin(tool, state, stored)
        for name, tool in known.items()
        if (moment is None or moment in tool.moments) and (names is None or name in names)
    }
    for own in custom:
        if (names is None or own.name in names) and (own.is_enabled or own.name not in known):
            merged[own.name] = compile_own(own, state)
    compiled = [merged[name] for name in sorted(merged)]
    return compiled if moment is None else at_moment(compiled, moment)


def compile_own(tool: CurrentTool, state: BusinessState) -> CompiledTool:
    """Compile a custom tool for one business: the kind of a built-in tool that it overrides brings its approval."""
    compiled = compile_custom(tool)
    return replace(compiled, definition=_with_approval(compiled.kind, compiled.definition, state))


def compile_custom(tool: CurrentTool) -> CompiledTool:
    """Compile a custom tool. Gates of a built-in tool with the same name don't apply."""
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
        keeps_promise=tool.definition.keeps_promise,
    )
    if is_called_by_model(compiled):
        return _with_parameters(compiled)
    # The built-in handler executes the event, so the effect has the built-in kind.
    if covered and tool.definition.action.type is ActionType.SEND_EVENT:
        # A custom tool that overrides one called by models keeps its own triggers and fires on commitments as well.
        moments = compiled.moments if is_called_by_model(covered) or tool.definition.moments else covered.moments
        covering = replace(compiled, kind=covered.kind or compiled.kind, delivery=covered.delivery, moments=moments)
        return replace(covering, keeps_promise=covered.keeps_promise and compiled.keeps_promise)
    return compiled


def _with_parameters(tool: CompiledTool) -> CompiledTool:
    """Add the argument schema to a custom tool that models call."""
    try:
        return replace(tool, parameters=called_schema(tool.definition.action.webhook))
    except MalformedTool as error:
        return replace(tool, why_not=tool.why_not or f"its definition can't be used: {error}")


def approval_setting(name: str) -> str:
    """The attribute that requires approval before each use of a built-in tool."""
    return f"{GATES}{name}_requires_approval_enabled"


def todo_setting(name: str) -> str:
    """The attribute that lets todos use a built-in tool; they may unless it is false."""
    return f"{GATES}{name}_todo_enabled"


def why_not(tool: BuiltinTool, state: BusinessState, *, category: str | None = None) -> str:
    """Return the reason why a built-in tool isn't offered, or "". Pure; no other function decides this.

    `category` is the one from the platform's stored definition; the tool's own by default.
    """
    if tool.channels and state.channel not in tool.channels:
        return f"{' and '.join(tool.channels)} only, this is {state.channel}"
    if tool.capability and tool.capability not in state.capabilities:
        return f"not part of the kind of business “{in_english(VERTICALS[state.vertical].title)}”"
    if not tool.is_always_listed and _is_off_the_list(tool, state):
        return gettext_noop("not on this agent's list of tools")
    needed = CATEGORIES.get(category or tool.category)
    return (needed(state) if needed else "") or tool.gate(state) or why_kind_closed(tool.kind, state)


def _is_off_the_list(tool: BuiltinTool, state: BusinessState) -> bool:
    return is_called_by_model(tool) and state.enabled_tools is not None and tool.name not in state.enabled_tools


def is_called_by_model(tool: BuiltinTool | CompiledTool) -> bool:
    """True if a model calls the tool itself."""
    return bool(CALLED & set(tool.moments))


def compile_builtin(
    tool: BuiltinTool, state: BusinessState, stored: Mapping[str, StoredDefinition] | None
) -> CompiledTool:
    """Compile a built-in tool for one business. Pure."""
    compiled = CompiledTool(
        name=tool.name,
        origin=BUILT_IN,
        why_not=why_not(tool, state),
        kind=tool.kind,
        delivery=tool.delivery,
        definition=_with_approval(tool.kind, tool.definition, state),
        moments=tool.moments,
        capability=tool.capability or "",
        channels=tool.channels,
        category=tool.category,
        keeps_promise=tool.keeps_promise,
        is_off_in_todos=is_off(state.attributes, todo_setting(tool.name)),
    )
    return _described(compiled, tool, state, stored) if is_called_by_model(tool) else compiled


def _described(
    compiled: CompiledTool, tool: BuiltinTool, state: BusinessState, stored: Mapping[str, StoredDefinition] | None
) -> CompiledTool:
    """Apply the platform's stored definition, or the code's own if the platform has stored none."""
    described = code_definition(tool)
    if stored is not None:
        if tool.name not in stored:
            return replace(compiled, why_not=compiled.why_not or NOT_STORED)
        described = _with_defaults(stored[tool.name], described)
    reason = why_not(tool, state, category=described.category)
    parameters = described.parameters or NO_PARAMETERS
    update = {"description": interpolate(described.description, state.names)}
    return replace(
        compiled,
        why_not=reason,
        definition=compiled.definition.model_copy(update=update),
        category=described.category,
        parameters=tool.narrow(parameters, state) if tool.narrow and not reason else parameters,
        section="\n".join([interpolate(described.section, state.names), *(tool.adds(state) if tool.adds else ())]),
    )


def code_definition(tool: BuiltinTool) -> StoredDefinition:
    """A tool's description in code, in the form of a stored definition."""
    parameters = tool.handler.schema if tool.handler else NO_PARAMETERS
    return StoredDefinition(tool.definition.description, tool.category, tool.section, parameters)


def _with_defaults(stored: StoredDefinition, defaults: StoredDefinition) -> StoredDefinition:
    """The stored definition, with empty fields filled from the code's."""
    return StoredDefinition(
        stored.description,
        stored.category or defaults.category,
        stored.section or defaults.section,
        stored.parameters or defaults.parameters,
    )


def needs_approval_now(kind: str, state: BusinessState) -> bool:
    """True if the business requires approval of this kind: by the setting of one of its built-in tools, or with a custom
    tool of the same name that requires it.
    """
    of_kind = [tool for tool in builtin_tools().values() if kind and tool.kind == kind]
    return any(tool.name in state.approved_tools or _is_approval_set(tool, state) for tool in of_kind)


def _is_approval_set(tool: BuiltinTool, state: BusinessState) -> bool:
    return Trigger.TASK in tool.moments and is_on(state.attributes, approval_setting(tool.name))


def _with_approval(kind: str, definition: ToolDefinition, state: BusinessState) -> ToolDefinition:
    """The definition, with approval required if the business requires it of this kind."""
    if not needs_approval_now(kind, state):
        return definition
    return definition.model_copy(update={"requires_approval": True})


def _delivery_of(definition: ToolDefinition) -> RetryPolicy:
    """The retry policy of a custom tool. Events and messages are written in one transaction, so they are idempotent."""
    is_webhook = definition.action.type is ActionType.SEND_WEBHOOK
    return definition.action.webhook.how_often if is_webhook else RetryPolicy.IDEMPOTENT


def wait_seconds(tool: CompiledTool) -> float:
    """Seconds the agent waits for the tool's result, from its handler or, for other actions than events, its definition."""
    if tool.definition.action.type is not ActionType.SEND_EVENT:
        return tool.definition.wait_seconds
    built_in = builtin_tools().get(tool.name)
    return built_in.handler.wait_seconds if built_in is not None and built_in.handler is not None else 0
