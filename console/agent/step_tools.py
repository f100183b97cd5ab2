"""Tools in scenario steps: names to suggest, and warnings about unusable ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from projects.agents.tool_names import tool_names, tools_of_steps
from projects.models import Project
from projects.models.attribute import AttributeType
from projects.models.attribute_catalogue import KNOWN_SETTINGS
from projects.records.attributes import is_on, resolve_attributes
from tenancy.scope import tenant_tx


@dataclass(frozen=True)
class StepTools:
    """Valid tool names, and warnings by field path."""

    names: list[str]
    warnings: Mapping[str, list[str]]


def step_tools(project: Project, document: Mapping[str, Any]) -> StepTools:
    with tenant_tx(project.organization.pk):
        known, attributes = tool_names(project), resolve_attributes(project)
    switches = [setting for setting in KNOWN_SETTINGS if setting.type is AttributeType.BOOL]
    off = {tool for setting in switches if not is_on(attributes, setting.key) for tool in setting.tools}
    return StepTools(known, {path: _warnings(names, known, off) for path, names in tools_of_steps(document)})


def lost_tools_warning(project: Project, document: Mapping[str, Any]) -> str:
    """A sentence about the tools of steps that no longer exist; empty without any. Call inside the tenant's
    transaction.
    """
    named = {name for _, names in tools_of_steps(document) for name in names}
    lost = sorted(named.difference(tool_names(project))) if named else []
    if not lost:
        return ""
    sentence = gettext("Scenarios name tools that no longer exist: %(names)s. Change their steps under Scenarios.")
    return sentence % {"names": ", ".join(lost)}


def _warnings(names: Collection[str], known: Collection[str], off: Collection[str]) -> list[str]:
    missing = [
        gettext("%(name)s no longer exists. Choose another tool or remove it.") % {"name": name}
        for name in names
        if name not in known
    ]
    disabled = [
        gettext("%(name)s is off. Turn it on under Tools or remove it.") % {"name": name}
        for name in names
        if name in off
    ]
    return missing + disabled
