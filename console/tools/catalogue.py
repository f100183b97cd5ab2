"""The catalogue as people read it: which tools there are, whether each is on, and why not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from django.db.models import Count, Q
from django.utils import timezone
from django.utils.text import capfirst

from projects.models import Project
from projects.models.attribute import AttributeType
from projects.models.attribute_catalogue import KNOWN_SETTINGS, KnownSetting
from projects.records.attributes import ENUMS, Resolved, is_on, resolve_attributes
from tools.engine.business_state import read_state
from tools.engine.catalogue import (
    BUILT_IN,
    CompiledTool,
    approval_setting,
    compile_builtin,
    compile_tools,
    is_called_by_model,
)
from tools.engine.definition import Trigger
from tools.engine.platform import stored_definitions
from tools.engine.registry import builtin_tools
from tools.models import Effect, EffectState

CHANNELS = (("chat", "Chat"), ("phone", "Phone"), ("portal", "Portal"), ("sms", "SMS"), ("whatsapp", "WhatsApp"))
MOMENTS = {
    Trigger.TURN: "While it answers",
    Trigger.LIVE: "In a live call",
    Trigger.COMMITMENT: "When it has promised it",
    Trigger.TASK: "For an approved todo",
}
# What opens and closes a gate; other settings say how a tool works.
SWITCHED = (AttributeType.BOOL, AttributeType.ENUM)
RECENT = timedelta(days=30)
# A tool fails when its newest effect of these days did.
FAILING = timedelta(days=7)


@dataclass(frozen=True)
class Gate:
    """A setting that a built-in tool depends on, to be switched where the tool is shown."""

    key: str
    label: str
    is_on: bool
    value: str
    choices: Sequence[str]

    @property
    def is_switch(self) -> bool:
        return not self.choices

    @property
    def short(self) -> str:
        return self.key.removeprefix("project_attributes_")


@dataclass(frozen=True)
class Entry:
    """One tool in the list. `beneath` says what is worth knowing at a glance."""

    name: str
    beneath: str
    tone: str
    icon: str
    word: str
    overrides: bool
    search: str


@dataclass(frozen=True)
class Group:
    label: str
    entries: list[Entry]


@dataclass(frozen=True)
class There:
    """A built-in tool on one channel; `why_not` is empty where it is offered."""

    label: str
    why_not: str


@dataclass(frozen=True)
class Argument:
    """What a model fills in when it calls a tool."""

    name: str
    description: str
    is_needed: bool
    choices: Sequence[str]


@dataclass(frozen=True)
class Usage:
    """What became of a tool's effects in the last 30 days."""

    fired: int = 0
    unknown: int = 0
    failed: int = 0


def catalogue_of(project: Project, *, channel: str) -> dict[str, Any]:
    """The groups of the list on a channel, and how many tools there are and are offered."""
    compiled = compile_tools(project, channel=channel)
    attributes = resolve_attributes(project)
    errors = failing_tools(project)
    entries = {tool.name: _entry(tool, attributes, errors.get(tool.name)) for tool in compiled}
    groups = [
        Group("Yours", [entries[tool.name] for tool in compiled if tool.origin != BUILT_IN]),
        Group("Used while it answers", [entries[tool.name] for tool in compiled if is_used(tool)]),
        Group("Built in", [entries[tool.name] for tool in compiled if tool.origin == BUILT_IN and not is_used(tool)]),
    ]
    return {
        "groups": [group for group in groups if group.entries],
        "count": len(compiled),
        "offered": sum(tool.is_offered for tool in compiled),
        "compiled": {tool.name: tool for tool in compiled},
    }


def is_used(tool: CompiledTool) -> bool:
    """Whether a model calls the tool itself, and nothing that the agent says fires it."""
    return tool.origin == BUILT_IN and is_called_by_model(tool)


def by_channel(project: Project, name: str) -> list[There]:
    """Where a built-in tool is offered, and why it isn't elsewhere; the state is read once."""
    tool, stored = builtin_tools()[name], stored_definitions()
    state = read_state(project, channel="chat")
    compiled = ((label, compile_builtin(tool, replace(state, channel=channel), stored)) for channel, label in CHANNELS)
    return [There(label, one.why_not) for label, one in compiled]


def arguments_of(tool: CompiledTool) -> list[Argument]:
    """What a model fills in, in the order of the schema."""
    schema = tool.parameters or {}
    needed = schema.get("required", [])
    return [
        Argument(name, str(part.get("description", "")), name in needed, [str(one) for one in part.get("enum", ())])
        for name, part in schema.get("properties", {}).items()
    ]


def gates_of(name: str, attributes: Mapping[str, Resolved]) -> list[Gate]:
    """The settings that a built-in tool stands behind, with the values that they have."""
    settings = (setting for setting in KNOWN_SETTINGS if name in setting.tools and setting.type in SWITCHED)
    return [_gate(setting, attributes.get(setting.key)) for setting in settings]


def approvals_of(tool: CompiledTool, attributes: Mapping[str, Resolved]) -> list[Gate]:
    """The switch that asks for a person's yes before each use; a tool of the project's own says so in its definition."""
    if tool.origin != BUILT_IN or Trigger.TASK not in tool.moments:
        return []
    key = approval_setting(tool.name)
    return [Gate(key, "A colleague approves each use first", is_on=is_on(attributes, key), value="", choices=())]


def usage_of(project: Project, name: str) -> Usage:
    """What one tool did of late."""
    rows = Effect.objects.filter(project_id=project.pk, tool=name, created_at__gt=timezone.now() - RECENT)
    return Usage(
        **rows.aggregate(
            fired=Count("pk"),
            unknown=Count("pk", filter=Q(state=EffectState.UNKNOWN)),
            failed=Count("pk", filter=Q(state=EffectState.FAILED)),
        )
    )


def failing_tools(project: Project) -> dict[str, str]:
    """Tools whose newest effect failed on the other side, with the reason. That no table is free is no failing."""
    rows = Effect.objects.filter(
        project_id=project.pk,
        created_at__gt=timezone.now() - FAILING,
        state__in=(EffectState.DONE, EffectState.FAILED),
    )
    newest = rows.order_by("tool", "-created_at").distinct("tool")
    return {row.tool: row.error or "Its last call failed." for row in newest if _is_refused(row)}


def _is_refused(effect: Effect) -> bool:
    return effect.state == EffectState.FAILED and effect.request is not None


def reason_of(tool: CompiledTool, attributes: Mapping[str, Resolved]) -> str:
    """Why a tool isn't offered, in words; empty when it is."""
    if tool.is_offered or tool.origin != BUILT_IN:
        return tool.why_not
    gates = gates_of(tool.name, attributes)
    closed = [gate for gate in gates if gate.is_switch and not gate.is_on]
    if closed:
        return f"“{closed[0].label}” is off"
    if _is_of_the_phone(tool):
        return "Only on the phone"
    chosen = next((gate for gate in gates if not gate.is_switch and gate.key in tool.why_not), None)
    return f"“{chosen.label}” is {chosen.value or 'not set'}" if chosen else capfirst(tool.why_not)


def _gate(setting: KnownSetting, found: Resolved | None) -> Gate:
    value = found.value if found else None
    choices = ENUMS.get(setting.key, ()) if setting.type is AttributeType.ENUM else ()
    return Gate(setting.key, setting.label, is_on=value is True, value=str(value or ""), choices=choices)


def _entry(tool: CompiledTool, attributes: Mapping[str, Resolved], error: str | None) -> Entry:
    tone, icon, word = _state(tool, error)
    return Entry(
        name=tool.name,
        beneath=error or reason_of(tool, attributes) or _beneath(tool),
        tone=tone,
        icon=icon,
        word=word,
        overrides=bool(tool.overrides),
        search=" ".join(
            (tool.name, tool.definition.tag or "", tool.capability, tool.why_not, tool.definition.description)
        ).lower(),
    )


def _state(tool: CompiledTool, error: str | None) -> tuple[str, str, str]:
    if not tool.is_offered:
        return "mute", "lock", "Phone only" if _is_of_the_phone(tool) else "Off"
    return ("bad", "alert-circle", "Failing") if error else ("ok", "circle-check", "On")


def _is_of_the_phone(tool: CompiledTool) -> bool:
    return tool.why_not.startswith("phone only")


def _beneath(tool: CompiledTool) -> str:
    if tool.overrides:
        return f"replaces the built-in one, version {tool.version}"
    if tool.origin != BUILT_IN and is_called_by_model(tool):
        return f"Called while it answers. {tool.definition.description}"
    return tool.definition.description
