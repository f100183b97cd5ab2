"""The list beside every page of tools: custom tools and abilities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext

from console.tools.ability_list import OF_TOOL
from console.tools.ability_switches import AbilityRow, list_ability_rows
from console.tools.catalogue import ListedTool, catalogue_context
from projects.models import Project


@dataclass(frozen=True)
class ListedAbility:
    """An ability in the list. `summary` is the line under its title."""

    row: AbilityRow
    summary: str
    tone: str
    icon: str
    word: str
    search: str


def list_context(request: HttpRequest, project: Project, *, name: str = "") -> dict[str, Any]:
    """Context of `tools/frame.html`. `name` is the tool shown, whose ability is marked in the list."""
    shown = catalogue_context(request, project)
    rows = list_ability_rows(project, shown["compiled"], shown["attributes"])
    listed = [_listed(row, shown["entries"]) for row in rows]
    return {
        **shown,
        "abilities": listed,
        "current_ability": OF_TOOL[name].key if name in OF_TOOL else "",
        "count": len(listed) + len(shown["custom"]),
        "offered": sum(one.row.works for one in listed) + sum(one.tone != "mute" for one in shown["custom"]),
    }


def _listed(row: AbilityRow, entries: Mapping[str, ListedTool]) -> ListedAbility:
    tools = [entries[name] for name in row.tools]
    search = " ".join((str(row.title).lower(), *(tool.search for tool in tools)))
    if failing := next((tool for tool in tools if tool.tone == "bad"), None):
        return ListedAbility(row, failing.summary, failing.tone, failing.icon, failing.word, search)
    if not row.works:
        words = {tool.word for tool in tools}
        return ListedAbility(
            row, row.why_not, "mute", "lock", words.pop() if len(words) == 1 else gettext("Off"), search
        )
    summary = tools[0].summary if len(tools) == 1 else ""
    return ListedAbility(row, summary, "ok", "circle-check", gettext("On"), search)
