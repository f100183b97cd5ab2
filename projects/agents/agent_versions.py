"""Editing the draft of an agent's settings, with merging of concurrent edits."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils.translation import gettext, override
from pydantic import ValidationError

from outbound.errors import BlockedAddress
from outbound.guard import Guard
from projects.agents.prompt_budget import size_advice
from projects.agents.prompt_size import measure_prompt
from projects.agents.services import latest_agent_version, save_agent
from projects.agents.tool_names import tool_names, tools_of_steps, unknown_tool_error
from projects.common.api_error import Conflict
from projects.common.differences import differences, summary_of
from projects.common.merge import merge
from projects.models import AgentVersion, Project, User
from projects.models.agent_config import AgentConfig, Intent
from projects.models.agent_errors import SettingsRefused, checked_config


class ChangedMeanwhile(Conflict):
    """Someone else changed the same fields. `values` holds the merged edit, with the editor's own values where the two
    conflict.
    """

    def __init__(self, latest: AgentVersion, *, values: Mapping[str, Any]) -> None:
        super().__init__(
            gettext("Someone saved version %(number)s while you were editing.") % {"number": latest.number},
            code="changed_meanwhile",
        )
        self.latest = latest
        self.values = dict(values)


@dataclass(frozen=True)
class Edit:
    """An edit: the changed fields, the number of the version it started from, and its author."""

    changes: Mapping[str, Any]
    started_from: int
    author: User
    note: str = ""


def change_agent(project: Project, edit: Edit) -> AgentVersion:
    """Save an edit as a new draft. An edit without changes returns the newest version.

    A concurrent edit of other fields is merged. A conflicting one raises ChangedMeanwhile and saves nothing. Raises
    SettingsRefused with a sentence per field for invalid values, unknown or ambiguous names, and settings that leave no
    room for the conversation. Must run in a transaction.
    """
    latest = latest_agent_version(project)
    current = current_document(latest)
    proposed = _dump(checked_config({**current, **edit.changes}))
    check_new_url(proposed["model_base_url"], current=current.get("model_base_url", ""))
    changes = {name: proposed[name] for name in edit.changes}
    if latest.number != edit.started_from:
        changes = _merge_edit(project, edit, changes=changes, latest=latest)
    config = checked_config({**current, **changes})
    if _dump(config) == current:
        return latest
    if wrong := name_errors(project, config, current=current):
        raise SettingsRefused(wrong)
    check_size(project, config, current=current, among=edit.changes)
    with override(settings.LANGUAGE_CODE):
        note = edit.note or summary_of(differences(current, _dump(config)))
    return save_agent(project, config=config, author=edit.author, note=note, started_from=latest.number, is_draft=True)


def check_model_url(url: str) -> None:
    """Check the form of a model's address against the outbound rules. Raises SettingsRefused."""
    try:
        Guard(allow=settings.OUTBOUND_ALLOW).check_url(url)
    except BlockedAddress as error:
        way = gettext(
            "Use a public URL like https://api.openai.com/v1, or ask the server administrator to allow this host."
        )
        raise SettingsRefused({"model_base_url": f"{error} {way}"}) from error


def name_errors(project: Project, config: AgentConfig, *, current: Mapping[str, Any]) -> dict[str, str]:
    """A sentence for each duplicate intent and unknown tool that the current settings don't already contain, by path."""
    document = config.model_dump(mode="json")
    duplicates = {} if document["intents"] == current.get("intents") else duplicate_intents(config.intents)
    return {**duplicates, **_steps_without_tools(project, document, current=current)}


def duplicate_intents(intents: Sequence[Intent]) -> dict[str, str]:
    """A sentence for each repeated intent name, ignoring case and whitespace, by path."""
    first: dict[str, int] = {}
    found = {}
    for index, intent in enumerate(intents):
        number = first.setdefault(" ".join(intent.name.split()).casefold(), index + 1)
        if number != index + 1:
            found[f"intents.{index}.name"] = gettext(
                "Intent %(number)s is also called '%(name)s'. Rename one of them, or merge them."
            ) % {"number": number, "name": intents[number - 1].name}
    return found


def _merge_edit(project: Project, edit: Edit, *, changes: Mapping[str, Any], latest: AgentVersion) -> dict[str, Any]:
    """The edit merged with versions saved since it began. Raises ChangedMeanwhile."""
    seen = AgentVersion.objects.filter(project=project, number=edit.started_from).first()
    base: dict[str, Any] = seen.document if seen else {}
    parts = {
        name: merge(base.get(name), theirs=latest.document.get(name), mine=value) for name, value in changes.items()
    }
    values = {name: part.value for name, part in parts.items()}
    if any(part.is_conflict for part in parts.values()):
        raise ChangedMeanwhile(latest, values=values)
    return values


def check_new_url(url: str, *, current: str) -> None:
    """Check a model's address unless it is the current one. Raises SettingsRefused."""
    # A stored address is not checked again: a change of the operator's list must not block unrelated edits.
    if url and url != current:
        check_model_url(url)


def check_size(
    project: Project, config: AgentConfig, *, current: Mapping[str, Any], among: Collection[str] = ()
) -> None:
    """Check that a request has room for a conversation besides these settings. Raises SettingsRefused.

    Settings that are already too large may change as long as they don't grow, so that they can be shortened step by
    step.
    """
    size = measure_prompt(project, config)
    if size.room <= 0 and size.total > _total_size(project, current):
        raise SettingsRefused(size_advice(size, among=among))


def _total_size(project: Project, document: Mapping[str, Any]) -> int:
    try:
        return measure_prompt(project, AgentConfig.model_validate(document)).total
    except ValidationError:
        return 0


def current_document(version: AgentVersion) -> dict[str, Any]:
    """The version's document, with defaults for newer fields; unchanged if it is no longer valid."""
    try:
        return _dump(version.config)
    except ValidationError:
        return dict(version.document)


def _dump(config: AgentConfig) -> dict[str, Any]:
    return config.model_dump(mode="json")


def _steps_without_tools(
    project: Project, document: Mapping[str, Any], *, current: Mapping[str, Any]
) -> dict[str, str]:
    known_before = {name for _, names in tools_of_steps(current) for name in names}
    added = {path: [name for name in names if name not in known_before] for path, names in tools_of_steps(document)}
    if not any(added.values()):
        return {}
    known = tool_names(project)
    wrong = {path: [name for name in names if name not in known] for path, names in added.items()}
    return {
        path: " ".join(unknown_tool_error(name, known=known) for name in names)
        for path, names in wrong.items()
        if names
    }
