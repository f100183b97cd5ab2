"""The history of a custom tool: versions, diff and restore."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from console.access import enter, zone_of
from console.layout import shell_context
from console.timestamps import format_timestamp
from console.tools.listing import list_context
from projects.common.api_error import ApiError
from projects.models.key import Scope
from projects.models.permissions import Entry
from tenancy.scope import tenant_tx
from tools.engine.custom import service
from tools.engine.custom.version_history import author_names, compare_versions, read_number, restored_words


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def tool_history(request: HttpRequest, project_slug: str, tool_name: str) -> HttpResponse:
    """The versions of a custom tool and a diff between two. POST restores a version."""
    is_post = request.method == "POST"
    entry = enter(request, project_slug, verb=Scope.CONFIGURE if is_post else Scope.READ)
    with tenant_tx(entry.project.organization.pk):
        if is_post and _restore(request, entry, tool_name):
            return redirect("tool", project_slug=project_slug, tool_name=tool_name)
        shown = {**list_context(request, entry.project), **_history(request, entry, tool_name)}
    return render(request, "tools/history.html", {**shell_context(request, entry), **shown})


def _restore(request: HttpRequest, entry: Entry, name: str) -> bool:
    """Restore the chosen version as the newest. Return False if it was refused, with a message that says why."""
    number, expected = (read_number(request.POST.get(key, "")) for key in ("restore", "started_from"))
    if number is None or expected is None:
        raise Http404
    try:
        saved = service.restore(entry.project, name, number, author=entry.member, expected_version=expected)
    except ApiError as error:
        messages.error(request, error.message)
        return False
    messages.success(request, restored_words(saved, number))
    return True


def _history(request: HttpRequest, entry: Entry, name: str) -> dict[str, Any]:
    versions = list(service.versions(entry.project, name)[:100])
    if not versions:
        raise Http404
    authors = author_names(versions)
    zone = zone_of(entry)
    rows = [
        {
            "number": version.number,
            "is_enabled": version.is_enabled,
            "is_removed": version.is_removed,
            "author": authors[version.author_id],
            "at": format_timestamp(version.saved_at, zone=zone),
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
        "comparison": compare_versions(versions, asked=request.GET.dict()),
    }
