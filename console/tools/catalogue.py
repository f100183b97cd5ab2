"""The tool catalogue for display: availability, settings and usage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from django.db.models import Count, Q
from django.http import HttpRequest
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext

from console.parameters import parse_choice
from projects.common.stored_sentences import translated
from projects.common.translation import lazy
from projects.models import Project
from projects.models.attribute import AttributeType
from projects.models.attribute_catalogue import KNOWN_SETTINGS, KnownSetting, value_label
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
from tools.engine.tool_words import ARGUMENT_WORDS, summary_of
from tools.models import Effect, EffectState

CHANNELS = (
    ("chat", lazy("Chat")),
    ("phone", lazy("Phone")),
    ("portal", lazy("Portal")),
    ("sms", "SMS"),
    ("whatsapp", "WhatsApp"),
)
TRIGGER_LABELS = {
    Trigger.TURN: lazy("During a reply"),
    Trigger.LIVE: lazy("During a live call"),
    Trigger.COMMITMENT: lazy("After a promise"),
    Trigger.TASK: lazy("For approved todos"),
}
# Setting types that switch a tool on or off; other settings configure it.
RECENT = timedelta(days=30)
# A tool is failing if its newest effect within this period failed.
FAILING = timedelta(days=7)


@dataclass(frozen=True)
class Gate:
    """A setting of a built-in tool, editable on the tool's page: a switch, a choice, or a text."""

    key: str
    label: str
    is_on: bool
    value: str
    choices: Sequence[tuple[str, str]] = ()
    is_text: bool = False

    @property
    def is_switch(self) -> bool:
        return not self.choices and not self.is_text

    @property
    def short(self) -> str:
        return self.key.removeprefix("project_attributes_")


@dataclass(frozen=True)
class ListedTool:
    """A tool in the list. `summary` is the line under its name."""

    name: str
    summary: str
    tone: str
    icon: str
    word: str
    overrides: bool
    search: str


@dataclass(frozen=True)
class Availability:
    """Availability of a built-in tool on one channel. `why_not` is empty if it is offered."""

    label: str
    why_not: str


@dataclass(frozen=True)
class Argument:
    """An argument that the model fills in. One without a label is described by its definition."""

    name: str
    label: str
    description: str
    is_needed: bool
    choices: Sequence[str]


@dataclass(frozen=True)
class Usage:
    """Counts of a tool's effects over the last 30 days."""

    fired: int = 0
    unknown: int = 0
    failed: int = 0


def catalogue_context(request: HttpRequest, project: Project) -> dict[str, Any]:
    """Context for the catalogue on the channel requested in the query string, by default chat."""
    channel = parse_choice(request.GET, "channel", dict(CHANNELS)) or "chat"
    return {**_catalogue_of(project, channel=channel), "channel": channel, "channels": CHANNELS}


def _catalogue_of(project: Project, *, channel: str) -> dict[str, Any]:
    """Context for the catalogue on one channel: groups of tools and counts."""
    compiled = compile_tools(project, channel=channel)
    attributes = resolve_attributes(project)
    errors = failing_tools(project)
    entries = {tool.name: _entry(tool, attributes, errors.get(tool.name)) for tool in compiled}
    return {
        "custom": [entries[tool.name] for tool in compiled if tool.origin != BUILT_IN],
        "entries": entries,
        "compiled": {tool.name: tool for tool in compiled},
        "attributes": attributes,
    }


def is_model_called(tool: CompiledTool) -> bool:
    """Return True for a built-in tool that the model calls itself, as opposed to one triggered by a promise."""
    return tool.origin == BUILT_IN and is_called_by_model(tool)


def availability_of(project: Project, name: str) -> list[Availability]:
    """Availability of a built-in tool on each channel. The business state is read once for all."""
    tool, stored = builtin_tools()[name], stored_definitions()
    state = read_state(project, channel="chat")
    compiled = ((label, compile_builtin(tool, replace(state, channel=channel), stored)) for channel, label in CHANNELS)
    return [Availability(label, one.why_not) for label, one in compiled]


def arguments_of(tool: CompiledTool) -> list[Argument]:
    """Arguments that the model fills in, in schema order."""
    schema = tool.parameters or {}
    needed = schema.get("required", [])
    return [
        Argument(
            name,
            str(ARGUMENT_WORDS.get(name, "")),
            str(part.get("description", "")),
            name in needed,
            [str(one) for one in part.get("enum", ())],
        )
        for name, part in schema.get("properties", {}).items()
    ]


def gates_of(name: str, attributes: Mapping[str, Resolved]) -> list[Gate]:
    """Settings of a built-in tool, with their current values."""
    return [_gate(one, attributes.get(one.key)) for one in KNOWN_SETTINGS if name in one.tools]


def approvals_of(tool: CompiledTool, attributes: Mapping[str, Resolved]) -> list[Gate]:
    """The approval switch of a built-in tool. Custom tools set `requires_approval` in their definition."""
    if tool.origin != BUILT_IN or Trigger.TASK not in tool.moments:
        return []
    key = approval_setting(tool.name)
    return [Gate(key, gettext("Require approval"), is_on=is_on(attributes, key), value="")]


def usage_of(project: Project, name: str) -> Usage:
    """Usage of one tool over the last 30 days."""
    rows = Effect.objects.filter(project_id=project.pk, tool=name, created_at__gt=timezone.now() - RECENT)
    return Usage(
        **rows.aggregate(
            fired=Count("pk"),
            unknown=Count("pk", filter=Q(state=EffectState.UNKNOWN)),
            failed=Count("pk", filter=Q(state=EffectState.FAILED)),
        )
    )


def failing_tools(project: Project) -> dict[str, str]:
    """Tools whose newest effect failed at the external service, with the reason.

    A refusal by our own rules, such as a fully booked evening, doesn't count.
    """
    rows = Effect.objects.filter(
        project_id=project.pk,
        created_at__gt=timezone.now() - FAILING,
        state__in=(EffectState.DONE, EffectState.FAILED),
    )
    newest = rows.order_by("tool", "-created_at").distinct("tool")
    return {row.tool: row.error or gettext("Its last call failed.") for row in newest if _is_refused(row)}


def _is_refused(effect: Effect) -> bool:
    return effect.state == EffectState.FAILED and effect.request is not None


def reason_of(tool: CompiledTool, attributes: Mapping[str, Resolved]) -> str:
    """Reason why a tool isn't offered; empty if it is."""
    if tool.is_offered or tool.origin != BUILT_IN:
        return gettext(tool.why_not) if tool.why_not else ""
    gates = gates_of(tool.name, attributes)
    closed = [gate.label for gate in gates if gate.is_switch and not gate.is_on]
    # The switch of a kind of action closes tools that it doesn't list, too.
    closed += [one.label for one in KNOWN_SETTINGS if one.type is AttributeType.BOOL and one.key in tool.why_not]
    if closed:
        return gettext("“%(label)s” is off") % {"label": closed[0]}
    if _is_phone_only(tool):
        return gettext("Phone only")
    chosen = next((gate for gate in gates if gate.choices and gate.key in tool.why_not), None)
    return _setting_reason(chosen) if chosen else capfirst(translated(tool.why_not))


def _setting_reason(gate: Gate) -> str:
    if gate.value in ("", "none"):
        return gettext("“%(label)s” isn’t set") % {"label": gate.label}
    return gettext("“%(label)s” is %(value)s") % {"label": gate.label, "value": value_label(gate.value)}


def _gate(setting: KnownSetting, found: Resolved | None) -> Gate:
    value = found.value if found else None
    values = ENUMS.get(setting.key, ()) if setting.type is AttributeType.ENUM else ()
    choices = [(one, value_label(one)) for one in values]
    is_text = setting.type is AttributeType.STRING
    return Gate(
        setting.key, setting.label, is_on=value is True, value=str(value or ""), choices=choices, is_text=is_text
    )


def _entry(tool: CompiledTool, attributes: Mapping[str, Resolved], error: str | None) -> ListedTool:
    tone, icon, word = _state(tool, error)
    return ListedTool(
        name=tool.name,
        summary=error or reason_of(tool, attributes) or _summary(tool),
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
        return "mute", "lock", gettext("Phone only") if _is_phone_only(tool) else gettext("Off")
    return ("bad", "alert-circle", gettext("Failing")) if error else ("ok", "circle-check", gettext("On"))


def _is_phone_only(tool: CompiledTool) -> bool:
    return tool.why_not.startswith("phone only")


def _summary(tool: CompiledTool) -> str:
    if tool.overrides:
        return gettext("Replaces the built-in tool, version %(version)s") % {"version": tool.version}
    if tool.origin != BUILT_IN and is_called_by_model(tool):
        return gettext("Called during a reply.") + f" {tool.definition.description}"
    return summary_of(tool)
