"""Versioned saving of custom tools, with optimistic locking."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404
from django.utils.translation import gettext

from projects.common.api_error import Conflict
from projects.common.differences import Change, differences
from projects.common.translation import lazy
from projects.models import Member, Project
from projects.models.organization import lock_project
from tools.engine.custom.secrets import drop_foreign_headers, first_signing_secret
from tools.engine.definition import ActionType, ToolDefinition
from tools.engine.validation.approval import approval_problems
from tools.engine.validation.definition import checked_definition, definition_problems
from tools.engine.validation.names import name_problems
from tools.engine.validation.problem import DefinitionRefused, Problem, join
from tools.engine.validation.warnings import warnings_for
from tools.models import CustomTool, CustomToolVersion

MAX_TOOLS = 50
DROPPED = lazy(
    "The address belongs to another server, so its secret headers were removed: {names}. Enter them again for this one."
)


class StaleVersion(Conflict):
    """Someone else saved this tool in the meantime.

    `latest` is the current version, `changes` are the differences from it to the caller's document.
    """

    def __init__(self, latest: CustomTool, *, document: Any) -> None:
        mine = document if isinstance(document, Mapping) else {}
        self.latest = latest
        self.changes: Sequence[Change] = differences({} if latest.is_removed else latest.definition, mine)
        super().__init__(" ".join(self._sentences()), code="stale_version")

    def _sentences(self) -> Iterator[str]:
        latest = self.latest
        if latest.is_removed:
            yield gettext("%(name)s was removed in the meantime.") % {"name": latest.name}
            return
        yield gettext("%(name)s was saved as version %(version)s in the meantime.") % {
            "name": latest.name,
            "version": latest.version,
        }
        if where := ", ".join(str(change.label) for change in self.changes[:5]):
            yield gettext("It differs from yours in: %(fields)s.") % {"fields": where}


class NameTaken(Conflict):
    """The project already has a tool with this name."""

    def __init__(self, name: str) -> None:
        message = gettext("The project already has a tool named %(name)s. Use PUT to save a new version.") % {
            "name": name
        }
        super().__init__(message, code="name_taken", field="name")
        self.name = name


@dataclass(frozen=True)
class CheckedTool:
    """A definition that passed check()."""

    project: Project
    name: str
    document: Any
    definition: ToolDefinition


@dataclass(frozen=True)
class Saved:
    """A saved tool. `signing_secret` is set only when a webhook gets its first one; `warnings` don't prevent a save.
    Without a change, the version stays as it was.

    `removed_headers` are the secret headers that were removed because the address belongs to another server.
    """

    tool: CustomTool
    is_new: bool
    signing_secret: str | None
    warnings: Sequence[Problem]
    removed_headers: Sequence[str] = ()
    is_changed: bool = True

    @property
    def words(self) -> str:
        """The result of the save as a sentence."""
        told = {"name": self.tool.name, "version": self.tool.version}
        if not self.is_changed:
            return gettext("Nothing changed: version %(version)s of %(name)s stays.") % told
        return gettext("%(name)s saved as version %(version)s.") % told


def list_tools(project: Project) -> QuerySet[CustomTool]:
    """The project's custom tools by name, without removed ones."""
    return CustomTool.objects.filter(project=project, is_removed=False).order_by("name")


def get(project: Project, name: str) -> CustomTool:
    """A custom tool of the project. Raises Http404, also if it was removed."""
    tool = list_tools(project).filter(name=name).first()
    if tool is None:
        raise Http404
    return tool


def get_ever(project: Project, name: str) -> CustomTool:
    """Like get(), but includes removed tools. Raises Http404."""
    tool = CustomTool.objects.filter(project=project, name=name).first()
    if tool is None:
        raise Http404
    return tool


def versions(project: Project, name: str) -> QuerySet[CustomToolVersion]:
    """All versions saved under a name, newest first, including those of a removed tool."""
    rows = CustomToolVersion.objects.select_related("tool")
    return rows.filter(tool__project=project, tool__name=name).order_by("-number")


def save(
    project: Project,
    *,
    name: str,
    document: Any,
    author: Member | None = None,
    expected_version: int | None = None,
    is_enabled: bool | None = None,
) -> Saved:
    """Save a definition as a new version, used from the next turn on. An unchanged definition makes no version.

    `expected_version` is the version that was edited: 0 for a tool that should not exist yet, None to overwrite any.
    `is_enabled` is saved in the same version; None leaves it unchanged. Raises DefinitionRefused with every problem,
    StaleVersion if another version is current. Runs inside a transaction; concurrent saves are serialized.
    """
    checked = check(project, name=name, document=document, expected_version=expected_version)
    return save_checked(checked, author=author, is_enabled=is_enabled)


def check(project: Project, *, name: str, document: Any, expected_version: int | None = None) -> CheckedTool:
    """Validate a definition for save_checked(). Raises DefinitionRefused, StaleVersion.

    Locks the project's tools until the transaction ends.
    """
    lock_project(project.pk)
    row = CustomTool.objects.filter(project=project, name=name).first()
    _check_expected(row, expected_version, document=document)
    others = list(list_tools(project).exclude(name=name).values_list("name", flat=True))
    problems = [*name_problems(name, others=others), *definition_problems(document), *approval_problems(name, document)]
    if len(others) >= MAX_TOOLS:
        problems.append(
            Problem(
                "",
                gettext("The project has %(count)s tools of its own; the limit is %(most)s.")
                % {"count": len(others), "most": MAX_TOOLS},
            )
        )
    if problems:
        raise DefinitionRefused(problems)
    return CheckedTool(project, name, document, ToolDefinition.model_validate(document))


def save_checked(checked: CheckedTool, *, author: Member | None, is_enabled: bool | None) -> Saved:
    """Save a definition that passed check(). In a separate transaction it overwrites any newer version."""
    project, name, document = checked.project, checked.name, checked.document
    lock_project(project.pk)
    row = CustomTool.objects.filter(project=project, name=name).first()
    is_new = row is None or row.is_removed
    row = row or CustomTool(project=project, name=name, version=0)
    # A tool that was switched off before it was removed is on again when it is recreated.
    dropped: Sequence[str] = ()
    wanted = (is_new or row.is_enabled) if is_enabled is None else is_enabled
    is_changed = is_new or (row.definition, row.is_enabled) != (document, wanted)
    if is_changed:
        before = row.definition
        row.definition, row.is_enabled, row.is_removed = document, wanted, False
        _store(row, author=author)
        dropped = () if is_new else drop_foreign_headers(row, before=before)
    secret = first_signing_secret(row) if checked.definition.action.type is ActionType.SEND_WEBHOOK else None
    warnings = [*_dropped_warnings(dropped), *warnings_for(project, name, checked.definition)]
    return Saved(row, is_new, secret, warnings, tuple(dropped), is_changed=is_changed)


def _dropped_warnings(names: Sequence[str]) -> list[Problem]:
    return [Problem("action.options.url", DROPPED.format(names=", ".join(names)))] if names else []


def add(project: Project, *, name: str, document: Any, author: Member | None = None) -> Saved:
    """Save a new tool. Raises NameTaken, DefinitionRefused."""
    lock_project(project.pk)
    if list_tools(project).filter(name=name).exists():
        raise NameTaken(name)
    return save(project, name=name, document=document, author=author)


def add_each(project: Project, tools: Mapping[str, Any], *, author: Member | None = None) -> list[Saved]:
    """Save new tools, all or none. Raises NameTaken, DefinitionRefused with paths such as `tools.my_tool.conditions`."""
    return _save_each(add, project, tools, author=author)


def import_each(project: Project, tools: Mapping[str, Any], *, replaces: bool, author: Member | None) -> list[Saved]:
    """Save tools, all or none. With `replaces`, an existing name gets a new version. Raises as add_each does."""
    return _save_each(save if replaces else add, project, tools, author=author)


def replace_all(project: Project, tools: Mapping[str, Any]) -> None:
    """Replace all tools of the project, all or none; others are removed. Raises DefinitionRefused as add_each does."""
    with transaction.atomic():
        for name in list_tools(project).exclude(name__in=list(tools)).values_list("name", flat=True):
            remove(project, name)
        _save_each(save, project, tools, author=None)


def enable(project: Project, name: str, *, author: Member | None = None) -> CustomTool:
    """Offer the tool from the next turn on. Raises Http404, DefinitionRefused if its definition is no longer valid."""
    tool = _locked(project, name)
    checked_definition(tool.definition)
    return _switched(tool, is_enabled=True, author=author)


def disable(project: Project, name: str, *, author: Member | None = None) -> CustomTool:
    """Stop offering the tool; effects already planned with it don't run. Raises Http404."""
    return _switched(_locked(project, name), is_enabled=False, author=author)


def remove(project: Project, name: str, *, author: Member | None = None, expected_version: int | None = None) -> None:
    """Remove the tool from the catalogue and delete its secrets. Its versions stay, and restore() brings it back.

    Raises Http404, StaleVersion.
    """
    tool = _locked(project, name)
    _check_expected(tool, expected_version, document=tool.definition)
    tool.is_removed, tool.secrets = True, ""
    _store(tool, author=author)


def undo_removal(project: Project, name: str, *, version: int, secrets: str, author: Member | None) -> None:
    """Bring back a tool that was removed as `version`, with its encrypted secrets. Raises Http404, StaleVersion."""
    lock_project(project.pk)
    tool = get_ever(project, name)
    if not tool.is_removed or tool.version != version:
        raise StaleVersion(tool, document=tool.definition)
    tool.is_removed, tool.secrets = False, secrets
    _store(tool, author=author)


def restore(
    project: Project, name: str, number: int, *, author: Member | None = None, expected_version: int | None = None
) -> Saved:
    """Make an earlier version the newest. A removed tool gets the switch of that version.

    Raises Http404, StaleVersion, DefinitionRefused if it couldn't be saved today.
    """
    version = versions(project, name).filter(number=number).first()
    if version is None:
        raise Http404
    return save(
        project,
        name=name,
        document=version.definition,
        author=author,
        expected_version=expected_version,
        is_enabled=version.is_enabled if version.tool.is_removed else None,
    )


def _save_each(
    save_one: Callable[..., Saved], project: Project, tools: Mapping[str, Any], *, author: Member | None
) -> list[Saved]:
    saved = []
    with transaction.atomic():
        for name, document in tools.items():
            try:
                saved.append(save_one(project, name=name, document=document, author=author))
            except DefinitionRefused as error:
                raise DefinitionRefused([problem.below(join("tools", name)) for problem in error.problems]) from error
    return saved


def _locked(project: Project, name: str) -> CustomTool:
    """A custom tool, locked until the transaction ends. Raises Http404."""
    lock_project(project.pk)
    return get(project, name)


def _check_expected(row: CustomTool | None, expected: int | None, *, document: Any) -> None:
    current = row.version if row and not row.is_removed else 0
    if row and expected not in (None, current):
        raise StaleVersion(row, document=document)


def _switched(tool: CustomTool, *, is_enabled: bool, author: Member | None) -> CustomTool:
    if tool.is_enabled != is_enabled:
        tool.is_enabled = is_enabled
        _store(tool, author=author)
    return tool


def _store(tool: CustomTool, *, author: Member | None) -> None:
    """Save the tool and a version of it."""
    tool.version += 1
    tool.save()
    CustomToolVersion.objects.create(
        tool=tool,
        number=tool.version,
        definition=tool.definition,
        is_enabled=tool.is_enabled,
        is_removed=tool.is_removed,
        author_id=author.pk if author else None,
    )
