"""Tickets: opened by the agent or staff, numbered per project, changed under a lock, with a history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db.models import Max, QuerySet
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext

from projects.common.api_error import Unprocessable
from projects.models import Member, Project, User
from projects.models.key import Scope
from projects.models.organization import lock_project
from projects.models.permissions import VERBS
from tools.engine.hooks import lock_customer
from tools.models import Ticket, TicketChange, TicketPriority, TicketState

LONGEST_SUBJECT = 120
LONGEST_BODY = 8_000
AGENT = "the agent"


def open_ticket(
    project_id: UUID,
    *,
    subject: str,
    body: str,
    priority: str = TicketPriority.NORMAL,
    conversation_id: UUID | None = None,
    persona_id: UUID | None = None,
    effect_id: UUID | None = None,
    by: User | None = None,
    actor: str = AGENT,
) -> Ticket:
    """Open a ticket with the project's next number. An effect opens only one, even if it runs again.

    The project's row is locked until the commit, so the numbers have no gaps. `by` is the user who opens it, `actor`
    their name.
    """
    lock_project(project_id)
    if effect_id is not None and (known := Ticket.objects.filter(effect_id=effect_id).first()) is not None:
        return known
    last = Ticket.objects.filter(project_id=project_id).aggregate(last=Max("number"))["last"] or 0
    ticket = Ticket.objects.create(
        project_id=project_id,
        number=last + 1,
        subject=subject,
        body=body,
        priority=priority,
        conversation_id=conversation_id,
        persona_id=lock_customer(persona_id) if persona_id else None,
        effect_id=effect_id,
    )
    _record_change(ticket, by=by, actor=actor, before={}, after={"state": TicketState.OPEN.value, "priority": priority})
    return ticket


def change_ticket(ticket_id: UUID, changes: Mapping[str, Any], *, by: User | None, actor: str) -> Ticket:
    """Change a ticket's fields, and record the previous values. Concurrent calls are serialized; unchanged fields are
    ignored.

    Raises Ticket.DoesNotExist.
    """
    # No join: after a wait, PostgreSQL would recheck the new row against the old assignee and find nothing.
    ticket = Ticket.objects.select_for_update(no_key=True).get(pk=ticket_id)
    different = {name: value for name, value in changes.items() if getattr(ticket, name) != value}
    if not different:
        return ticket
    before = {name: _shown(getattr(ticket, name)) for name in different}
    for name, value in different.items():
        setattr(ticket, name, value)
    if "state" in different:
        ticket.closed_at = timezone.now() if ticket.state == TicketState.CLOSED else None
    ticket.save(update_fields=[*different, "closed_at", "updated_at"])
    after = {name: _shown(value) for name, value in different.items()}
    _record_change(ticket, by=by, actor=actor, before=before, after=after)
    return ticket


def find_assignee(email: str | None) -> User | None:
    """Return the member with this address who may operate; None for an empty address. Raises ApiError.

    The membership is locked until this transaction ends: removing a member unassigns their tickets, which must include
    this one.
    """
    if not email:
        return None
    members = Member.objects.select_for_update(of=("self",), no_key=True).select_related("user")
    member = members.filter(user__email__iexact=email).first()
    if member is None or Scope.OPERATE not in VERBS[member.role]:
        raise Unprocessable(
            "invalid_assignee",
            gettext("assignee: %(email)s isn’t a member with the operator role.") % {"email": email},
            field="assignee",
        )
    return member.user


def release_tickets(user: User) -> None:
    """Unassign the tickets of a user who left the organization."""
    Ticket.objects.filter(assignee=user).exclude(state=TicketState.CLOSED).update(assignee=None, updated_at=Now())


def open_tickets(project: Project) -> QuerySet[Ticket]:
    """Tickets that wait for staff; pending ones wait for the customer."""
    return Ticket.objects.filter(project=project, state=TicketState.OPEN)


def _record_change(
    ticket: Ticket, *, by: User | None, actor: str, before: dict[str, str], after: dict[str, str]
) -> None:
    TicketChange.objects.create(
        ticket=ticket, actor=actor[:200], actor_id=by.pk if by else None, before=before, after=after
    )


def _shown(value: Any) -> str:
    """Return a field's value for the history."""
    return value.name if isinstance(value, User) else "" if value is None else str(value)
