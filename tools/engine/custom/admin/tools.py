"""Custom tools in the admin, on the same service and with the same editor as the console."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_http_methods, require_safe

from projects.admin.tenant_admin import TenantAdmin
from projects.common.translation import lazy, plazy
from projects.models import Project
from tenancy.scope import is_platform, tenant_tx
from tools.engine.custom import service
from tools.engine.custom.admin.filters import ACTION_LABELS, ActionFilter, StateFilter
from tools.engine.custom.admin.form import CustomToolForm
from tools.engine.custom.admin.serving import member_of, serve, steps_left
from tools.engine.custom.admin.transfer import ImportForm, TargetForm, registration_text, share_names
from tools.engine.custom.admin.versions import restore_version, versions_context
from tools.engine.custom.secrets import has_signing_secret, rotate_signing_secret, secret_names
from tools.engine.definition import ActionType
from tools.engine.registry import builtin_tools
from tools.engine.validation.problem import DefinitionRefused
from tools.models import CustomTool

PAGES = "admin/tools/customtool/"
ONE_NAME_TWICE = lazy("Two of the selected tools have the same name. Select the tools of one project.")


@admin.register(CustomTool)
class CustomToolAdmin(TenantAdmin):
    form = CustomToolForm
    change_form_template = f"{PAGES}editor.html"
    change_list_template = f"{PAGES}list.html"
    list_display = ("name", "project", "action_type", "replaces", "version", "is_on", "updated_at")
    list_filter = ("project", StateFilter, ActionFilter)
    list_select_related = ("project",)
    search_fields = ("name",)
    ordering = ("name",)
    actions = ("enable", "disable", "copy", "export", "new_signing_secret")
    writable = ("text", "expected_version", "is_enabled")
    addable = ("project", "name", "text", "is_enabled")
    hidden = ("definition", "secrets", "is_removed")
    shown = ("text", "expected_version")
    is_deletable = True

    @admin.display(description=plazy("field", "action"))
    def action_type(self, row: CustomTool) -> str:
        return ACTION_LABELS.get(row.definition.get("action", {}).get("type"), "")

    @admin.display(description=lazy("replaces"))
    def replaces(self, row: CustomTool) -> str:
        return gettext("Built-in tool") if row.name in builtin_tools() else ""

    @admin.display(description=plazy("field", "on"), boolean=True, ordering="is_enabled")
    def is_on(self, row: CustomTool) -> bool:
        return row.is_enabled

    def get_queryset(self, request: HttpRequest) -> QuerySet[CustomTool]:
        tools: QuerySet[CustomTool] = super().get_queryset(request)
        return tools.filter(is_removed=False)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [
            path(
                "import/",
                view(require_http_methods(["GET", "POST"])(self.import_tools)),
                name="tools_customtool_import",
            ),
            path(
                "<path:object_id>/versions/",
                view(require_http_methods(["GET", "POST"])(self.versions)),
                name="tools_customtool_versions",
            ),
            path("<path:object_id>/export/", view(require_safe(self.export_one)), name="tools_customtool_export"),
            *super().get_urls(),
        ]

    # The editor

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        form = context["adminform"].form
        context |= self._new_context(request, form) if kwargs.get("obj") is None else self._saved_context(kwargs["obj"])
        context |= {
            "text": form["text"].value(),
            "expected_version": form["expected_version"].value() if "expected_version" in form.fields else 0,
            "is_on": bool(form["is_enabled"].value()),
            "problems": [message for messages in form.errors.values() for message in messages],
            "changes": form.changes,
            "latest_version": form.latest_version,
            "can_configure": True,
            # The API that evaluates and rehearses serves members only.
            "is_member": not is_platform(),
        }
        return super().render_change_form(request, context, *args, **kwargs)

    def _new_context(self, request: HttpRequest, form: CustomToolForm) -> dict[str, Any]:
        projects = list(Project.objects.order_by("name"))
        asked = form["project"].value() or request.GET.get("project__id__exact", "")
        chosen = next((one for one in projects if str(one.pk) == str(asked)), projects[0] if projects else None)
        name = form["name"].value() or ""
        return {"is_new": True, "name": name, "project": chosen, "projects": projects, "version": 0}

    def _saved_context(self, row: CustomTool) -> dict[str, Any]:
        stored = CustomTool.objects.get(pk=row.pk)
        with tenant_tx(cast(UUID, row.organization_id)):
            secrets = {"has_signing_secret": has_signing_secret(stored), "secret_headers": secret_names(stored)}
        return {
            **secrets,
            "name": stored.name,
            "project": row.project,
            "version": stored.version,
            "saved_at": stored.updated_at,
            "covers": stored.name in builtin_tools(),
            "is_webhook": stored.definition.get("action", {}).get("type") == ActionType.SEND_WEBHOOK,
            "steps": steps_left(stored),
        }

    def save_model(self, request: HttpRequest, obj: CustomTool, form: Any, change: bool) -> None:
        with tenant_tx(cast(UUID, obj.organization_id)):
            is_enabled = form.cleaned_data["is_enabled"]
            saved = service.save_checked(form.checked, author=member_of(request), is_enabled=is_enabled)
        obj.pk, obj.version = saved.tool.pk, saved.tool.version
        messages.success(request, saved.words)
        self._tell(request, saved)

    def response_add(self, request: HttpRequest, obj: CustomTool, post_url_continue: str | None = None) -> HttpResponse:
        """Return to the editor. A name saved again after a removal has another id than the form's."""
        return redirect("admin:tools_customtool_change", obj.pk)

    def response_change(self, request: HttpRequest, obj: CustomTool) -> HttpResponse:
        return redirect("admin:tools_customtool_change", obj.pk)

    def _tell(self, request: HttpRequest, saved: service.Saved) -> None:
        for problem in saved.warnings:
            messages.warning(request, problem.message)
        if saved.signing_secret:
            messages.warning(
                request,
                gettext("Signing secret of %(name)s, shown only once: %(signing_secret)s")
                % {"name": saved.tool.name, "signing_secret": saved.signing_secret},
            )

    # Versions

    def versions(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The versions and the differences between two. POST restores one."""
        row = self.get_object(request, object_id)
        if row is None:
            return self._missing(request, object_id)
        if request.method == "POST":
            if restored := restore_version(request, row):
                self.log_change(request, row, restored)
            return redirect(request.get_full_path())
        context = {
            **self.admin_site.each_context(request),
            **versions_context(request, row),
            "opts": self.opts,
            "title": gettext("Versions of %(name)s") % {"name": row.name},
            "can_configure": True,
        }
        return TemplateResponse(request, f"{PAGES}versions.html", context)

    # Import and export

    def import_tools(self, request: HttpRequest) -> HttpResponse:
        """Save the tools of a file or a text in a project."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        data, files = (request.POST, request.FILES) if request.method == "POST" else (None, None)
        form = ImportForm(data, files, projects=Project.objects.order_by("name"))
        if form.is_bound and form.is_valid() and form.save(form.tools, author=member_of(request)):
            return self._imported(request, form)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": gettext("Import tools"),
            "form": form,
        }
        return TemplateResponse(request, f"{PAGES}import.html", context)

    def _imported(self, request: HttpRequest, form: TargetForm) -> HttpResponse:
        project = form.cleaned_data["project"]
        for saved in form.saved:
            self.log_change(request, saved.tool, f"Imported as version {saved.tool.version}.")
            self._tell(request, saved)
        names = ", ".join(saved.tool.name for saved in form.saved)
        messages.success(request, gettext("Saved in %(project)s: %(names)s.") % {"project": project, "names": names})
        return redirect(f"{reverse('admin:tools_customtool_changelist')}?project__id__exact={project.pk}")

    def export_one(self, request: HttpRequest, object_id: str) -> HttpResponse:
        row = self.get_object(request, object_id)
        if row is None:
            return self._missing(request, object_id)
        return _download([row], name=row.name)

    def _missing(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Redirect as Django does for a row that doesn't exist."""
        base = cast(Any, self)
        return cast(HttpResponse, base._get_obj_does_not_exist_redirect(request, self.opts, object_id))

    @admin.action(description=lazy("Export as JSON"))
    def export(self, request: HttpRequest, tools: QuerySet[CustomTool]) -> HttpResponse | None:
        chosen = list(tools)
        if share_names(chosen):
            messages.error(request, ONE_NAME_TWICE)
            return None
        return _download(chosen, name=chosen[0].name if len(chosen) == 1 else "tools")

    @admin.action(description=lazy("Copy to another project"), permissions=["add"])
    def copy(self, request: HttpRequest, tools: QuerySet[CustomTool]) -> HttpResponse | None:
        """Ask for the project, then save the definitions there. Secrets aren't copied."""
        chosen = list(tools)
        if share_names(chosen):
            messages.error(request, ONE_NAME_TWICE)
            return None
        form = TargetForm(request.POST if "post" in request.POST else None, projects=Project.objects.order_by("name"))
        definitions = {tool.name: tool.definition for tool in chosen}
        if form.is_bound and form.is_valid() and form.save(definitions, author=member_of(request)):
            return self._imported(request, form)
        title = gettext("Copy to another project")
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": title,
            "form": form,
            "chosen": chosen,
        }
        return TemplateResponse(request, f"{PAGES}copy.html", context)

    # Removal and switches

    def delete_model(self, request: HttpRequest, obj: CustomTool) -> None:
        """Remove the tool; its versions stay."""
        serve(obj, lambda project: service.remove(project, obj.name, author=member_of(request)))

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """List the tool and the steps that name it. Its versions are kept, so they aren't listed."""
        return (
            [line for obj in objs for line in (str(obj), steps_left(obj))],
            {self.opts.verbose_name_plural: len(objs)},
            set(),
            [],
        )

    @admin.action(description=lazy("Turn on"))
    def enable(self, request: HttpRequest, tools: QuerySet[CustomTool]) -> None:
        switched = [tool for tool in tools if self._is_served(request, tool, service.enable)]
        messages.success(
            request,
            gettext("%(switched)s of %(tools)s tools are on.") % {"switched": len(switched), "tools": len(tools)},
        )

    @admin.action(description=lazy("Turn off"))
    def disable(self, request: HttpRequest, tools: QuerySet[CustomTool]) -> HttpResponse | None:
        """Turn the tools off. Asks for confirmation if steps of a scenario name one of them."""
        chosen = [(tool, steps_left(tool) if tool.is_enabled else []) for tool in tools]
        if "post" not in request.POST and any(steps for _, steps in chosen):
            title = ngettext("Turn off %(number)s tool?", "Turn off %(number)s tools?", len(chosen))
            title %= {"number": len(chosen)}
            context = {**self.admin_site.each_context(request), "opts": self.opts, "title": title, "chosen": chosen}
            return TemplateResponse(request, f"{PAGES}switch_off.html", context)
        switched = [tool for tool in tools if self._is_served(request, tool, service.disable)]
        messages.success(
            request,
            gettext("%(switched)s of %(tools)s tools are off.") % {"switched": len(switched), "tools": len(tools)},
        )
        return None

    @admin.action(description=lazy("Rotate the signing secret"))
    def new_signing_secret(self, request: HttpRequest, tools: QuerySet[CustomTool]) -> None:
        """Show each new secret once. The old one stays valid for a day."""
        for tool in tools:
            with tenant_tx(cast(UUID, tool.organization_id)):
                secret = rotate_signing_secret(tool)
            messages.warning(
                request,
                gettext("New signing secret of %(name)s, shown only once: %(secret)s")
                % {"name": tool.name, "secret": secret},
            )

    def _is_served(self, request: HttpRequest, tool: CustomTool, verb: Callable[..., Any]) -> bool:
        try:
            serve(tool, lambda project: verb(project, tool.name, author=member_of(request)))
        except DefinitionRefused as error:
            messages.error(request, f"{tool.name}: {error.message}")
            return False
        return True


def _download(tools: list[CustomTool], *, name: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}.json"'}
    return HttpResponse(registration_text(tools), content_type="application/json", headers=headers)
