"""The page on which the platform's people word the tools that models call (F04)."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.views.decorators.http import require_POST

from projects.admin.platform_admin import PlatformAdmin
from projects.models import Project
from tools.engine.platform.preview import CHANNELS, preview_of
from tools.engine.platform.seeds import is_edited
from tools.engine.platform.stored import StoredDefinition, forget_definitions
from tools.engine.platform.validation import called_tools, definition_problems
from tools.models import PlatformDefinition

FIELDS = ("name", "category", "description", "section", "parameters")
PARAMETERS = "Its parameters as a JSON Schema of an object; empty: as the code has them."


def _wide(*, rows: int) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows, "cols": 100, "class": "vLargeTextField"})


class Indented(json.JSONEncoder):
    """A schema as a person reads it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "indent": 2})


class DefinitionForm(forms.ModelForm):  # type: ignore[type-arg]  # Django has no such type at run time
    """What is wrong is said beside the field that it is in."""

    parameters = forms.JSONField(required=False, encoder=Indented, help_text=PARAMETERS, widget=_wide(rows=16))

    class Meta:
        model = PlatformDefinition
        fields = FIELDS
        widgets: ClassVar = {"description": _wide(rows=3)}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "name" in self.fields:
            names = [(name, name) for name in sorted(called_tools())]
            self.fields["name"] = forms.ChoiceField(choices=names)

    def clean(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        cleaned["section"] = cleaned.get("section", "").replace("\r\n", "\n").strip()
        name = cleaned.get("name") or self.instance.name
        for problem in definition_problems(name, self.words) if name and not self.errors else []:
            self.add_error(problem.path, problem.message)
        return cleaned

    @property
    def words(self) -> StoredDefinition:
        """What was typed."""
        texts = {field: self.cleaned_data.get(field) or "" for field in ("description", "category", "section")}
        return StoredDefinition(**texts, parameters=self.cleaned_data.get("parameters"))


class PreviewForm(forms.Form):
    """For whom the typed words are shown."""

    # There are projects to choose from only inside a request's scope.
    project: Any = forms.ModelChoiceField(queryset=None)
    channel = forms.ChoiceField(choices=CHANNELS)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        project: Any = self.fields["project"]
        project.queryset = Project.objects.select_related("organization").order_by("name")


@admin.register(PlatformDefinition)
class PlatformDefinitionAdmin(PlatformAdmin):
    """Once there is one, only tools that have one are offered: `manage.py seed_tools` stores them all."""

    form = DefinitionForm
    fields = FIELDS
    list_display = ("name", "category", "shortened", "edited", "updated_at")
    list_filter = ("category",)
    search_fields = ("name", "description", "section")
    actions = ("flush",)
    change_form_template = "admin/tools/platformdefinition/change_form.html"

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.has_view_permission(request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return ("name",) if obj else ()

    def get_urls(self) -> list[URLPattern]:
        preview = self.admin_site.admin_view(require_POST(self.preview))
        return [path("preview", preview, name="tools_platformdefinition_preview"), *super().get_urls()]

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        obj = kwargs.get("obj")
        context |= {"previewed": PreviewForm(), "tool_name": obj.name if obj else ""}
        return super().render_change_form(request, context, *args, **kwargs)

    def preview(self, request: HttpRequest) -> HttpResponse:
        """What the typed words become for a project: the function, and the section. Nothing is saved."""
        if not self.has_view_permission(request):
            return HttpResponse(status=403)
        name = request.POST.get("tool_name") or request.POST.get("name", "")
        form = DefinitionForm(request.POST, instance=PlatformDefinition(name=name))
        form.fields.pop("name", None)
        chosen = PreviewForm(request.POST)
        context = {**self.admin_site.each_context(request), "opts": self.opts, "title": f"Preview of {name}"}
        if form.is_valid() and chosen.is_valid():
            project, channel = chosen.cleaned_data["project"], chosen.cleaned_data["channel"]
            context["shown"] = preview_of(name, form.words, project, channel=channel)
        context["forms"] = (form, chosen)
        return TemplateResponse(request, "admin/tools/platformdefinition/preview.html", context)

    @admin.display(description="description")
    def shortened(self, row: PlatformDefinition) -> str:
        return row.description[:120]

    @admin.display(description="edited", boolean=True)
    def edited(self, row: PlatformDefinition) -> bool:
        return is_edited(row)

    @admin.action(description="Flush: every process reads all definitions anew")
    def flush(self, request: HttpRequest, chosen: QuerySet[PlatformDefinition]) -> None:
        flush_definitions()
        messages.success(request, "Flushed: every process reads the definitions anew from the next turn on.")


def flush_definitions() -> None:
    """Make every process read the definitions anew (F05): the newest is told to be newer, which each turn notices."""
    newest = PlatformDefinition.objects.order_by("-updated_at").values_list("pk", flat=True).first()
    PlatformDefinition.objects.filter(pk=newest).update(updated_at=Now())
    forget_definitions()
