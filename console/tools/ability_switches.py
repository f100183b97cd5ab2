"""The triggers of an ability as switches, stored in the settings of the agent and its attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.utils.translation import gettext

from console.tools.ability_list import ABILITIES, Ability
from console.tools.catalogue import reason_of
from projects.agents.drafts import change_published, read_draft
from projects.agents.services import latest_agent_version
from projects.common.api_error import Unprocessable
from projects.models import Project, User
from projects.models.agent_errors import SettingsRefused
from projects.models.attribute import AttributeType
from projects.models.attribute_catalogue import KNOWN_SETTINGS
from projects.records.attributes import Resolved, is_on, set_attribute
from tools.engine.catalogue import BUILT_IN, CompiledTool, is_called_by_model, todo_setting
from tools.engine.registry import builtin_tools


class AbilityTrigger(StrEnum):
    """When an ability is used."""

    REPLY = "reply"
    PROMISE = "promise"
    TODO = "todo"


@dataclass(frozen=True)
class Switch:
    """One trigger of an ability. `why_not` says why it doesn't work although it is on, or why it can't be changed."""

    trigger: AbilityTrigger
    tools: Sequence[str]
    is_on: bool
    can_change: bool = True
    why_not: str = ""

    @property
    def works(self) -> bool:
        return self.is_on and not self.why_not


@dataclass(frozen=True)
class AbilityRow:
    """An ability of a project on one channel. A trigger that the ability doesn't have is None."""

    key: str
    title: str
    tools: Sequence[str]
    reply: Switch | None
    promise: Switch | None
    todo: Switch | None

    @property
    def switches(self) -> list[Switch]:
        return [switch for switch in (self.reply, self.promise, self.todo) if switch]

    @property
    def works(self) -> bool:
        return any(switch.works for switch in self.switches)

    @property
    def why_not(self) -> str:
        """The first reason why it doesn't work."""
        return next((switch.why_not for switch in self.switches if switch.why_not), gettext("All switches are off"))


def list_ability_rows(
    project: Project, compiled: Mapping[str, CompiledTool], attributes: Mapping[str, Resolved]
) -> list[AbilityRow]:
    """The abilities with a built-in tool that no custom tool replaces."""
    reader = _Reader(compiled, attributes, _enabled_tools(project))
    rows = (reader.row(ability) for ability in ABILITIES)
    return [row for row in rows if row.switches]


def change_ability(project: Project, ability: Ability, trigger: AbilityTrigger, *, is_on: bool, by: User) -> bool:
    """Turn one trigger of an ability on or off, for customers at once. Returns False if it has no such switch.

    Concurrent changes run one after the other. Raises ApiError.
    """
    if trigger is AbilityTrigger.REPLY and ability.reply:
        _choose_tools(project, ability, is_on=is_on, by=by)
        return True
    keys = settings_of(ability) if trigger is AbilityTrigger.PROMISE else []
    if trigger is AbilityTrigger.TODO:
        keys = [todo_setting(name) for name in ability.todo]
    for key in keys:
        set_attribute(project, key, is_on, type=AttributeType.BOOL)
    return bool(keys)


def settings_of(ability: Ability) -> list[str]:
    """The attributes that let promises use the ability."""
    known = (one for one in KNOWN_SETTINGS if one.type is AttributeType.BOOL)
    return [one.key for one in known if set(one.tools) & set(ability.promise)]


def _choose_tools(project: Project, ability: Ability, *, is_on: bool, by: User) -> None:
    """Save the agent's list of tools. A list of all tools is stored as none, which also allows those of later releases."""
    # Locks the project, so that a concurrent change isn't lost.
    latest_agent_version(project)
    config = read_draft(project).published.config
    every = {name for name, tool in builtin_tools().items() if is_called_by_model(tool)}
    before = every if config.enabled_tools is None else set(config.enabled_tools)
    chosen = before | set(ability.reply) if is_on else before - set(ability.reply)
    if chosen == before:
        return
    note = f"{ability.title} during a reply: {'on' if is_on else 'off'}"
    values = {"enabled_tools": None if chosen >= every else sorted(chosen)}
    try:
        change_published(project, values, author=by, note=note)
    except SettingsRefused as error:
        raise Unprocessable("invalid_settings", " ".join(map(str, error.errors.values()))) from error


def _enabled_tools(project: Project) -> frozenset[str] | None:
    """The agent's list of tools; None allows all."""
    version = project.agent_version
    chosen = version.config.enabled_tools if version else None
    return None if chosen is None else frozenset(chosen)


@dataclass(frozen=True)
class _Reader:
    """Reads the switches off the compiled tools and the settings."""

    compiled: Mapping[str, CompiledTool]
    attributes: Mapping[str, Resolved]
    enabled: frozenset[str] | None

    def row(self, ability: Ability) -> AbilityRow:
        return AbilityRow(
            key=ability.key,
            title=ability.title,
            tools=self._own(ability.tools),
            reply=self._reply(self._own(ability.reply)),
            promise=self._promise(ability, self._own(ability.promise)),
            todo=self._todo(self._own(ability.todo)),
        )

    def _own(self, names: Sequence[str]) -> list[str]:
        return [name for name in names if name in self.compiled and self.compiled[name].origin == BUILT_IN]

    def _reply(self, tools: list[str]) -> Switch | None:
        if not tools:
            return None
        is_on = self.enabled is None or any(name in self.enabled for name in tools)
        return Switch(AbilityTrigger.REPLY, tools, is_on, why_not=self._reason(tools) if is_on else "")

    def _promise(self, ability: Ability, tools: list[str]) -> Switch | None:
        if not tools:
            return None
        keys = settings_of(ability)
        is_set = all(is_on(self.attributes, key) for key in keys)
        why_not = self._reason(tools) if is_set else ""
        return Switch(AbilityTrigger.PROMISE, tools, is_set, can_change=bool(keys), why_not=why_not)

    def _todo(self, tools: list[str]) -> Switch | None:
        if not tools:
            return None
        is_set = not all(self.compiled[name].is_off_in_todos for name in tools)
        return Switch(AbilityTrigger.TODO, tools, is_set, why_not=self._reason(tools) if is_set else "")

    def _reason(self, tools: Sequence[str]) -> str:
        """Why none of the tools is offered; empty if one is."""
        if any(self.compiled[name].is_offered for name in tools):
            return ""
        return reason_of(self.compiled[tools[0]], self.attributes)
