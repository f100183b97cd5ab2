"""Escalations to a person: offered by the agent, requested by the customer, claimed by an operator, resolved.

Each transition is a compare-and-set. A writer that also changes the conversation locks the conversation first.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Now

from notices.models import NoticeKind
from notices.services import settle
from projects.models import Project, User
from tenancy.prepared_queries import PreparedQuery
from tools.models import Escalation, EscalationState

LABEL = "Connect me with a human"
LONGEST_REASON = 500


def offer_person(
    *, project_id: UUID, conversation_id: UUID, turn_id: UUID | None, effect_id: UUID | None, reason: str
) -> Escalation:
    """Return the conversation's open escalation, or create one that is offered. Concurrent calls create only one."""
    if (existing := open_request(conversation_id)) is not None:
        return existing
    offered = Escalation(
        project_id=project_id,
        conversation_id=conversation_id,
        turn_id=turn_id,
        effect_id=effect_id,
        reason=reason[:LONGEST_REASON],
    )
    Escalation.objects.bulk_create([offered], ignore_conflicts=True)
    return Escalation.objects.exclude(state=EscalationState.RESOLVED).get(conversation_id=conversation_id)


def person_button(escalation: Escalation) -> dict[str, Any]:
    """The block with which the customer asks for a person and leaves contact details."""
    return {
        "type": "escalation_button",
        "escalation": str(escalation.pk),
        "label": LABEL,
        "reason": escalation.reason,
    }


def open_request(conversation_id: UUID) -> Escalation | None:
    """Return the conversation's unresolved escalation; there is at most one."""
    return next(iter(_UNRESOLVED(conversation_id)), None)


_UNRESOLVED = PreparedQuery(
    lambda conversation: Escalation.objects.filter(conversation_id=conversation).exclude(
        state=EscalationState.RESOLVED
    ),
    kinds=(UUID,),
)


def make_request(escalation: Escalation, lead: dict[str, str]) -> bool:
    """Record the customer's request for a person. Return False if they had already asked; then only the lead is
    updated.
    """
    rows = Escalation.objects.filter(pk=escalation.pk)
    if rows.filter(state=EscalationState.OFFERED).update(state=EscalationState.WAITING, requested_at=Now(), lead=lead):
        escalation.lead = lead
        return True
    if lead:
        rows.filter(state__in=(EscalationState.WAITING, EscalationState.CLAIMED)).update(lead=lead)
    return False


def claim_request(conversation_id: UUID, *, by: User) -> bool:
    """Claim a conversation's escalation, even if it is only offered. Of two concurrent calls, one wins."""
    rows = Escalation.objects.filter(
        conversation_id=conversation_id, state__in=(EscalationState.OFFERED, EscalationState.WAITING)
    )
    settle(NoticeKind.WAITS, conversation_id)
    return rows.update(state=EscalationState.CLAIMED, claimed_by=by, claimed_at=Now()) == 1


def release_request(conversation_id: UUID) -> Escalation | None:
    """Release the claim of an operator who left. Return the escalation if the customer is waiting again; one that was
    only offered returns to offered.
    """
    rows = Escalation.objects.filter(conversation_id=conversation_id, state=EscalationState.CLAIMED)
    free = {"claimed_by": None, "claimed_at": None}
    if rows.filter(requested_at__isnull=False).update(state=EscalationState.WAITING, **free):
        return open_request(conversation_id)
    rows.update(state=EscalationState.OFFERED, **free)
    return None


def claimed_by(user: User) -> list[Escalation]:
    """Return the unresolved escalations that an operator has claimed."""
    return list(Escalation.objects.filter(state=EscalationState.CLAIMED, claimed_by=user))


def resolve_request(conversation_id: UUID) -> bool:
    """Resolve a conversation's escalation. Return False if none was waiting or claimed."""
    rows = Escalation.objects.filter(
        conversation_id=conversation_id, state__in=(EscalationState.WAITING, EscalationState.CLAIMED)
    )
    settle(NoticeKind.WAITS, conversation_id)
    return rows.update(state=EscalationState.RESOLVED, resolved_at=Now()) == 1


def reopen_request(conversation_id: UUID, escalation_id: UUID, *, claimed: bool) -> bool:
    """Return a resolved escalation to waiting, or with `claimed` to the operator who had claimed it. Return False if
    another one is open, or if it isn't resolved.
    """
    rows = Escalation.objects.filter(pk=escalation_id, conversation_id=conversation_id, state=EscalationState.RESOLVED)
    if open_request(conversation_id) is not None:
        return False
    if claimed and rows.filter(claimed_by__isnull=False).update(state=EscalationState.CLAIMED, resolved_at=None):
        return True
    free = {"claimed_by": None, "claimed_at": None, "resolved_at": None}
    return rows.update(state=EscalationState.WAITING, **free) == 1


def waiting_requests(project: Project) -> QuerySet[Escalation]:
    """Escalations that wait for an operator, longest first."""
    return Escalation.objects.filter(project=project, state=EscalationState.WAITING).order_by("requested_at")
