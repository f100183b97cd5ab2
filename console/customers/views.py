"""Views of customers: the list, one customer, and the merge of two."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_safe

from console.access import enter
from console.customers.listing import parse_people_query, people_context
from console.customers.merging import choice_context, preview_context
from console.customers.person import get_person, person_context
from console.layout import shell_context
from console.parameters import parse_uuid
from conversations.customers.merge import merge_customers
from conversations.models import Persona
from projects.common.api_error import ApiError
from projects.models import User
from projects.models.key import Scope
from projects.models.permissions import Entry
from tenancy.scope import tenant_tx


@login_required
@require_safe
def people(request: HttpRequest, project_slug: str) -> HttpResponse:
    """The list of customers, newest first, or a search."""
    entry = enter(request, project_slug, verb=Scope.READ)
    with tenant_tx(entry.project.organization.pk):
        context = people_context(entry, parse_people_query(request.GET))
    return render(request, "customers/people.html", {**shell_context(request, entry), **context})


@login_required
@require_safe
def person(request: HttpRequest, project_slug: str, persona_id: UUID) -> HttpResponse:
    """One customer. The id of a merged customer redirects to the one they were merged into."""
    entry = enter(request, project_slug, verb=Scope.READ)
    with tenant_tx(entry.project.organization.pk):
        found = get_person(entry, persona_id)
        if found.pk != persona_id:
            return redirect("person", project_slug=project_slug, persona_id=found.pk)
        context = person_context(entry, found, before=parse_uuid(request.GET.get("before", "")))
    return render(request, "customers/person.html", {**shell_context(request, entry), **context})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def merge(request: HttpRequest, project_slug: str, persona_id: UUID) -> HttpResponse:
    """Choose a second customer (`q`), see what moves (`with`), and merge by POST. A refusal shows the page anew."""
    entry = enter(request, project_slug, verb=Scope.OPERATE)
    other = parse_uuid((request.POST if request.method == "POST" else request.GET).get("with", ""))
    try:
        if request.method == "POST":
            _merge(request, entry, persona_id, other)
            return redirect("person", project_slug=project_slug, persona_id=persona_id)
        context, status = _merge_context(request, entry, persona_id, other), 200
    except ApiError as error:
        messages.error(request, error.message)
        context, status = _after_refusal(request, entry, persona_id, other), error.status_code
    return render(request, "customers/merge.html", {**shell_context(request, entry), **context}, status=status)


def _merge(request: HttpRequest, entry: Entry, persona_id: UUID, other: UUID | None) -> None:
    if other is None:
        raise Http404
    with tenant_tx(entry.project.organization.pk):
        _unmerged(entry, persona_id)
        seen = request.POST.get("seen", "")
        merge_customers(entry.project, persona_id, other, seen=seen, by=cast(User, request.user))
    messages.success(request, gettext("Merged. This page now shows everything from both."))


def _merge_context(request: HttpRequest, entry: Entry, persona_id: UUID, other: UUID | None) -> dict[str, Any]:
    with tenant_tx(entry.project.organization.pk):
        found = _unmerged(entry, persona_id)
        if other is not None:
            return preview_context(entry, found, other)
        return choice_context(entry, found, parse_people_query(request.GET))


def _after_refusal(request: HttpRequest, entry: Entry, persona_id: UUID, other: UUID | None) -> dict[str, Any]:
    """The preview as it is now; the search if there is none any more."""
    try:
        return _merge_context(request, entry, persona_id, other)
    except ApiError:
        return _merge_context(request, entry, persona_id, None)


def _unmerged(entry: Entry, persona_id: UUID) -> Persona:
    found = get_person(entry, persona_id)
    if found.pk != persona_id:
        raise Http404
    return found
