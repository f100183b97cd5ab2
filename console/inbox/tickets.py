"""Views for the list of tickets and for one ticket."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from console.access import enter, zone_of
from console.inbox.tabs import tabs_of
from console.layout import shell_context
from console.search import customer_names
from console.timestamps import Timestamp, format_timestamp
from console.undo import announce_undoable, ticket_fields
from projects.common.api_error import ApiError
from projects.common.differences import Change as FieldChange
from projects.models import Member, User
from projects.models.key import Scope
from projects.models.permissions import VERBS, Entry
from tenancy.scope import tenant_tx
from tools.models import Ticket, TicketChange, TicketPriority, TicketState
from tools.services.support.tickets import change_ticket, find_assignee

PAGE = 50
UNNAMED = "Unnamed customer"
LABELS = {TicketState.OPEN.value: "Open", TicketState.PENDING.value: "Pending", TicketState.CLOSED.value: "Closed"}
TONES = {"urgent": ("bad", "alert-triangle"), "high": ("warn", "chevron-up")}
PRIORITIES = dict(TicketPriority.choices)
# Fields whose change fits one line of the history, and fields shown as a diff.
WORDS, TEXTS = ("state", "priority", "assignee"), ("subject", "body")
FIELDS = {
    "state": "Status",
    "priority": "Priority",
    "assignee": "Assignee",
    "subject": "Subject",
    "body": "Description",
}


@dataclass(frozen=True)
class Row:
    """A ticket in the list. `tone` and `icon` are empty for normal and low priority."""

    id: UUID
    number: int
    subject: str
    priority: str
    tone: str
    icon: str
    customer: str
    assignee: str
    at: Timestamp


@dataclass(frozen=True)
class Change:
    """A history entry. `words` describes changed fields; `texts` holds diffs of longer ones."""

    actor: str
    words: Sequence[str]
    texts: Sequence[FieldChange]
    at: Timestamp


@login_required
@require_safe
def tickets(request: HttpRequest, project_slug: str) -> HttpResponse:
    """Tickets in one state, most recently updated first."""
    entry = enter(request, project_slug, verb=Scope.READ)
    asked, page = request.GET.get("state", ""), _page(request.GET.get("page", ""))
    state = asked if asked in LABELS else TicketState.OPEN.value
    with tenant_tx(entry.project.organization.pk):
        own = Ticket.objects.filter(project=entry.project)
        counts = dict(own.order_by().values_list("state").annotate(Count("pk")))
        found = own.filter(state=state).select_related("assignee").order_by("-updated_at", "-number")
        shown = list(found[(page - 1) * PAGE : page * PAGE + 1])
        rows = _rows(entry, shown[:PAGE])
    context = {
        **shell_context(request, entry),
        "state": state,
        "tabs": tabs_of(LABELS, counts, chosen=state),
        "rows": rows,
        "has_any": bool(counts),
        "earlier": page + 1 if len(shown) > PAGE else 0,
        "is_first": page == 1,
    }
    return render(request, "desk/tickets.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def ticket(request: HttpRequest, project_slug: str, ticket_id: UUID) -> HttpResponse:
    """One ticket with its history. POST changes its state, priority or assignee."""
    is_post = request.method == "POST"
    entry = enter(request, project_slug, verb=Scope.OPERATE if is_post else Scope.READ)
    with tenant_tx(entry.project.organization.pk):
        found = Ticket.objects.filter(project=entry.project, pk=ticket_id).select_related("assignee").first()
        if found is None:
            raise Http404
        if is_post:
            _change(request, entry, found)
        else:
            shown = _shown(entry, found)
    if is_post:
        return redirect("ticket", project_slug=project_slug, ticket_id=ticket_id)
    return render(request, "desk/ticket.html", {**shell_context(request, entry), **shown})


def _change(request: HttpRequest, entry: Entry, found: Ticket) -> None:
    user, changes, before = cast(User, request.user), dict[str, Any](), ticket_fields(found)
    for name, values in (("state", TicketState.values), ("priority", TicketPriority.values)):
        if (value := request.POST.get(name, "")) in values:
            changes[name] = value
    try:
        if "assignee" in request.POST:
            changes["assignee"] = find_assignee(request.POST["assignee"].replace("\x00", ""))
    except ApiError as error:
        messages.error(request, error.message)
        return
    after = ticket_fields(change_ticket(found.pk, changes, by=user, actor=user.name))
    fields = {name: (before[name], after[name]) for name in before if before[name] != after[name]}
    words = f"Ticket #{found.number} {'closed' if after['state'] == TicketState.CLOSED else 'saved'}."
    if fields:
        announce_undoable(request, entry, words, kind="ticket", ticket=str(found.pk), fields=fields)
    else:
        messages.success(request, words)


def _shown(entry: Entry, found: Ticket) -> dict[str, Any]:
    zone = zone_of(entry)
    tone, icon = TONES.get(found.priority, ("", ""))
    names = customer_names([found.persona_id] if found.persona_id else [])
    return {
        "ticket": found,
        "tone": tone,
        "icon": icon,
        "customer": names.get(found.persona_id, UNNAMED) if found.persona_id else "",
        "opened": format_timestamp(found.created_at, zone=zone),
        "states": LABELS.items(),
        "priorities": TicketPriority.choices,
        "assignees": _assignees(found),
        "history": [_history_entry(change, zone=zone) for change in found.changes.order_by("-created_at", "-id")],
    }


def _assignees(found: Ticket) -> list[User]:
    """Members who can be assigned, plus the current assignee."""
    able = [role for role, verbs in VERBS.items() if Scope.OPERATE in verbs]
    members = Member.objects.filter(role__in=able, user__is_active=True).select_related("user")
    people = sorted((member.user for member in members), key=lambda user: user.name.casefold())
    gone = [found.assignee] if found.assignee and found.assignee not in people else []
    return [*people, *gone]


def _history_entry(change: TicketChange, *, zone: str) -> Change:
    before, after = change.before, change.after
    words = [
        f"{FIELDS[name]}: {_word(name, before[name])} → {_word(name, after[name])}" for name in WORDS if name in before
    ]
    return Change(
        change.actor,
        words if before else ["Created the ticket"],
        [FieldChange(FIELDS[name], before[name], after[name]) for name in TEXTS if name in before],
        format_timestamp(change.created_at, zone=zone),
    )


def _word(name: str, value: str) -> str:
    return {"state": LABELS, "priority": PRIORITIES}.get(name, {}).get(value, value) or "Unassigned"


def _rows(entry: Entry, found: list[Ticket]) -> list[Row]:
    names = customer_names([row.persona_id for row in found if row.persona_id])
    return [
        Row(
            id=row.pk,
            number=row.number,
            subject=row.subject,
            priority=row.get_priority_display(),
            tone=TONES.get(row.priority, ("", ""))[0],
            icon=TONES.get(row.priority, ("", ""))[1],
            customer=names.get(row.persona_id, UNNAMED) if row.persona_id else "",
            assignee=row.assignee.name if row.assignee else "",
            at=format_timestamp(row.updated_at, zone=zone_of(entry)),
        )
        for row in found
    ]


def _page(text: str) -> int:
    is_number = text.isascii() and text.isdigit() and 0 < len(text) < 5
    return max(1, int(text)) if is_number else 1
