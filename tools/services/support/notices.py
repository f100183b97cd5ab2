"""E-mail digest of customers who wait for a person, sent to operators."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

from django.utils.translation import ngettext

from notices.digest import Digest
from notices.models import NoticeKind
from notices.services import notify
from projects.common.translation import lazy
from projects.models import Project
from projects.models.key import Scope
from projects.models.permissions import VERBS
from tools.models import Escalation, OperatorNotice
from tools.services.support.escalations import waiting_requests

LANE = "operator_notice"


def notify_operators(escalation: Escalation) -> None:
    """Queue a notification to operators about a waiting customer."""
    OPERATORS.queue(escalation.project_id, cause=str(escalation.pk))
    _notify(escalation)


def notify_operators_again(escalation: Escalation) -> None:
    """Notify the other operators again, because the one who claimed this customer has left."""
    OperatorNotice.objects.filter(project_id=escalation.project_id).update(is_delivered=False)
    OPERATORS.queue(escalation.project_id, cause=f"{escalation.pk}:{uuid4()}")
    _notify(escalation)


def _notify(escalation: Escalation) -> None:
    conversation = escalation.conversation_id
    text = _who_and_why(escalation)
    notify(escalation.project_id, kind=NoticeKind.WAITS, subject=conversation, object_id=conversation, text=text)


def _who_and_why(escalation: Escalation) -> str:
    name = escalation.lead.get("name", "")
    return f"{name}: {escalation.reason}" if name else escalation.reason


def _waiting(project: Project) -> Sequence[Escalation]:
    return list(waiting_requests(project))


OPERATORS = Digest(
    lane=LANE,
    notices=OperatorNotice.objects,
    waiting=_waiting,
    is_for=lambda escalation, member: Scope.OPERATE in VERBS[member.role],
    since=lambda escalation: escalation.requested_at or escalation.created_at,
    text=_who_and_why,
    headline=lambda count: (
        ngettext("%(count)s customer is waiting for a person", "%(count)s customers are waiting for a person", count)
        % {"count": count}
    ),
    note=lazy("The agent stops replying as soon as someone takes over the conversation."),
    page="escalations",
    kind=NoticeKind.WAITS,
    holds={"is_delivered": True},
)
