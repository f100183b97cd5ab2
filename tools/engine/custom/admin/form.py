"""The admin's form of a custom tool. Its page is the console's editor."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from django import forms

from projects.common.api_error import ApiError
from projects.common.text_diff import Line, line_differences
from projects.models import Project
from tenancy.scope import tenant_tx
from tools.engine.custom import service
from tools.engine.custom.definition_text import EMPTY, as_text
from tools.engine.custom.reading import read_json
from tools.engine.validation.problem import DefinitionRefused


class CustomToolForm(forms.ModelForm):  # type: ignore[type-arg]  # Django has no such type at run time
    """A definition as JSON. A save over someone else's version is refused; `changes` then holds the differences from it
    to the text.
    """

    text = forms.CharField(label="definition", widget=forms.Textarea)
    expected_version = forms.IntegerField(widget=forms.HiddenInput, required=False)
    checked: service.CheckedTool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.latest_version = 0
        self.changes: list[Line] = []
        saved = not self.instance._state.adding
        self.initial.setdefault("text", as_text(self.instance.definition if saved else EMPTY))
        self.initial.setdefault("expected_version", self.instance.version if saved else 0)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        name, project = data.get("name", self.instance.name), data.get("project")
        if "text" in data and name and (project or self.instance.project_id):
            self._clean_definition(name, text=data["text"], project_id=project.pk if project else None)
        return data

    def _clean_definition(self, name: str, *, text: str, project_id: UUID | None) -> None:
        expected = 0 if self.instance._state.adding else self.cleaned_data.get("expected_version")
        with tenant_tx(cast(UUID, self.instance.organization_id)):
            project = Project.objects.get(pk=project_id or self.instance.project_id)
            try:
                document = read_json(text)
                self.checked = service.check(project, name=name, document=document, expected_version=expected)
            except DefinitionRefused as error:
                for problem in error.problems:
                    is_name = problem.path == "name" and "name" in self.fields
                    self.add_error("name" if is_name else "text", problem.message)
            except service.StaleVersion as error:
                self._refuse(error, document=document)
            except ApiError as error:
                self.add_error("text", error.message)

    def _refuse(self, error: service.StaleVersion, *, document: Any) -> None:
        self.add_error("text", error.message)
        if not error.latest.is_removed and isinstance(document, dict):
            self.latest_version = error.latest.version
            self.changes = line_differences(as_text(error.latest.definition), as_text(document))
