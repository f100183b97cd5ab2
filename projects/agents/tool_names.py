"""The tools that an agent's settings may name, provided by a hook."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from django.utils.translation import gettext

from projects.common.hooks import Hook
from projects.models import Project

MAX_SUGGESTIONS = 3

# The names of all the project's tools, on or off. Called in a tenant's transaction.
tool_names: Hook[Callable[[Project], list[str]]] = Hook("tool_names")


def tools_of_steps(document: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """The tools of each scenario step, with the path of the field that names them."""
    for i, scenario in enumerate(document.get("scenarios", ())):
        for j, step in enumerate(scenario.get("steps", ())):
            yield f"scenarios.{i}.steps.{j}.tools", step.get("tools", [])


@dataclass(frozen=True)
class StepReference:
    """A step that names a tool: its number, its scenario's title, and the path of the field."""

    number: str
    title: str
    path: str

    @property
    def anchor(self) -> str:
        """The id of the field on the scenarios page."""
        return self.path.replace(".", "-")


def steps_using(name: str, document: Mapping[str, Any]) -> list[StepReference]:
    """The scenario steps that name a tool."""
    found = []
    for path, names in tools_of_steps(document):
        if name in names:
            _, i, _, j, _ = path.split(".")
            title = document["scenarios"][int(i)]["title"]
            found.append(StepReference(f"{int(i) + 1}.{int(j) + 1}", title, path))
    return found


def unknown_tool_error(name: str, *, known: Sequence[str]) -> str:
    """An error message for an unknown tool, with similar names."""
    near = [f"'{one}'" for one in get_close_matches(name, known, n=MAX_SUGGESTIONS)]
    sentences = [
        gettext("There is no tool '%(name)s'.") % {"name": name},
        gettext("Did you mean %(names)s?") % {"names": _either(near)} if near else "",
        gettext("See the Tools page for all tools."),
    ]
    return " ".join(filter(None, sentences))


def _either(names: Sequence[str]) -> str:
    """a, b or c"""
    if len(names) == 1:
        return names[0]
    return gettext("%(names)s or %(last)s") % {"names": ", ".join(names[:-1]), "last": names[-1]}
