"""The resources page: tables, rooms and people that can be booked."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST

from console.bookings.forms import NewResourcesForm, ResourceForm
from console.layout import shell_context
from console.people.refusals import refusals, take_refusals
from console.restorations import snapshot_of
from console.undo import announce_undoable
from projects.common.api_error import Conflict
from projects.models import User
from projects.models.key import Scope
from projects.models.permissions import Entry, enter_project
from tenancy.scope import tenant_tx
from tools.models import Resource, ResourceKind
from tools.services.bookings.booking_request import display_order
from tools.services.bookings.date_words import join_words
from tools.services.bookings.opening import Opening
from tools.services.bookings.resources import change_resource, create_resource, remove_resource
from tools.services.bookings.search import config_of

INITIAL = {"kind": ResourceKind.TABLE, "capacity": 4, "slot_minutes": 90, "count": 1, "is_active": True}


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def resources(request: HttpRequest, project_slug: str) -> HttpResponse:
    """List resources; POST creates one or several."""
    is_post = request.method == "POST"
    entry = _enter(request, project_slug, verb=Scope.CONFIGURE if is_post else Scope.READ)
    form = NewResourcesForm(request.POST if is_post else None, initial=INITIAL)
    if is_post and form.is_valid() and _create(entry, form):
        messages.success(request, gettext("Added %(names)s.") % {"names": join_words(form.names)})
        return redirect("resources", project_slug)
    return render(request, "bookings/resources.html", _context(request, entry, form=form))


@login_required
@require_POST
def change(request: HttpRequest, project_slug: str, resource_id: UUID) -> HttpResponse:
    """Change, activate or deactivate a resource."""
    entry = _enter(request, project_slug, verb=Scope.CONFIGURE)
    form = ResourceForm(request.POST)
    with refusals(request, about=resource_id), tenant_tx(entry.project.organization.pk):
        resource = _find(entry, resource_id)
        if not form.is_valid():
            raise Conflict(form.problem)
        try:
            change_resource(resource, form.cleaned_data)
        except Resource.DoesNotExist:
            raise Http404 from None
        messages.success(request, gettext("%(name)s saved.") % {"name": form.cleaned_data["name"]})
    return redirect("resources", project_slug)


@login_required
@require_POST
def remove(request: HttpRequest, project_slug: str, resource_id: UUID) -> HttpResponse:
    """Remove a resource without bookings."""
    entry = _enter(request, project_slug, verb=Scope.CONFIGURE)
    with refusals(request, about=resource_id), tenant_tx(entry.project.organization.pk):
        resource = _find(entry, resource_id)
        kept = snapshot_of(resource)
        remove_resource(resource)
        announce_undoable(
            request, entry, gettext("%(name)s removed.") % {"name": resource.name}, kind="resource", kept=kept
        )
    return redirect("resources", project_slug)


def _enter(request: HttpRequest, slug: str, *, verb: Scope) -> Entry:
    return enter_project(cast(User, request.user), slug, verb=verb)


def _find(entry: Entry, resource_id: UUID) -> Resource:
    found = Resource.objects.filter(project=entry.project, pk=resource_id).first()
    if found is None:
        raise Http404
    return found


def _create(entry: Entry, form: NewResourcesForm) -> bool:
    """Create all resources or none. Return False with an error on the form."""
    rest = {name: form.cleaned_data[name] for name in ("kind", "capacity", "slot_minutes")}
    try:
        with tenant_tx(entry.project.organization.pk), transaction.atomic():
            for name in form.names:
                create_resource(entry.project, name=name, **rest)
    except Conflict as error:
        form.add_error("name", error.message)
        return False
    return True


def _context(request: HttpRequest, entry: Entry, *, form: NewResourcesForm) -> dict[str, Any]:
    refused = take_refusals(request)
    with tenant_tx(entry.project.organization.pk):
        rows = sorted(
            Resource.objects.filter(project=entry.project).annotate(booked=Count("bookings")), key=display_order
        )
    config = config_of(entry.project)
    active = [row for row in rows if row.is_active]
    return {
        **shell_context(request, entry),
        "rows": [{"resource": row, "refused": refused.get(str(row.pk), ""), "booked": row.booked} for row in rows],
        "form": form,
        "kinds": ResourceKind.choices,
        "active": len(active),
        "seats": sum(row.capacity for row in active),
        "has_hours": bool(config.hours),
        "zone": Opening(config).config.timezone.replace("_", " "),
    }
