"""Version history of the settings: authors, comparison, restore."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from console.access import zone_of
from console.agent.page import newer_version, page_context, tab_url, version_facts
from console.agent.sections import complete
from console.agent.step_tools import lost_tools_warning
from projects.agents.drafts import restore_agent_version
from projects.agents.services import NewerVersion
from projects.common.differences import differences
from projects.models import AgentVersion, Project, User
from projects.models.agent_errors import SettingsRefused
from projects.models.key import Scope
from projects.models.permissions import Entry, enter_project
from tenancy.scope import tenant_tx

SHOWN = 50


@login_required
@require_http_methods(["GET", "POST"])
def history_page(request: HttpRequest, project_slug: str, section: str) -> HttpResponse:
    """List versions and drafts, newest first, and compare two; POST restores one."""
    is_restore = request.method == "POST"
    verb = Scope.CONFIGURE if is_restore else Scope.READ
    entry = enter_project(cast(User, request.user), project_slug, verb=verb)
    return _restore(request, entry) if is_restore else _show(request, entry)


def _restore(request: HttpRequest, entry: Entry) -> HttpResponse:
    number, started_from = _number(request.POST, "restore"), _number(request.POST, "started_from")
    try:
        with tenant_tx(entry.project.organization.pk):
            version = restore_agent_version(
                entry.project, number, started_from=started_from, author=cast(User, request.user)
            )
            warnings = _differences_from(entry.project, number, restored=version)
    except AgentVersion.DoesNotExist as error:
        raise Http404 from error
    except NewerVersion:
        return _show(request, entry, seen=started_from, status=409)
    except SettingsRefused as refusal:
        return _show(
            request,
            entry,
            problem=gettext("Version %(number)s is no longer valid: %(refusal)s")
            % {"number": number, "refusal": refusal},
            status=422,
        )
    if version.is_draft:
        messages.success(request, gettext("Draft restored from version %(number)s.") % {"number": number})
    else:
        messages.success(
            request,
            gettext("Version %(number)s restored as version %(new)s. It’s live now.")
            % {"number": number, "new": version.number},
        )
    for warning in warnings:
        messages.warning(request, warning)
    return redirect(tab_url(entry.project.slug, "history"))


def _differences_from(project: Project, number: int, *, restored: AgentVersion) -> list[str]:
    """A sentence for each way in which the restored settings don't do what they did as version `number`."""
    found = [lost_tools_warning(project, restored.document)]
    asked = AgentVersion.objects.get(project=project, number=number)
    if restored.document["model_base_url"] != asked.document.get("model_base_url", ""):
        found.append(gettext("The model’s address wasn’t restored, because a key is stored. Change it under Models."))
    return list(filter(None, found))


def _show(
    request: HttpRequest, entry: Entry, *, problem: str = "", seen: int | None = None, status: int = 200
) -> HttpResponse:
    """The page. `seen` is the version of a page that is no longer current."""
    context = page_context(request, entry, tab="history")
    if seen is not None:
        problem, context["is_stale"] = newer_version(context, seen=seen), True
    zone, live = zone_of(entry), context["live"]["number"]
    with tenant_tx(entry.project.organization.pk):
        # A draft is compared with what is published, and that with what was published before.
        newest, base = (context["started_from"], live) if context["draft"] else (live, _published_before(entry, live))
        context.update(_versions(entry.project, before=_number(request.GET, "before"), zone=zone))
        context["comparison"] = _comparison(entry.project, request.GET, newest=newest, base=base, zone=zone)
    return render(request, "agent/history.html", {**context, "problem": problem}, status=status)


def _published_before(entry: Entry, number: int) -> int:
    """The version that was published before this one; 0 if there is none."""
    rows = AgentVersion.objects.filter(project=entry.project, is_draft=False, number__lt=number)
    return rows.order_by("-number").values_list("number", flat=True).first() or 0


def _versions(project: Project, *, before: int, zone: str) -> dict[str, Any]:
    rows = AgentVersion.objects.filter(project=project).select_related("author").defer("document").order_by("-number")
    if before:
        rows = rows.filter(number__lt=before)
    found = [version_facts(row, zone=zone) for row in rows[: SHOWN + 1]]
    shown = found[:SHOWN]
    return {"versions": shown, "older": shown[-1]["number"] if len(found) > SHOWN else 0}


def _comparison(project: Project, asked: QueryDict, *, newest: int, base: int, zone: str) -> dict[str, Any] | None:
    """The diff of the requested versions, by default from `base` to the newest; None if either doesn't exist."""
    new = _number(asked, "to") or newest
    old = _number(asked, "from") or (base if new == newest else new - 1)
    rows = AgentVersion.objects.filter(project=project, number__in=(old, new)).select_related("author")
    found = {row.number: row for row in rows}
    if old == new or len(found) < 2:
        return None
    changes = differences(complete(found[old].document), complete(found[new].document))
    old_facts, new_facts = (version_facts(found[number], zone=zone) for number in (old, new))
    return {"old": old_facts, "new": new_facts, "versions": [old_facts, new_facts], "changes": changes}


def _number(asked: QueryDict, name: str) -> int:
    text = asked.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
