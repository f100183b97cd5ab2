"""Admin of the platform's tool definitions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar, cast
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from projects.admin.platform_admin import PlatformAdmin
from projects.common.translation import lazy, plazy
from projects.models import Project
from tenancy.scope import tenant_tx
from tools.engine.business_state import read_state
from tools.engine.catalogue import compile_builtin
from tools.engine.execution.schemas import NO_PARAMETERS
from tools.engine.function_calling.offer import AgentToolDefinition
from tools.engine.platform.seeds import is_edited
from tools.engine.platform.stored import StoredDefinition, invalidate_definitions
from tools.engine.platform.validation import called_tools, definition_problems
from tools.engine.registry import builtin_tools
from tools.engine.tool_words import title_of_tool
from tools.models import PlatformDefinition

FIELDS = ("name", "category", "description", "section", "parameters")
CHANNELS = (("chat", "chat"), ("phone", "phone"), ("portal", "portal"), ("whatsapp", "whatsapp"), ("sms", "sms"))
PARAMETERS = lazy("JSON Schema of an object. Leave empty for the defaults.")


def _wide(*, rows: int) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows, "cols": 100, "class": "vLargeTextField"})


class Indented(json.JSONEncoder):
    """A schema, indented for editing."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "indent": 2})


class DefinitionForm(forms.ModelForm):  # type: ignore[type-arg]  # Django has no such type at run time
    """A stored definition; each problem is shown at its field."""

    parameters = forms.JSONField(required=False, encoder=Indented, help_text=PARAMETERS, widget=_wide(rows=16))

    class Meta:
        model = PlatformDefinition
        fields = FIELDS
        widgets: ClassVar = {"description": _wide(rows=3)}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "name" in self.fields:
            names = [(name, f"{title_of_tool(name)} ({name})") for name in sorted(called_tools())]
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
        """The definition as typed."""
        texts = {field: self.cleaned_data.get(field) or "" for field in ("description", "category", "section")}
        return StoredDefinition(**texts, parameters=self.cleaned_data.get("parameters"))


class PreviewForm(forms.Form):
    """The project and channel to preview a definition for."""

    # Projects can be queried only inside a request's scope.
    project: Any = forms.ModelChoiceField(queryset=None)
    channel = forms.ChoiceField(choices=CHANNELS)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        project: Any = self.fields["project"]
        project.queryset = Project.objects.select_related("organization").order_by("name")


@admin.register(PlatformDefinition)
class PlatformDefinitionAdmin(PlatformAdmin):
    """Stored definitions. Once there is one, only tools with one are offered; `manage.py seed_tools` stores them all."""

    form = DefinitionForm
    fields = FIELDS
    list_display = ("title", "name", "category", "shortened", "edited", "updated_at")
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
        """Render the typed definition for a project: the function and the section. Nothing is saved."""
        if not self.has_view_permission(request):
            return HttpResponse(status=403)
        name = request.POST.get("tool_name") or request.POST.get("name", "")
        form = DefinitionForm(request.POST, instance=PlatformDefinition(name=name))
        form.fields.pop("name", None)
        chosen = PreviewForm(request.POST)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": gettext("Preview of %(name)s") % {"name": title_of_tool(name)},
        }
        if form.is_valid() and chosen.is_valid():
            project, channel = chosen.cleaned_data["project"], chosen.cleaned_data["channel"]
            context["shown"] = preview_of(name, form.words, project, channel=channel)
        context["forms"] = (form, chosen)
        return TemplateResponse(request, "admin/tools/platformdefinition/preview.html", context)

    @admin.display(description=plazy("field", "title"), ordering="name")
    def title(self, row: PlatformDefinition) -> str:
        return title_of_tool(row.name)

    @admin.display(description=plazy("field", "description"))
    def shortened(self, row: PlatformDefinition) -> str:
        return row.description[:120]

    @admin.display(description=plazy("field", "edited"), boolean=True)
    def edited(self, row: PlatformDefinition) -> bool:
        return is_edited(row)

    @admin.action(description=lazy("Reload the definitions in every process"))
    def flush(self, request: HttpRequest, chosen: QuerySet[PlatformDefinition]) -> None:
        flush_definitions()
        messages.success(request, gettext("Every process reloads the definitions on its next turn."))


def flush_definitions() -> None:
    """Make every process reload the definitions: each turn compares the newest timestamp, which this updates."""
    newest = PlatformDefinition.objects.order_by("-updated_at").values_list("pk", flat=True).first()
    PlatformDefinition.objects.filter(pk=newest).update(updated_at=Now())
    invalidate_definitions()


@dataclass(frozen=True)
class Preview:
    """A tool as one project's model reads it; `why_not` is the reason why it isn't offered."""

    project: str
    channel: str
    why_not: str
    function: str
    section: str


def preview_of(name: str, words: StoredDefinition, project: Project, *, channel: str) -> Preview:
    """Compile the definition for a project, inside its tenant."""
    with tenant_tx(cast(UUID, project.organization_id)):
        own = Project.objects.select_related("agent_version").get(pk=project.pk)
        tool = compile_builtin(builtin_tools()[name], read_state(own, channel=channel), {name: words})
    definition = AgentToolDefinition(tool.name, tool.definition.description, tool.parameters or NO_PARAMETERS)
    function = json.dumps(definition.as_openai(), ensure_ascii=False, indent=2)
    return Preview(project.name, channel, tool.why_not, function, tool.section)
