"""Views for the tool catalogue, one tool, the editor and the history."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_safe

from console.access import enter, zone_of
from console.layout import shell_context
from console.timestamps import format_timestamp
from console.tools.catalogue import (
    TRIGGER_LABELS,
    approvals_of,
    arguments_of,
    availability_of,
    gates_of,
    is_model_called,
    reason_of,
    usage_of,
)
from console.tools.listing import list_context
from console.undo import announce_undoable
from projects.common.api_error import ApiError
from projects.common.translation import lazy
from projects.models import Project
from projects.models.key import Scope
from projects.models.permissions import Entry
from projects.records.attributes import WrongValue, resolve_attributes, set_attribute
from tenancy.scope import tenant_tx
from tools.engine.catalogue import BUILT_IN, CompiledTool, compile_tools
from tools.engine.custom import service
from tools.engine.custom.definition_text import EMPTY, as_text
from tools.engine.custom.scenario_references import steps_naming_only
from tools.engine.custom.secrets import has_signing_secret, secret_names
from tools.engine.custom.version_history import author_names
from tools.engine.definition import ActionType
from tools.engine.tool_words import conditions_of, summary_of
from tools.models import CustomTool

ACTIONS = {
    ActionType.SEND_EVENT: lazy("Sends an event with the tool’s name to its subscriber"),
    ActionType.SEND_WEBHOOK: lazy("Calls a webhook"),
    ActionType.SEND_URGENT_MESSAGE: lazy("Sends the agent a message"),
}


@login_required
@require_safe
def tools(request: HttpRequest, project_slug: str) -> HttpResponse:
    """The catalogue on one channel."""
    entry = enter(request, project_slug, verb=Scope.READ)
    with tenant_tx(entry.project.organization.pk):
        shown = list_context(request, entry.project)
    return render(request, "tools/tools.html", {**shell_context(request, entry), **shown})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def tool(request: HttpRequest, project_slug: str, tool_name: str) -> HttpResponse:
    """One tool. POST switches it on or off, changes a setting or removes it."""
    is_post = request.method == "POST"
    entry = enter(request, project_slug, verb=Scope.CONFIGURE if is_post else Scope.READ)
    with tenant_tx(entry.project.organization.pk):
        if is_post:
            target = _change(request, entry, tool_name)
        else:
            shown = _tool_context(request, entry, tool_name)
    if is_post:
        query = f"?{request.GET.urlencode()}" if request.GET else ""
        return redirect(f"{request.path}{query}") if target == "tool" else redirect(target, project_slug=project_slug)
    return render(request, "tools/tool.html", {**shell_context(request, entry), **shown})


@login_required
@require_safe
def new_tool(request: HttpRequest, project_slug: str) -> HttpResponse:
    """The editor for a new tool. `?from=` copies the definition of an existing one."""
    entry = enter(request, project_slug, verb=Scope.CONFIGURE)
    with tenant_tx(entry.project.organization.pk):
        shown = list_context(request, entry.project)
        original = shown["compiled"].get(request.GET.get("from", ""))
        draft = original.definition.model_dump(mode="json", by_alias=True, exclude_none=True) if original else EMPTY
    context = {
        **shell_context(request, entry),
        **shown,
        "name": original.name if original else "",
        "text": as_text(draft),
        "version": 0,
        "is_new": True,
        "is_custom": True,
        "replaces": original.name if original else "",
        "tab": "definition",
    }
    return render(request, "tools/tool.html", context)


def _tool_context(request: HttpRequest, entry: Entry, name: str) -> dict[str, Any]:
    project, zone = entry.project, zone_of(entry)
    listed = list_context(request, project, name=name)
    row = CustomTool.objects.filter(project=project, name=name).first()
    compiled: CompiledTool | None = listed["compiled"].get(name)
    if compiled is None and row is None:
        raise Http404
    attributes = resolve_attributes(project)
    is_custom = row is not None and not row.is_removed
    return {
        **listed,
        "name": name,
        "compiled_tool": compiled,
        "summary": summary_of(compiled) if compiled else "",
        "conditions": conditions_of(compiled) if compiled else [],
        "action": ACTIONS[compiled.definition.action.type] if compiled else "",
        "is_custom": is_custom,
        "is_removed": row is not None and row.is_removed and compiled is None,
        "has_history": row is not None,
        "covers": compiled is not None and compiled.overrides == BUILT_IN,
        "why_not": reason_of(compiled, attributes) if compiled else "",
        "gates": gates_of(name, attributes),
        "approvals": approvals_of(compiled, attributes) if compiled else [],
        "usage": usage_of(project, name),
        "moments": [TRIGGER_LABELS[moment] for moment in compiled.moments] if compiled else [],
        **(_model_called_context(project, compiled) if compiled and is_model_called(compiled) else {}),
        "tab": request.GET.get("tab", "definition"),
        **(_custom_context(row, zone=zone) if row is not None and is_custom else _builtin_context(compiled)),
        "steps": steps_naming_only(project, name),
    }


def _model_called_context(project: Project, compiled: CompiledTool) -> dict[str, Any]:
    """Context for a built-in tool that the model calls itself."""
    availability = availability_of(project, compiled.name)
    return {"is_model_called": True, "availability": availability, "arguments": arguments_of(compiled)}


def _custom_context(row: CustomTool, *, zone: str) -> dict[str, Any]:
    newest = row.versions.order_by("-number").first()
    return {
        "row": row,
        "text": as_text(row.definition),
        "version": row.version,
        "is_enabled": row.is_enabled,
        "is_webhook": row.definition.get("action", {}).get("type") == ActionType.SEND_WEBHOOK,
        "has_signing_secret": has_signing_secret(row),
        "secret_headers": secret_names(row),
        "saved_by": author_names([newest])[newest.author_id] if newest else "",
        "saved_at": format_timestamp(newest.saved_at if newest else row.updated_at, zone=zone),
    }


def _builtin_context(compiled: CompiledTool | None) -> dict[str, Any]:
    if compiled is None:
        return {"text": ""}
    return {
        "text": as_text(compiled.definition.model_dump(mode="json", by_alias=True, exclude_none=True)),
        "version": 0,
    }


def _change(request: HttpRequest, entry: Entry, name: str) -> str:
    """Perform the posted action. Return the URL name to redirect to. Raises Http404 for an unknown action."""
    project, action = entry.project, request.POST.get("do", "")
    try:
        if action == "gate":
            _switch_gate(request, project, name)
        elif action in ("on", "off"):
            switch = service.enable if action == "on" else service.disable
            switch(project, name, author=entry.member)
            sentence = (
                gettext("%(name)s is on from the next turn.")
                if action == "on"
                else gettext("%(name)s is off from the next turn.")
            )
            messages.success(request, sentence % {"name": name})
        elif action == "remove":
            _remove(request, entry, name)
        else:
            raise Http404
    except ApiError as error:
        messages.error(request, error.message)
    return "tools" if action == "remove" else "tool"


def _remove(request: HttpRequest, entry: Entry, name: str) -> None:
    """Remove a custom tool. Its secrets are kept for an undo, still encrypted."""
    kept = service.get(entry.project, name).secrets
    service.remove(entry.project, name, author=entry.member)
    version = service.get_ever(entry.project, name).version
    words = gettext("%(name)s removed. You can restore it from its history.") % {"name": name}
    announce_undoable(request, entry, words, kind="tool", kept=kept, tool=name, version=version)


def _switch_gate(request: HttpRequest, project: Project, name: str) -> None:
    attributes = resolve_attributes(project)
    compiled = next((tool for tool in compile_tools(project, channel="chat") if tool.name == name), None)
    switches = [*gates_of(name, attributes), *(approvals_of(compiled, attributes) if compiled else [])]
    gate = next((one for one in switches if one.key == request.POST.get("key", "")), None)
    if gate is None:
        raise Http404
    try:
        set_attribute(project, gate.key, request.POST.get("value", ""))
    except WrongValue as error:
        messages.error(request, str(error))
    else:
        messages.success(
            request, gettext("“%(label)s” saved. Takes effect from the next turn.") % {"label": gate.label}
        )
