"""Assignment: the member who looks after a conversation."""

from __future__ import annotations

from enum import Enum
from uuid import UUID

from django.utils.translation import gettext

from conversations.common.customer_names import customer_names
from conversations.live.event_log import ConversationLog, open_log
from jobs.errors import WrongState
from notices.models import NoticeKind
from notices.services import notify, settle
from projects.common.translation import lazy
from projects.models import Member, User
from projects.models.key import Scope
from projects.models.permissions import VERBS
from tenancy.prepared_queries import PreparedQuery

ASSIGNED = "conversation_assigned"
UNNAMED = lazy("An unnamed customer")


class Anybody(Enum):
    """Passed as `instead_of`, it replaces any current assignee."""

    ANYBODY = "anybody"


def assign(
    conversation_id: UUID,
    assignee: User | None,
    *,
    by: User,
    instead_of: int | Anybody | None = Anybody.ANYBODY,
) -> bool:
    """Assign the conversation to a member who may operate, or to nobody. Returns False if nothing changed.

    `instead_of` is the assignee's key that the caller saw, so that of two concurrent calls the second is told about the
    first. Lock the assignee's membership first (`find_assignee`). Raises WrongState, Conversation.DoesNotExist.
    """
    with open_log(conversation_id) as log:
        current = log.conversation.assignee
        if current == assignee:
            return False
        if not isinstance(instead_of, Anybody) and instead_of != log.conversation.assignee_id:
            raise WrongState(_who_has(current))
        set_assignee(log, assignee, by=by)
        return True


def set_assignee(log: ConversationLog, assignee: User | None, *, by: User | None) -> None:
    """Write the assignee and the event, inside an open log, and notify the assignee. Without `by`, a member has left."""
    log.conversation.assignee = assignee
    _notify(log, assignee if assignee != by else None)
    log.add_event(
        ASSIGNED,
        payload={
            "assignee": assignee.pk if assignee else None,
            "to": assignee.name if assignee else "",
            "operator": by.pk if by else None,
            "name": by.name if by else "",
        },
    )


def _notify(log: ConversationLog, assignee: User | None) -> None:
    """Notify a new assignee in place of the previous one."""
    conversation = log.conversation
    settle(NoticeKind.ASSIGNED, conversation.pk)
    if assignee is not None:
        who = customer_names([conversation.persona_id]).get(conversation.persona_id, UNNAMED)
        notify(
            conversation.project_id,
            kind=NoticeKind.ASSIGNED,
            subject=conversation.pk,
            object_id=conversation.pk,
            text=who,
            to=[assignee.pk],
        )


def possible_assignees() -> list[User]:
    """Members of the organization who may operate, by name."""
    return sorted((member.user for member in _OPERATORS()), key=lambda user: user.name.casefold())


_ABLE = [role for role, verbs in VERBS.items() if Scope.OPERATE in verbs]
_OPERATORS = PreparedQuery(
    lambda: Member.objects.filter(role__in=_ABLE, user__is_active=True).select_related("user"), kinds=()
)


def _who_has(assignee: User | None) -> str:
    if assignee is None:
        return gettext("Meanwhile a colleague unassigned this conversation. Look at it, then assign it again.")
    return gettext("Meanwhile this conversation was assigned to %(name)s. Look at it, then assign it again.") % {
        "name": assignee.name
    }
