"""Versions of custom tools in the admin."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext

from projects.admin.tenant_admin import TenantAdmin
from projects.common.api_error import ApiError
from projects.common.translation import lazy
from projects.models import Project
from tools.engine.custom import service
from tools.engine.custom.admin.serving import member_of, serve
from tools.engine.custom.version_history import author_names, compare_versions, read_number, restored_words
from tools.engine.validation.problem import DefinitionRefused
from tools.models import CustomTool, CustomToolVersion

MOST_VERSIONS = 100


def versions_context(request: HttpRequest, tool: CustomTool) -> dict[str, Any]:
    """The versions with their authors, and the differences between the two asked for."""

    def read(project: Project) -> dict[str, Any]:
        versions = list(service.versions(project, tool.name)[:MOST_VERSIONS])
        authors = author_names(versions)
        rows = [_row(version, author=authors[version.author_id]) for version in versions]
        return {"versions": rows, "comparison": compare_versions(versions, asked=request.GET.dict())}

    return {**serve(tool, read), "tool": tool, "live": tool.version, "started_from": tool.version}


def restore_version(request: HttpRequest, tool: CustomTool) -> str:
    """Restore the posted version as the newest. Returns what was done, or "" with a message that says why not."""
    number, expected = (read_number(request.POST.get(key, "")) for key in ("restore", "started_from"))
    if number is None or expected is None:
        raise Http404
    author = member_of(request)
    restore = partial(service.restore, name=tool.name, number=number, author=author, expected_version=expected)
    try:
        saved = serve(tool, restore)
    except ApiError as error:
        messages.error(request, error.message)
        return ""
    done = restored_words(saved, number)
    messages.success(request, done)
    return done if saved.is_changed else ""


def _row(version: CustomToolVersion, *, author: str) -> dict[str, Any]:
    return {
        "number": version.number,
        "is_enabled": version.is_enabled,
        "is_removed": version.is_removed,
        "author": author,
        "at": _timestamp(version.saved_at),
    }


def _timestamp(at: datetime) -> dict[str, str]:
    """The admin's form of a time, under the names that the page of versions uses."""
    words = date_format(localtime(at), "DATETIME_FORMAT")
    return {"iso": at.isoformat(), "exact": words, "ago": words}


@admin.register(CustomToolVersion)
class CustomToolVersionAdmin(TenantAdmin):
    list_display = ("tool", "number", "is_enabled", "is_removed", "saved_at")
    list_select_related = ("tool",)
    search_fields = ("tool__name",)
    date_hierarchy = "saved_at"
    actions = ("restore",)

    @admin.action(description=lazy("Restore as the newest version"))
    def restore(self, request: HttpRequest, versions: QuerySet[CustomToolVersion]) -> None:
        for version in versions:
            restore = partial(service.restore, name=version.tool.name, number=version.number, author=member_of(request))
            try:
                serve(version.tool, restore)
            except DefinitionRefused as error:
                messages.error(request, f"{version.tool}: {error.message}")
            else:
                messages.success(
                    request,
                    gettext("%(tool)s is as it was in version %(number)s.")
                    % {"tool": version.tool, "number": version.number},
                )
