"""Requests for a person: offered by the agent, made by the customer, claimed by a colleague, resolved (W03).

Each verb is one compare-and-set. Whoever writes the conversation too locks that first.
"""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Now

from projects.models import Project, User
from tools.models import Escalation, EscalationState

LABEL = "Connect me with a human"
LONGEST_REASON = 500


def offer_person(
    *, project_id: UUID, conversation_id: UUID, turn_id: UUID | None, effect_id: UUID | None, reason: str
) -> Escalation:
    """The open request of a conversation, or a new one that is offered. Two calls at once make one."""
    if (standing := open_request(conversation_id)) is not None:
        return standing
    offered = Escalation(
        project_id=project_id,
        conversation_id=conversation_id,
        turn_id=turn_id,
        effect_id=effect_id,
        reason=reason[:LONGEST_REASON],
    )
    Escalation.objects.bulk_create([offered], ignore_conflicts=True)
    return Escalation.objects.exclude(state=EscalationState.RESOLVED).get(conversation_id=conversation_id)


def open_request(conversation_id: UUID) -> Escalation | None:
    """The request of a conversation that isn't resolved: there is at most one."""
    rows = Escalation.objects.filter(conversation_id=conversation_id).exclude(state=EscalationState.RESOLVED)
    return rows.first()


def make_request(escalation: Escalation, lead: dict[str, str]) -> bool:
    """The customer asks for the person who was offered. False where they had asked before: then only the lead is new."""
    rows = Escalation.objects.filter(pk=escalation.pk)
    if rows.filter(state=EscalationState.OFFERED).update(state=EscalationState.WAITING, requested_at=Now(), lead=lead):
        return True
    if lead:
        rows.filter(state__in=(EscalationState.WAITING, EscalationState.CLAIMED)).update(lead=lead)
    return False


def claim_request(conversation_id: UUID, *, by: User) -> bool:
    """A colleague takes what a conversation asks for, also while it is only offered. Of two at once one wins."""
    rows = Escalation.objects.filter(
        conversation_id=conversation_id, state__in=(EscalationState.OFFERED, EscalationState.WAITING)
    )
    return rows.update(state=EscalationState.CLAIMED, claimed_by=by, claimed_at=Now()) == 1


def give_back_request(conversation_id: UUID) -> Escalation | None:
    """Whoever claimed it is gone: who has asked waits again, which is the answer, and who hasn't is offered a person still."""
    rows = Escalation.objects.filter(conversation_id=conversation_id, state=EscalationState.CLAIMED)
    free = {"claimed_by": None, "claimed_at": None}
    if rows.filter(requested_at__isnull=False).update(state=EscalationState.WAITING, **free):
        return open_request(conversation_id)
    rows.update(state=EscalationState.OFFERED, **free)
    return None


def claimed_by(user: User) -> list[Escalation]:
    """What a colleague has claimed and not resolved."""
    return list(Escalation.objects.filter(state=EscalationState.CLAIMED, claimed_by=user))


def resolve_request(conversation_id: UUID) -> bool:
    """What was asked for is done: by a colleague in the conversation, or in another way. False where nothing was open."""
    rows = Escalation.objects.filter(
        conversation_id=conversation_id, state__in=(EscalationState.WAITING, EscalationState.CLAIMED)
    )
    return rows.update(state=EscalationState.RESOLVED, resolved_at=Now()) == 1


def waiting_requests(project: Project) -> QuerySet[Escalation]:
    """Customers who wait for a person, the longest first."""
    return Escalation.objects.filter(project=project, state=EscalationState.WAITING).order_by("requested_at")
