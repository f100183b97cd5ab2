"""Views of calls: the list, and what staff does with a live call."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from console.access import enter
from console.calls.listing import calls_context
from console.layout import shell_context
from console.parameters import parse_uuid
from conversations.calls.staff import end_call, transfer_call
from conversations.models import Call
from projects.common.api_error import ApiError
from projects.models.key import Scope
from projects.models.permissions import Entry
from tenancy.scope import tenant_tx


@login_required
@require_safe
def calls(request: HttpRequest, project_slug: str) -> HttpResponse:
    """The calls that go on, and those that are over, newest first."""
    entry = enter(request, project_slug, verb=Scope.READ)
    with tenant_tx(entry.project.organization.pk):
        context = calls_context(entry, before=parse_uuid(request.GET.get("before", "")))
    return render(request, "calls/calls.html", {**shell_context(request, entry), **context})


@login_required
@require_POST
def end(request: HttpRequest, project_slug: str, phone_call_id: UUID) -> HttpResponse:
    """Hang up."""
    return _act(
        request, project_slug, lambda entry: end_call(entry.project, phone_call_id), gettext("The call is ending.")
    )


@login_required
@require_POST
def take_over(request: HttpRequest, project_slug: str, phone_call_id: UUID) -> HttpResponse:
    """Transfer the call to the number in `number`."""
    number = request.POST.get("number", "").replace("\x00", "")[:40]
    return _act(
        request,
        project_slug,
        lambda entry: transfer_call(entry.project, phone_call_id, number=number),
        gettext("The call is being transferred to you."),
    )


def _act(request: HttpRequest, project_slug: str, act: Callable[[Entry], Call], done: str) -> HttpResponse:
    entry = enter(request, project_slug, verb=Scope.OPERATE)
    try:
        with tenant_tx(entry.project.organization.pk):
            act(entry)
    except Call.DoesNotExist:
        raise Http404 from None
    except ApiError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, done)
    return redirect("calls", project_slug=project_slug)
