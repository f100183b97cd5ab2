"""Pages of abilities: one ability with its tools, and the address that the settings had for them."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from console.access import enter
from console.layout import shell_context
from console.tools.ability_list import BY_KEY, Ability
from console.tools.ability_switches import AbilityTrigger, change_ability
from console.tools.listing import list_context
from console.undo import announce_undoable
from projects.common.api_error import ApiError
from projects.common.translation import lazy
from projects.models import User
from projects.models.key import Scope
from projects.models.permissions import Entry
from tenancy.scope import tenant_tx

# Sentences for a notice, by trigger and state.
DONE = {
    (AbilityTrigger.REPLY, True): lazy("On during the reply: {title}."),
    (AbilityTrigger.REPLY, False): lazy("Off during the reply: {title}."),
    (AbilityTrigger.PROMISE, True): lazy("On after a promise: {title}."),
    (AbilityTrigger.PROMISE, False): lazy("Off after a promise: {title}."),
    (AbilityTrigger.TODO, True): lazy("On in todos: {title}."),
    (AbilityTrigger.TODO, False): lazy("Off in todos: {title}."),
}


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def ability(request: HttpRequest, project_slug: str, ability_key: str) -> HttpResponse:
    """One ability with its triggers. POST turns one of them on or off."""
    is_post = request.method == "POST"
    entry = enter(request, project_slug, verb=Scope.CONFIGURE if is_post else Scope.READ)
    if ability_key not in BY_KEY:
        raise Http404
    with tenant_tx(entry.project.organization.pk):
        if is_post:
            _turn(request, entry, BY_KEY[ability_key])
        else:
            shown = _ability_context(request, entry, ability_key)
    if not is_post:
        return render(request, "tools/ability.html", {**shell_context(request, entry), **shown})
    query = f"?{request.GET.urlencode()}" if request.GET else ""
    if "from_list" in request.POST:
        return redirect(f"{redirect('tools', project_slug=project_slug).url}{query}")
    return redirect(f"{request.path}{query}")


@login_required
@require_safe
def old_settings(request: HttpRequest, project_slug: str) -> HttpResponse:
    """Redirect the address of the settings' section Abilities, which the page Tools replaced."""
    return redirect("tools", project_slug=project_slug)


def _ability_context(request: HttpRequest, entry: Entry, key: str) -> dict[str, Any]:
    shown = list_context(request, entry.project)
    row = next((one.row for one in shown["abilities"] if one.row.key == key), None)
    if row is None:
        raise Http404
    tools = [shown["entries"][name] for name in row.tools]
    return {**shown, "current_ability": key, "ability": row, "tools": tools, "name": row.title}


def _turn(request: HttpRequest, entry: Entry, ability: Ability) -> None:
    trigger, value = request.POST.get("trigger", ""), request.POST.get("value", "")
    if trigger not in set(AbilityTrigger) or value not in ("on", "off"):
        raise Http404
    which, is_on = AbilityTrigger(trigger), value == "on"
    try:
        has_switch = change_ability(entry.project, ability, which, is_on=is_on, by=cast(User, request.user))
    except ApiError as error:
        messages.error(request, error.message)
        return
    if not has_switch:
        raise Http404
    words = DONE[which, is_on].format(title=ability.title)
    announce_undoable(request, entry, words, kind="ability", ability=ability.key, trigger=trigger, was=not is_on)
