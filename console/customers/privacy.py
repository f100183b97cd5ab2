"""Export and erasure of one customer."""

from __future__ import annotations

from functools import partial
from typing import Any, cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from console.access import enter, signed_in_user
from conversations.common.merged import find_persona
from conversations.handover.attachments import waiting_files
from conversations.models import Attachment, Conversation, Persona
from privacy.erasure.request import request_erasure
from privacy.export.customer import CustomerExport
from privacy.export.request import begin_customer_export
from privacy.export.zip_stream import zip_response
from projects.models import User
from projects.models.key import Scope
from projects.models.permissions import enter_project
from tenancy.prepared_queries import PreparedCounts
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from todos.attention import IS_WAITING
from todos.models import Todo
from tools.models import Booking, BookingState, Ticket, TicketState


def erasure_preview(persona: Persona) -> dict[str, int]:
    """The losses of an erasure: files, upcoming bookings, and work that is still open."""
    conversations, sent, waiting, upcoming, todos, tickets, merged = _LOSSES(persona.project_id, persona.pk)
    return {
        "conversations": conversations,
        "files": sent + waiting,
        "upcoming": upcoming,
        "open_todos": todos,
        "open_tickets": tickets,
        "merged": merged,
    }


def _losses(project: UUID, persona: UUID) -> list[QuerySet[Any]]:
    theirs = {"persona_id": persona}
    # A file for the next message waits under a name of the customer, or of those merged into them.
    names = Persona.objects.filter(Q(pk=persona) | Q(merged_into_id=persona)).values("external_id")
    return [
        Conversation.objects.filter(**theirs),
        Attachment.objects.filter(conversation__persona_id=persona),
        waiting_files(project, names),
        Booking.objects.filter(**theirs, state=BookingState.CONFIRMED, starts_at__gt=Now()),
        Todo.objects.filter(IS_WAITING, **theirs),
        Ticket.objects.filter(**theirs).exclude(state=TicketState.CLOSED),
        Persona.objects.filter(merged_into_id=persona),
    ]


_LOSSES = PreparedCounts(_losses, kinds=(UUID, UUID))


@require_safe
async def export_person(request: HttpRequest, project_slug: str, persona_id: UUID) -> HttpResponseBase:
    """Download everything about a customer. All database work runs in the threads of `in_db`."""
    user = await in_db(signed_in_user, request)
    if user is None:
        return redirect_to_login(request.get_full_path())
    export = await in_db(_begin, user, project_slug, persona_id)
    return zip_response(export.pieces(), name=export.file_name, organization_id=export.organization_id)


@login_required
@require_POST
def erase_person(request: HttpRequest, project_slug: str, persona_id: UUID) -> HttpResponse:
    """Erase a customer for good, once the box in the dialog is ticked."""
    entry = enter(request, project_slug, verb=Scope.OPERATE)
    with tenant_tx(entry.project.organization.pk):
        if find_persona(entry.project.pk, persona_id) is None:
            raise Http404
    if not request.POST.get("understood"):
        messages.error(request, gettext("Confirm that you understand this can’t be undone."))
        return redirect("person", project_slug=project_slug, persona_id=persona_id)
    with tenant_tx(entry.project.organization.pk):
        request_erasure(entry.project, persona_id, by=cast(User, request.user))
    messages.success(request, gettext("Erasing. Follow the progress under Configuration → Privacy."))
    return redirect("people", project_slug=project_slug)


def _begin(user: User, project_slug: str, persona_id: UUID) -> CustomerExport:
    authorize = partial(enter_project, user, project_slug, verb=Scope.OPERATE)
    entry = authorize()
    with tenant_tx(entry.project.organization.pk):
        return begin_customer_export(entry.project, persona_id, authorize=authorize, by=user)
