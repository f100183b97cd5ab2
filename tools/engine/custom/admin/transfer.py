"""Import, export and copies of custom tools between projects."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext

from projects.common.api_error import ApiError
from projects.common.translation import lazy
from projects.models import Member, Project
from tenancy.scope import tenant_tx
from tools.engine.custom import service
from tools.engine.custom.definition_text import ordered
from tools.engine.custom.reading import read_json, read_tools
from tools.engine.validation.problem import DefinitionRefused
from tools.models import CustomTool

LARGEST_FILE = 1_000_000
TAKEN = lazy(
    "{project} already has a tool named {name}. Select “Replace tools of the same name” to save a new version of it."
)


class TargetForm(forms.Form):
    """The project that tools are saved in. `saved` is set once `save` succeeded."""

    # Projects can be queried only inside a request's scope.
    project: Any = forms.ModelChoiceField(queryset=None, empty_label=None)
    replaces = forms.BooleanField(required=False, label=lazy("Replace tools of the same name"))
    saved: Sequence[service.Saved] = ()

    def __init__(self, *args: Any, projects: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        project: Any = self.fields["project"]
        project.queryset = projects

    def save(self, tools: Mapping[str, Any], *, author: Member | None) -> bool:
        """Save all tools or none. False if they were refused, with the reasons among the form's errors."""
        project: Project = self.cleaned_data["project"]
        try:
            with tenant_tx(cast(Any, project.organization_id)):
                replaces = self.cleaned_data["replaces"]
                self.saved = service.import_each(project, tools, replaces=replaces, author=author)
        except DefinitionRefused as error:
            for problem in error.problems:
                # Some messages name the place themselves.
                is_placed = problem.path in problem.message
                self.add_error(None, problem.message if is_placed else f"{problem.path}: {problem.message}")
        except service.NameTaken as error:
            self.add_error(None, TAKEN.format(project=project, name=error.name))
        except ApiError as error:
            self.add_error(None, error.message)
        return not self.errors


class ImportForm(TargetForm):
    """A registration `{"tools": {…}}`, as a file or as text."""

    file = forms.FileField(required=False, label=lazy("File"))
    text = forms.CharField(required=False, label="JSON", strip=False)
    tools: Mapping[str, Any]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        try:
            self.tools = self._read(data)
        except DefinitionRefused as error:
            for problem in error.problems:
                self.add_error(None, problem.message)
        except ApiError as error:
            self.add_error(None, error.message)
        return data

    def _read(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """The tools by name. Raises ApiError."""
        text = self._text(data.get("file")) or str(data.get("text", ""))
        if not text.strip():
            raise ApiError("nothing_to_import", gettext("Choose a file, or paste the JSON."))
        document = read_json(text)
        if not isinstance(document, dict):
            raise ApiError("not_an_object", gettext('The JSON must be an object: {"tools": {…}}.'))
        tools = read_tools(document)
        if not tools:
            raise ApiError("nothing_to_import", gettext("The JSON contains no tools."))
        return tools

    def _text(self, file: UploadedFile[Any] | None) -> str:
        if file is None:
            return ""
        if (file.size or 0) > LARGEST_FILE:
            raise ApiError("file_too_large", gettext("The file is larger than 1 MB."))
        try:
            return bytes(file.read()).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ApiError("not_text", gettext("The file isn’t text in UTF-8.")) from error


def registration_text(tools: Sequence[CustomTool]) -> str:
    """The tools as `{"tools": {name: definition}}`, without their secrets."""
    definitions = {tool.name: ordered(tool.definition) for tool in tools}
    return json.dumps({"tools": definitions}, ensure_ascii=False, indent=2) + "\n"


def share_names(tools: Sequence[CustomTool]) -> bool:
    """True if tools of several projects have the same name, so that one file can't hold them."""
    return len({tool.name for tool in tools}) < len(tools)
