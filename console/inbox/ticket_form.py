"""The form for a new ticket, with or without a conversation."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods
from rest_framework.exceptions import ErrorDetail

from console.access import enter
from console.agent.form_fields import FormFields
from console.inbox.ticket_list import LABELS, UNNAMED
from console.layout import shell_context
from conversations.api.tickets import TicketInput
from conversations.common.customer_names import customer_names
from conversations.models import Conversation
from projects.common.translation import lazy
from projects.models import User
from projects.models.key import Scope
from projects.models.permissions import Entry
from tenancy.prepared_queries import PreparedQuery
from tenancy.scope import tenant_tx
from tools.models import Ticket, TicketPriority
from tools.services.support.tickets import open_ticket

MOST_RELATED = 5
FIELDS = {"subject": lazy("Subject"), "body": lazy("Description"), "priority": lazy("Priority")}


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_ticket(request: HttpRequest, project_slug: str) -> HttpResponse:
    """The form. POST opens the ticket, or shows an error next to each invalid field."""
    entry = enter(request, project_slug, verb=Scope.OPERATE)
    form, errors = _submitted(request), dict[str, str]()
    with tenant_tx(entry.project.organization.pk):
        about = _about(entry, request)
        if request.method == "POST" and not (errors := _errors(form)):
            opened = _open(entry, cast(User, request.user), form, about=about)
            messages.success(request, gettext("Ticket #%(number)s created.") % {"number": opened.number})
            return redirect("ticket", project_slug=project_slug, ticket_id=opened.pk)
        shown = _shown(form, errors, about=about)
    context = {**shell_context(request, entry), **shown}
    return render(request, "inbox/new_ticket.html", context, status=422 if errors else 200)


def related_tickets(conversation_id: UUID) -> dict[str, Any]:
    """Tickets shown next to a conversation's transcript."""
    rows = _TICKETS(conversation_id)
    newest = [
        {"id": row.pk, "number": row.number, "subject": row.subject, "state": LABELS[row.state]}
        for row in rows[:MOST_RELATED]
    ]
    return {"rows": newest, "count": len(rows)}


_TICKETS = PreparedQuery(
    lambda conversation: Ticket.objects.filter(conversation_id=conversation).order_by("-number"), kinds=(UUID,)
)


def _submitted(request: HttpRequest) -> dict[str, str]:
    """Form values, with normalized line endings."""
    texts = {name: request.POST.get(name, "").replace("\x00", "").replace("\r\n", "\n") for name in FIELDS}
    return {**texts, "subject": texts["subject"].strip(), "priority": texts["priority"] or TicketPriority.NORMAL.value}


def _errors(form: dict[str, str]) -> dict[str, str]:
    """Validation errors of the API's serializer, by field."""
    read = TicketInput(data=form)
    read.is_valid()
    return {name: _sentence(FIELDS[name], found[0]) for name, found in read.errors.items()}


def _sentence(label: str, error: ErrorDetail) -> str:
    if error.code == "blank":
        return gettext("%(field)s is required.") % {"field": label}
    return f"{label} {error}"


def _about(entry: Entry, request: HttpRequest) -> Conversation | None:
    """The conversation the ticket is about. Raises Http404 if it doesn't exist in this project."""
    asked = request.POST.get("conversation") or request.GET.get("conversation")
    if not asked:
        return None
    try:
        found = Conversation.objects.filter(project=entry.project, pk=UUID(asked)).first()
    except ValueError as error:
        raise Http404 from error
    if found is None:
        raise Http404
    return found


def _open(entry: Entry, user: User, form: dict[str, str], *, about: Conversation | None) -> Ticket:
    return open_ticket(
        entry.project.pk,
        subject=form["subject"],
        body=form["body"],
        priority=form["priority"],
        conversation_id=about.pk if about else None,
        persona_id=about.persona_id if about else None,
        by=user,
        actor=user.name,
    )


def _shown(form: dict[str, str], errors: dict[str, str], *, about: Conversation | None) -> dict[str, Any]:
    boxes = FormFields(errors)
    names = customer_names([about.persona_id]) if about else {}
    return {
        **{name: boxes.field(name, form[name]) for name in FIELDS},
        "priorities": TicketPriority.choices,
        "about": about,
        "customer": names.get(about.persona_id, UNNAMED) if about else "",
    }
