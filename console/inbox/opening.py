"""Staff opens a ticket, about a conversation or about none (W06)."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods
from rest_framework.exceptions import ErrorDetail

from console.access import enter
from console.agent.form_fields import FormFields
from console.inbox.tickets import LABELS, UNNAMED
from console.layout import shell_context
from console.search import customer_names
from conversations.api.tickets import TicketInput
from conversations.models import Conversation
from projects.models import User
from projects.models.key import Scope
from projects.models.permissions import Entry
from tenancy.scope import tenant_tx
from tools.models import Ticket, TicketPriority
from tools.services.support.tickets import open_ticket

MOST_BESIDE = 5
FIELDS = {"subject": "Subject", "body": "Text", "priority": "Priority"}


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_ticket(request: HttpRequest, project_slug: str) -> HttpResponse:
    """The form; POST opens the ticket, or says beside each field what is wrong with it."""
    entry = enter(request, project_slug, verb=Scope.OPERATE)
    typed, errors = _typed(request), dict[str, str]()
    with tenant_tx(entry.project.organization.pk):
        about = _about(entry, request)
        if request.method == "POST" and not (errors := _problems(typed)):
            opened = _open(entry, cast(User, request.user), typed, about=about)
            messages.success(request, f"Ticket #{opened.number} is open.")
            return redirect("ticket", project_slug=project_slug, ticket_id=opened.pk)
        shown = _shown(typed, errors, about=about)
    context = {**shell_context(request, entry), **shown}
    return render(request, "desk/new_ticket.html", context, status=422 if errors else 200)


def tickets_beside(conversation_id: UUID) -> dict[str, Any]:
    """The tickets of a conversation, as its page shows them beside it."""
    rows = list(Ticket.objects.filter(conversation_id=conversation_id).order_by("-number"))
    newest = [
        {"id": row.pk, "number": row.number, "subject": row.subject, "state": LABELS[row.state]}
        for row in rows[:MOST_BESIDE]
    ]
    return {"rows": newest, "count": len(rows)}


def _typed(request: HttpRequest) -> dict[str, str]:
    """What stands in the form: nothing yet, or what was written, with the line ends of any machine."""
    texts = {name: request.POST.get(name, "").replace("\x00", "").replace("\r\n", "\n") for name in FIELDS}
    return {**texts, "subject": texts["subject"].strip(), "priority": texts["priority"] or TicketPriority.NORMAL.value}


def _problems(typed: dict[str, str]) -> dict[str, str]:
    """What the API would refuse, in a sentence for each field."""
    read = TicketInput(data=typed)
    read.is_valid()
    return {name: f"{FIELDS[name]} {_words(found[0])}" for name, found in read.errors.items()}


def _words(error: ErrorDetail) -> str:
    return "is empty." if error.code == "blank" else str(error)


def _about(entry: Entry, request: HttpRequest) -> Conversation | None:
    """The conversation that the ticket is about. Raises Http404 for another project's as for none."""
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


def _open(entry: Entry, user: User, typed: dict[str, str], *, about: Conversation | None) -> Ticket:
    return open_ticket(
        entry.project.pk,
        subject=typed["subject"],
        body=typed["body"],
        priority=typed["priority"],
        conversation_id=about.pk if about else None,
        persona_id=about.persona_id if about else None,
        by=user,
        actor=user.name,
    )


def _shown(typed: dict[str, str], errors: dict[str, str], *, about: Conversation | None) -> dict[str, Any]:
    boxes = FormFields(errors)
    names = customer_names([about.persona_id]) if about else {}
    return {
        **{name: boxes.field(name, typed[name]) for name in FIELDS},
        "priorities": TicketPriority.choices,
        "about": about,
        "customer": names.get(about.persona_id, UNNAMED) if about else "",
    }
