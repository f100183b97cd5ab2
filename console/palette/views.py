"""The palette's data as JSON."""

from __future__ import annotations

from dataclasses import asdict

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from console.access import enter
from console.palette.entries import palette_entries
from console.palette.found import find_entries
from projects.models.key import Scope
from tenancy.scope import tenant_tx

LONGEST = 100


@never_cache
@login_required
@require_safe
def palette(request: HttpRequest, project_slug: str) -> HttpResponse:
    """The fixed entries; with `q`, what the search finds."""
    entry = enter(request, project_slug, verb=Scope.READ)
    text = " ".join(request.GET.get("q", "").replace("\x00", "").split())[:LONGEST]
    if not text:
        return JsonResponse({"entries": [asdict(one) for one in palette_entries(entry)]})
    with tenant_tx(entry.project.organization.pk):
        found = find_entries(entry, text)
    return JsonResponse({"entries": [asdict(one) for one in found]})
