"""Tools: the catalogue, one of them with its editor, and the history of a project's own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from console.access import enter, zone_of
from console.layout import shell_context
from console.text_diff import line_differences
from console.timestamps import moment_of
from console.tools.catalogue import (
    CHANNELS,
    MOMENTS,
    approvals_of,
    arguments_of,
    by_channel,
    catalogue_of,
    gates_of,
    is_used,
    reason_of,
    usage_of,
)
from projects.common.api_error import ApiError
from projects.models import Member, Project
from projects.models.key import Scope
from projects.models.permissions import Entry
from projects.records.attributes import WrongValue, resolve_attributes, set_attribute
from tenancy.scope import tenant_tx
from tools.engine.catalogue import BUILT_IN, CompiledTool, compile_tools
from tools.engine.custom import service
from tools.engine.custom.scenario_references import steps_naming_only
from tools.engine.custom.secrets import has_signing_secret, secret_names
from tools.engine.definition import ActionType
from tools.engine.validation.definition import FIELDS
from tools.models import CustomTool, CustomToolVersion

# What a new tool begins as: it can be saved, and says what to change.
TEMPLATE: Mapping[str, Any] = {
    "description": "Tells the kitchen about an allergy or a diet.",
    "conditions": {
        "agentPromised": {
            "type": "boolean",
            "description": "The agent commits, in this answer, to tell the kitchen now.",
        }
    },
    "useConversationHistory": True,
    "action": {
        "type": "send_webhook",
        "options": {
            "url": "https://example.com/kitchen",
            "method": "POST",
            "body": {
                "type": "object",
                "properties": {"note": {"type": "string", "description": "What the kitchen has to know"}},
                "required": ["note"],
            },
        },
    },
}
# Names inside a definition, in the order in which they are read. static/js/tools/draft.js has them too.
PARTS = (
    "type",
    "description",
    "url",
    "method",
    "query",
    "headers",
    "body",
    "properties",
    "items",
    "required",
    "options",
)
ACTIONS = {
    ActionType.SEND_EVENT: "The system event of its name",
    ActionType.SEND_WEBHOOK: "A webhook",
    ActionType.SEND_URGENT_MESSAGE: "A message to the agent, at once",
}


@login_required
@require_safe
def tools(request: HttpRequest, project_slug: str) -> HttpResponse:
    """The catalogue on a channel."""
    entry = enter(request, project_slug, verb=Scope.READ)
    with tenant_tx(entry.project.organization.pk):
        shown = _list(request, entry.project)
    return render(request, "tools/tools.html", {**shell_context(request, entry), **shown})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def tool(request: HttpRequest, project_slug: str, tool_name: str) -> HttpResponse:
    """One tool; POST switches it, changes a setting that it depends on, or removes it."""
    is_post = request.method == "POST"
    entry = enter(request, project_slug, verb=Scope.CONFIGURE if is_post else Scope.READ)
    with tenant_tx(entry.project.organization.pk):
        if is_post:
            target = _change(request, entry, tool_name)
        else:
            shown = _one(request, entry, tool_name)
    if is_post:
        query = f"?{request.GET.urlencode()}" if request.GET else ""
        return redirect(f"{request.path}{query}") if target == "tool" else redirect(target, project_slug=project_slug)
    return render(request, "tools/tool.html", {**shell_context(request, entry), **shown})


@login_required
@require_safe
def new_tool(request: HttpRequest, project_slug: str) -> HttpResponse:
    """An editor for a tool that isn't there yet; `?from=` begins with the definition of another one."""
    entry = enter(request, project_slug, verb=Scope.CONFIGURE)
    with tenant_tx(entry.project.organization.pk):
        shown = _list(request, entry.project)
        original = shown["compiled"].get(request.GET.get("from", ""))
        draft = original.definition.model_dump(mode="json", by_alias=True, exclude_none=True) if original else TEMPLATE
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


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def tool_history(request: HttpRequest, project_slug: str, tool_name: str) -> HttpResponse:
    """The versions of a project's own tool, what differs between two; POST restores one."""
    is_post = request.method == "POST"
    entry = enter(request, project_slug, verb=Scope.CONFIGURE if is_post else Scope.READ)
    with tenant_tx(entry.project.organization.pk):
        if is_post and _restore(request, entry, tool_name):
            return redirect("tool", project_slug=project_slug, tool_name=tool_name)
        shown = {**_list(request, entry.project), **_history(request, entry, tool_name)}
    return render(request, "tools/history.html", {**shell_context(request, entry), **shown})


def as_text(definition: Mapping[str, Any]) -> str:
    """A definition as its editor shows it: the database keeps no order of names, so they stand in the schema's."""
    return json.dumps(_in_order(definition, FIELDS), ensure_ascii=False, indent=2)


def _in_order(value: Any, names: Sequence[str] = PARTS) -> Any:
    if isinstance(value, list):
        return [_in_order(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    known = [name for name in names if name in value]
    return {name: _in_order(value[name]) for name in [*known, *(name for name in value if name not in known)]}


def _list(request: HttpRequest, project: Project) -> dict[str, Any]:
    asked = request.GET.get("channel", "")
    channel = asked if asked in dict(CHANNELS) else "chat"
    return {**catalogue_of(project, channel=channel), "channel": channel, "channels": CHANNELS}


def _one(request: HttpRequest, entry: Entry, name: str) -> dict[str, Any]:
    project, zone = entry.project, zone_of(entry)
    listed = _list(request, project)
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
        "action": ACTIONS[compiled.definition.action.type] if compiled else "",
        "is_custom": is_custom,
        "is_removed": row is not None and row.is_removed and compiled is None,
        "has_history": row is not None,
        "covers": compiled is not None and compiled.overrides == BUILT_IN,
        "why_not": reason_of(compiled, attributes) if compiled else "",
        "gates": gates_of(name, attributes),
        "approvals": approvals_of(compiled, attributes) if compiled else [],
        "usage": usage_of(project, name),
        "moments": [MOMENTS[moment] for moment in compiled.moments] if compiled else [],
        **(_used(project, compiled) if compiled and is_used(compiled) else {}),
        "tab": request.GET.get("tab", "definition"),
        **(_own(row, zone=zone) if row is not None and is_custom else _built_in_text(compiled)),
        "steps": steps_naming_only(project, name),
    }


def _used(project: Project, compiled: CompiledTool) -> dict[str, Any]:
    """What is shown of a tool that the model calls itself."""
    there = by_channel(project, compiled.name)
    return {"is_used": True, "there": there, "arguments": arguments_of(compiled)}


def _own(row: CustomTool, *, zone: str) -> dict[str, Any]:
    newest = row.versions.order_by("-number").first()
    return {
        "row": row,
        "text": as_text(row.definition),
        "version": row.version,
        "is_enabled": row.is_enabled,
        "is_webhook": row.definition.get("action", {}).get("type") == ActionType.SEND_WEBHOOK,
        "has_signing_secret": has_signing_secret(row),
        "secret_headers": secret_names(row),
        "saved_by": _authors([newest])[newest.author_id] if newest else "",
        "saved_at": moment_of(newest.saved_at if newest else row.updated_at, zone=zone),
    }


def _built_in_text(compiled: CompiledTool | None) -> dict[str, Any]:
    if compiled is None:
        return {"text": ""}
    return {
        "text": as_text(compiled.definition.model_dump(mode="json", by_alias=True, exclude_none=True)),
        "version": 0,
    }


def _change(request: HttpRequest, entry: Entry, name: str) -> str:
    """Do what the form asks for; answers with where to go then."""
    project, wish = entry.project, request.POST.get("do", "")
    try:
        if wish == "gate":
            _switch_gate(request, project, name)
        elif wish in ("on", "off"):
            switch = service.enable if wish == "on" else service.disable
            switch(project, name, author=entry.member)
            messages.success(request, f"{name} is {wish}, from the next turn on.")
        elif wish == "remove":
            service.remove(project, name, author=entry.member)
            messages.success(
                request, f"{name} is removed. Its versions stay under History, where it can be brought back."
            )
        else:
            raise Http404
    except ApiError as error:
        messages.error(request, error.message)
    return "tools" if wish == "remove" else "tool"


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
        messages.success(request, f"“{gate.label}” is set, from the next turn on.")


def _restore(request: HttpRequest, entry: Entry, name: str) -> bool:
    """Make the chosen version the newest. False when it was refused; the sentence says why."""
    number, stands = request.POST.get("restore", ""), request.POST.get("started_from", "")
    if not (_is_number(number) and _is_number(stands)):
        raise Http404
    try:
        saved = service.restore(entry.project, name, int(number), author=entry.member, expected_version=int(stands))
    except ApiError as error:
        messages.error(request, error.message)
        return False
    messages.success(request, f"Version {number} is back, as version {saved.tool.version}.")
    return True


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


def _history(request: HttpRequest, entry: Entry, name: str) -> dict[str, Any]:
    versions = list(service.versions(entry.project, name)[:100])
    if not versions:
        raise Http404
    authors = _authors(versions)
    zone = zone_of(entry)
    rows = [
        {
            "number": version.number,
            "is_enabled": version.is_enabled,
            "is_removed": version.is_removed,
            "author": authors[version.author_id],
            "at": moment_of(version.saved_at, zone=zone),
        }
        for version in versions
    ]
    tool_row = versions[0].tool
    return {
        "name": name,
        "versions": rows,
        "live": 0 if tool_row.is_removed else tool_row.version,
        "started_from": 0 if tool_row.is_removed else tool_row.version,
        "is_removed": tool_row.is_removed,
        "is_custom": True,
        **_comparison(request, {version.number: version for version in versions}),
    }


def _comparison(request: HttpRequest, versions: Mapping[int, CustomToolVersion]) -> dict[str, Any]:
    """The two that the address names, otherwise the newest against the one before."""
    numbers = sorted(versions, reverse=True)
    asked = [request.GET.get(side, "") for side in ("from", "to")]
    chosen = [int(text) if _is_number(text) else 0 for text in asked]
    old, new = (
        chosen if all(number in versions for number in chosen) else (numbers[min(1, len(numbers) - 1)], numbers[0])
    )
    texts = [as_text(versions[number].definition) for number in (old, new)]
    return {"old": old, "new": new, "lines": line_differences(*texts), "can_compare": len(numbers) > 1}


def _authors(versions: list[CustomToolVersion]) -> dict[Any, str]:
    """Names by the member's id; a version that an API key saved has none."""
    wanted = {version.author_id for version in versions if version.author_id}
    found = {row.pk: row.user.name for row in Member.objects.select_related("user").filter(pk__in=wanted)}
    return {None: "an API key", **{member_id: found.get(member_id, "a former member") for member_id in wanted}}
