"""The history of a custom tool: versions, diff and restore."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from console.access import enter, zone_of
from console.layout import shell_context
from console.text_diff import line_differences
from console.timestamps import format_timestamp
from console.tools.catalogue import catalogue_context
from console.tools.definition_text import as_text
from projects.common.api_error import ApiError
from projects.models import Member
from projects.models.key import Scope
from projects.models.permissions import Entry
from tenancy.scope import tenant_tx
from tools.engine.custom import service
from tools.models import CustomToolVersion


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def tool_history(request: HttpRequest, project_slug: str, tool_name: str) -> HttpResponse:
    """The versions of a custom tool and a diff between two. POST restores a version."""
    is_post = request.method == "POST"
    entry = enter(request, project_slug, verb=Scope.CONFIGURE if is_post else Scope.READ)
    with tenant_tx(entry.project.organization.pk):
        if is_post and _restore(request, entry, tool_name):
            return redirect("tool", project_slug=project_slug, tool_name=tool_name)
        shown = {**catalogue_context(request, entry.project), **_history(request, entry, tool_name)}
    return render(request, "tools/history.html", {**shell_context(request, entry), **shown})


def _restore(request: HttpRequest, entry: Entry, name: str) -> bool:
    """Restore the chosen version as the newest. Return False if it was refused, with a message that says why."""
    number, expected = request.POST.get("restore", ""), request.POST.get("started_from", "")
    if not (_is_number(number) and _is_number(expected)):
        raise Http404
    try:
        saved = service.restore(entry.project, name, int(number), author=entry.member, expected_version=int(expected))
    except ApiError as error:
        messages.error(request, error.message)
        return False
    messages.success(request, f"Version {number} restored as version {saved.tool.version}.")
    return True


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


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
        **_comparison(request, {version.number: version for version in versions}),
    }


def _comparison(request: HttpRequest, versions: Mapping[int, CustomToolVersion]) -> dict[str, Any]:
    """The diff between the two requested versions, by default the newest and the one before."""
    numbers = sorted(versions, reverse=True)
    asked = [request.GET.get(side, "") for side in ("from", "to")]
    chosen = [int(text) if _is_number(text) else 0 for text in asked]
    old, new = (
        chosen if all(number in versions for number in chosen) else (numbers[min(1, len(numbers) - 1)], numbers[0])
    )
    texts = [as_text(versions[number].definition) for number in (old, new)]
    return {"old": old, "new": new, "lines": line_differences(*texts), "can_compare": len(numbers) > 1}


def author_names(versions: list[CustomToolVersion]) -> dict[Any, str]:
    """Author names by member id; None expected for an API key."""
    wanted = {version.author_id for version in versions if version.author_id}
    found = {row.pk: row.user.name for row in Member.objects.select_related("user").filter(pk__in=wanted)}
    return {None: "an API key", **{member_id: found.get(member_id, "a former member") for member_id in wanted}}
