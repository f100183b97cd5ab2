"""Operators in conversations: take over, answer, hand back.

While an operator has a conversation, the agent is silent: the takeover supersedes every uncommitted reply in the same
transaction, and from then on the log refuses messages of the agent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext

from conversations.common.channels import traits_of
from conversations.handover.assignment import set_assignee
from conversations.handover.attachments import mark_sent, take_unsent
from conversations.handover.notices import Notice, add_notice
from conversations.live.event_log import ConversationLog, open_log
from conversations.models import Conversation, ConversationStatus, Message, MessageRole, Turn, TurnStatus
from conversations.models.turn import TAKEN_OVER
from conversations.turns.channel_signals import fail_replies
from conversations.turns.services import policy_for, queue_reply
from jobs.errors import WrongState
from jobs.failpoints import failpoint
from projects.common.translation import lazy
from projects.models import Member, Role, User
from projects.models.key import Scope
from projects.models.permissions import VERBS
from tenancy.scope import tenant_tx
from tools.services.support import escalations, tickets
from tools.services.support.notices import notify_operators_again

A_COLLEAGUE = "A colleague"
A_CALL = lazy("Calls can't be taken over. Claim the request and call the customer back.")
NOBODY = lazy("No colleague has this conversation; the agent is answering.")
NOT_YOURS = lazy("Take over the conversation before you reply.")


def take_over(conversation_id: UUID, *, by: User) -> Conversation:
    """Make a member the conversation's operator, and its assignee if it has none. Uncommitted replies end and no timer
    fires.

    Of two concurrent calls one wins, and the other's error names the winner. Raises WrongState,
    Conversation.DoesNotExist.
    """
    _lock_membership(by)
    with open_log(conversation_id) as log:
        conversation = log.conversation
        if conversation.operator_id == by.pk:
            return conversation
        _check_free(conversation)
        conversation.operator, conversation.operator_since = by, log.now
        conversation.follow_up_at = conversation.snoozed_until = None
        conversation.returned_at = conversation.closed_at = None
        if conversation.status != ConversationStatus.OPEN:
            conversation.status = ConversationStatus.OPEN
            log.add_event("conversation_reopened", payload={})
        fail_replies(log, reason=TAKEN_OVER)
        escalations.claim_request(conversation_id, by=by)
        log.add_event("operator_took_over", payload={"operator": by.pk, "name": by.name})
        if conversation.assignee_id is None:
            set_assignee(log, by, by=by)
        add_notice(log, Notice.JOINED, who=_name_of(by))
    failpoint("operator.pre_commit")
    return conversation


def answer(
    conversation_id: UUID,
    content: str,
    *,
    by: User,
    attachments: Sequence[UUID] = (),
    blocks: Sequence[dict[str, Any]] = (),
) -> Message:
    """Add the operator's message, with uploaded files. Raises WrongState, Unprocessable for a file that doesn't wait to
    be sent, Conversation.DoesNotExist.
    """
    with open_log(conversation_id) as log:
        check_has(log.conversation, by)
        log.conversation.returned_at = None
        message = log.add_message(
            MessageRole.OPERATOR,
            content,
            turn=None,
            idn="operator_message",
            blocks=blocks,
            attachments=take_unsent(log.conversation, attachments) if attachments else (),
            author=shown_name(by),
        )
    if attachments:
        mark_sent(attachments, message=message)
    return message


def hand_back(conversation_id: UUID, *, by: User, is_forced: bool = False) -> Turn | None:
    """Return the conversation to the agent. Return the agent's new turn if the customer awaits an answer.

    Resolves the open request for a person. `is_forced` also hands back another operator's conversation. Raises
    WrongState, Conversation.DoesNotExist.
    """
    with open_log(conversation_id) as log:
        if log.conversation.operator_id is None:
            raise WrongState(NOBODY)
        if not is_forced:
            check_own(log.conversation, by)
        escalations.resolve_request(conversation_id)
        log.conversation.returned_at = None
        log.add_event("operator_handed_back", payload={"operator": by.pk, "name": by.name})
        return _resume_agent(log)


def claim_request(conversation_id: UUID, *, by: User) -> None:
    """Claim the conversation's open request. A text conversation is taken over; for a call, the operator calls back.

    Of two concurrent calls one wins, and the other's error names the winner. Raises WrongState,
    Conversation.DoesNotExist.
    """
    conversation = Conversation.objects.get(pk=conversation_id)
    if not traits_of(conversation.channel).is_voice:
        take_over(conversation_id, by=by)
        return
    _lock_membership(by)
    with open_log(conversation_id) as log:
        request = escalations.open_request(conversation_id)
        if not escalations.claim_request(conversation_id, by=by) and (request is None or request.claimed_by != by):
            raise WrongState(_who_claimed(request.claimed_by if request else None))
        log.add_event("escalation_claimed", payload={"operator": by.pk, "name": by.name})


def resolve_request(conversation_id: UUID, *, by: User) -> None:
    """Resolve the customer's request for a person. Raises WrongState, Conversation.DoesNotExist."""
    with open_log(conversation_id) as log:
        if not escalations.resolve_request(conversation_id):
            raise WrongState(gettext("This request is already resolved."))
        log.add_event("escalation_resolved", payload={"operator": by.pk, "name": by.name})


def reopen_request(conversation_id: UUID, escalation_id: UUID, *, by: User) -> None:
    """Undo the resolution of a request for a person. Raises WrongState, Conversation.DoesNotExist."""
    with open_log(conversation_id) as log:
        if not request_again(log, escalation_id, by=by):
            raise WrongState(gettext("This request was reopened, or the customer asked again."))


def request_again(log: ConversationLog, escalation_id: UUID, *, by: User) -> bool:
    """Return a resolved request to the operator who claimed it, if they still have the conversation; else it waits again.
    Return False if it isn't resolved or another one is open.
    """
    is_call, operator = traits_of(log.conversation.channel).is_voice, log.conversation.operator_id
    if not escalations.reopen_request(log.conversation.pk, escalation_id, claimed=is_call or operator is not None):
        return False
    log.add_event("escalation_reopened", payload={"operator": by.pk, "name": by.name})
    return True


def on_member_changed(user: User, organization_id: UUID, role: Role | None) -> None:
    """Release the conversations, assignments, requests and tickets of a member who left or may no longer operate.

    The agent takes over again, and the claimed requests wait again.
    """
    if role is not None and Scope.OPERATE in VERBS[role]:
        return
    with tenant_tx(organization_id):
        mine = Q(operator=user) | Q(assignee=user)
        own = Conversation.objects.filter(mine).values_list("pk", flat=True)
        claimed = [escalation.conversation_id for escalation in escalations.claimed_by(user)]
        for conversation_id in sorted({*own, *claimed}):
            _release(conversation_id, user)
        tickets.release_tickets(user)


def shown_name(user: User) -> str:
    """An operator's name as customers see it: the first name, never an e-mail address."""
    return _name_of(user) or A_COLLEAGUE


def _name_of(user: User) -> str:
    return " ".join(user.first_name.split())[:80]


def _release(conversation_id: UUID, user: User) -> None:
    with open_log(conversation_id) as log:
        if (waiting := escalations.release_request(conversation_id)) is not None:
            notify_operators_again(waiting)
        if log.conversation.assignee_id == user.pk:
            set_assignee(log, None, by=None)
        if log.conversation.operator_id == user.pk:
            log.add_event("operator_gone", payload={"operator": user.pk, "name": user.name})
            _resume_agent(log)


def _resume_agent(log: ConversationLog) -> Turn | None:
    """Clear the operator. If the customer awaits an answer, queue the agent's turn and return it."""
    conversation = log.conversation
    release(log)
    unanswered = _unanswered(conversation)
    if not unanswered or conversation.status != ConversationStatus.OPEN:
        return None
    turn = log.add_turn(message_id=unanswered[-1].pk)
    turn.message = unanswered[-1]
    log.writes.send()
    ids = [message.pk for message in unanswered]
    # Messages to the operator had no turn; an aborted reply continues as this one.
    Message.objects.filter(pk__in=ids, turn=None).update(turn=turn)
    aborted = Turn.objects.filter(message_id__in=ids, status=TurnStatus.SUPERSEDED, superseded_by=None)
    aborted.exclude(pk=turn.pk).update(superseded_by=turn)
    queue_reply(log, turn, policy=policy_for(log))
    return turn


def release(log: ConversationLog) -> None:
    """Clear the operator and tell the customer. The agent answers the next message."""
    conversation = log.conversation
    name = _name_of(conversation.operator) if conversation.operator else ""
    conversation.operator, conversation.operator_since = None, None
    add_notice(log, Notice.LEFT, who=name)


def _unanswered(conversation: Conversation) -> list[Message]:
    """The customer's messages since the last answer, oldest first."""
    said = Message.objects.filter(conversation=conversation).exclude(role=MessageRole.SYSTEM).order_by("-seq")
    unanswered: list[Message] = []
    for message in said[:50]:
        if message.role != MessageRole.USER:
            break
        unanswered.append(message)
    return unanswered[::-1]


def _lock_membership(user: User) -> None:
    """Lock the membership, so that removing a member either precedes the takeover or also releases it."""
    member = Member.objects.select_for_update(no_key=True).filter(user=user).first()
    if member is None or Scope.OPERATE not in VERBS[member.role]:
        raise WrongState(gettext("Your role can’t take over conversations. Ask an admin for the operator role."))


def _check_free(conversation: Conversation) -> None:
    if traits_of(conversation.channel).is_voice:
        raise WrongState(A_CALL)
    if conversation.operator is not None:
        raise WrongState(_who_has(conversation.operator))


def check_has(conversation: Conversation, by: User) -> None:
    """Raise WrongState unless the operator has the conversation."""
    if conversation.operator_id is None:
        raise WrongState(NOT_YOURS)
    check_own(conversation, by)


def check_own(conversation: Conversation, by: User) -> None:
    """Raise WrongState if another operator has the conversation."""
    if conversation.operator is not None and conversation.operator_id != by.pk:
        raise WrongState(_who_has(conversation.operator))


def _who_has(operator: User) -> str:
    return gettext("%(name)s has this conversation.") % {"name": operator.name}


def _who_claimed(colleague: User | None) -> str:
    if colleague is None:
        return gettext("There is no open request in this conversation.")
    return gettext("%(name)s has claimed this request.") % {"name": colleague.name}
