"""E-mail digest of customers who wait for a person, sent to operators."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

from jobs.digest import Digest
from projects.models import Project
from projects.models.key import Scope
from projects.models.permissions import VERBS
from tools.models import Escalation, OperatorNotice
from tools.services.support.escalations import waiting_requests

LANE = "operator_notice"


def notify_operators(escalation: Escalation) -> None:
    """Queue a notification to operators about a waiting customer."""
    OPERATORS.queue(escalation.project_id, cause=str(escalation.pk))


def notify_operators_again(escalation: Escalation) -> None:
    """Notify the other operators again, because the one who claimed this customer has left."""
    OperatorNotice.objects.filter(project_id=escalation.project_id).update(is_delivered=False)
    OPERATORS.queue(escalation.project_id, cause=f"{escalation.pk}:{uuid4()}")


def _waiting(project: Project) -> Sequence[Escalation]:
    return list(waiting_requests(project))


OPERATORS = Digest(
    lane=LANE,
    notices=OperatorNotice.objects,
    waiting=_waiting,
    is_for=lambda escalation, role: Scope.OPERATE in VERBS[role],
    since=lambda escalation: escalation.requested_at or escalation.created_at,
    text=lambda escalation: escalation.reason,
    one="A customer is waiting for a person",
    many="{count} customers are waiting for a person",
    note="The agent stops replying as soon as somebody takes over the conversation.",
    page="escalations",
    holds={"is_delivered": True},
)
