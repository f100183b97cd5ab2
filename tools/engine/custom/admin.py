"""Custom tools in the admin, on the same service as the API."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any, cast
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html

from projects.admin.tenant_admin import TenantAdmin
from projects.common.api_error import ApiError
from projects.models import Member, Project
from tenancy.scope import tenant_tx
from tools.engine.custom import service
from tools.engine.custom.reading import read_json
from tools.engine.custom.scenario_references import steps_naming_only
from tools.engine.custom.secrets import rotate_signing_secret
from tools.engine.validation.problem import DefinitionRefused
from tools.models import CustomTool, CustomToolVersion


class CustomToolForm(forms.ModelForm):  # type: ignore[type-arg]  # Django has no such type at run time
    """A definition as JSON. A save over someone else's version is refused with the differences."""

    text = forms.CharField(
        label="definition",
        widget=forms.Textarea(attrs={"rows": 30, "spellcheck": "false"}),
        help_text="JSON: description, conditions, useConversationHistory, conflictPolicy, action, after_actions.",
    )
    expected_version = forms.IntegerField(widget=forms.HiddenInput, required=False)
    checked: service.CheckedTool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.instance._state.adding:
            self.initial.setdefault("text", json.dumps(self.instance.definition, ensure_ascii=False, indent=2))
            self.initial.setdefault("expected_version", self.instance.version)

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
            except ApiError as error:
                self.add_error("text", error.message)


@admin.register(CustomTool)
class CustomToolAdmin(TenantAdmin):
    form = CustomToolForm
    list_display = ("name", "project", "version", "is_enabled", "updated_at")
    list_filter = ("is_enabled", "project")
    list_select_related = ("project",)
    search_fields = ("name",)
    ordering = ("name",)
    actions = ("enable", "disable", "new_signing_secret")
    writable = ("text", "expected_version", "is_enabled")
    addable = ("project", "name", "text", "is_enabled")
    hidden = ("definition", "secrets", "is_removed")
    shown = ("text", "expected_version")
    is_deletable = True

    def get_queryset(self, request: HttpRequest) -> QuerySet[CustomTool]:
        tools: QuerySet[CustomTool] = super().get_queryset(request)
        return tools.filter(is_removed=False)

    def save_model(self, request: HttpRequest, obj: CustomTool, form: Any, change: bool) -> None:
        with tenant_tx(cast(UUID, obj.organization_id)):
            is_enabled = form.cleaned_data["is_enabled"]
            saved = service.save_checked(form.checked, author=_member_of(request), is_enabled=is_enabled)
        obj.pk, obj.version = saved.tool.pk, saved.tool.version
        for problem in saved.warnings:
            messages.warning(request, problem.message)
        if saved.signing_secret:
            messages.warning(request, f"Signing secret, shown only once: {saved.signing_secret}")

    def delete_model(self, request: HttpRequest, obj: CustomTool) -> None:
        """Remove the tool; its versions stay."""
        _serve(obj, lambda project: service.remove(project, obj.name, author=_member_of(request)))

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """List the tool and the steps that name it. Its versions are kept, so they aren't listed."""
        return (
            [line for obj in objs for line in (str(obj), _steps_left(obj))],
            {self.opts.verbose_name_plural: len(objs)},
            set(),
            [],
        )

    @admin.action(description="Switch on: offer the selected tools from the next turn on")
    def enable(self, request: HttpRequest, tools: QuerySet[CustomTool]) -> None:
        switched = [tool for tool in tools if self._is_served(request, tool, service.enable)]
        messages.success(request, f"{len(switched)} of {len(tools)} tools are on.")

    @admin.action(description="Switch off: offer the selected tools no more")
    def disable(self, request: HttpRequest, tools: QuerySet[CustomTool]) -> HttpResponse | None:
        """Switch the tools off. Asks for confirmation if steps of a scenario name one of them."""
        chosen = [(tool, _steps_left(tool) if tool.is_enabled else []) for tool in tools]
        if "post" not in request.POST and any(steps for _, steps in chosen):
            title = f"Switch off {len(chosen)} tool{'s' if len(chosen) > 1 else ''}?"
            context = {**self.admin_site.each_context(request), "opts": self.opts, "title": title, "chosen": chosen}
            return TemplateResponse(request, "admin/tools/customtool/switch_off.html", context)
        switched = [tool for tool in tools if self._is_served(request, tool, service.disable)]
        messages.success(request, f"{len(switched)} of {len(tools)} tools are off.")
        return None

    @admin.action(description="New signing secret: shown once; the old one stays valid for a day")
    def new_signing_secret(self, request: HttpRequest, tools: QuerySet[CustomTool]) -> None:
        for tool in tools:
            with tenant_tx(cast(UUID, tool.organization_id)):
                secret = rotate_signing_secret(tool)
            messages.warning(request, f"New signing secret of {tool.name}, shown only once: {secret}")

    def _is_served(self, request: HttpRequest, tool: CustomTool, verb: Callable[..., Any]) -> bool:
        try:
            _serve(tool, lambda project: verb(project, tool.name, author=_member_of(request)))
        except DefinitionRefused as error:
            messages.error(request, f"{tool.name}: {error.message}")
            return False
        return True


@admin.register(CustomToolVersion)
class CustomToolVersionAdmin(TenantAdmin):
    list_display = ("tool", "number", "is_enabled", "is_removed", "saved_at")
    list_select_related = ("tool",)
    search_fields = ("tool__name",)
    date_hierarchy = "saved_at"
    actions = ("restore",)

    @admin.action(description="Restore: make the selected version the newest")
    def restore(self, request: HttpRequest, versions: QuerySet[CustomToolVersion]) -> None:
        for version in versions:
            try:
                _serve(version.tool, partial(_restore, version=version, request=request))
            except DefinitionRefused as error:
                messages.error(request, f"{version.tool}: {error.message}")
            else:
                messages.success(request, f"{version.tool} is as it was in version {version.number}.")


def _restore(project: Project, *, version: CustomToolVersion, request: HttpRequest) -> None:
    service.restore(project, version.tool.name, version.number, author=_member_of(request))


def _serve(tool: Model, work: Callable[[Project], Any]) -> None:
    """Run the work in the tool's organization; platform staff belong to none."""
    row = cast(CustomTool, tool)
    with tenant_tx(cast(UUID, row.organization_id)):
        work(Project.objects.get(pk=row.project_id))


def _steps_left(tool: CustomTool) -> list[str]:
    """Links to the steps that name the tool."""
    with tenant_tx(cast(UUID, tool.organization_id)):
        project = Project.objects.select_related("agent_version").get(pk=tool.project_id)
        steps = steps_naming_only(project, tool.name)
    page = reverse("agent", kwargs={"project_slug": project.slug, "section": "scenarios"})
    sentence = 'Step <a href="{}#{}">{} {}</a> of the scenarios uses it. Remove it there, too.'
    return [format_html(sentence, page, step.anchor, step.number, step.title) for step in steps]


def _member_of(request: HttpRequest) -> Member | None:
    """The member behind the request; None for platform staff, who belong to no organization."""
    return Member.objects.filter(user_id=cast(int, request.user.pk)).first()
