"""Colleagues in conversations: they take one over, answer in it, and hand it back (W03, M9).

While a colleague has a conversation the agent is silent: taking it over ends every reply that was not committed, in the
transaction that makes the colleague its operator, and from then on the log refuses the agent's words.
"""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from conversations.common.channels import traits_of
from conversations.handover.notices import Notice, add_notice
from conversations.live.event_log import ConversationLog, open_log
from conversations.models import Conversation, ConversationStatus, Message, MessageRole, Turn, TurnStatus
from conversations.models.turn import TAKEN_OVER
from conversations.turns.channel_signals import fail_replies
from conversations.turns.services import policy_for, queue_reply
from jobs.errors import WrongState
from jobs.failpoints import failpoint
from projects.models import Member, Role, User
from projects.models.key import Scope
from projects.models.permissions import VERBS
from tenancy.scope import tenant_tx
from tools.services.support import escalations, tickets
from tools.services.support.notices import notify_operators_again

A_COLLEAGUE = "A colleague"
A_CALL = "This is a call: a person comes into it by a transfer. Claim the request, and call the customer back."
NOBODY = "Nobody has this conversation: the agent answers in it."
NOT_YOURS = "Take the conversation over before you answer in it."


def take_over(conversation_id: UUID, *, by: User) -> Conversation:
    """Make a colleague the one who answers. Replies that were not committed end, and no timer fires any more.

    Two at once: one wins, the other reads who has it. Raises WrongState, Conversation.DoesNotExist.
    """
    _hold_membership(by)
    with open_log(conversation_id) as log:
        conversation = log.conversation
        if conversation.operator_id == by.pk:
            return conversation
        _check_free(conversation)
        conversation.operator, conversation.operator_since = by, log.now
        conversation.follow_up_at = None
        if conversation.status != ConversationStatus.OPEN:
            conversation.status = ConversationStatus.OPEN
            log.add_event("conversation_reopened", payload={})
        fail_replies(log, reason=TAKEN_OVER)
        escalations.claim_request(conversation_id, by=by)
        log.add_event("operator_took_over", payload={"operator": by.pk, "name": by.name})
        add_notice(log, Notice.JOINED, who=_name_of(by))
    failpoint("operator.pre_commit")
    return conversation


def answer(conversation_id: UUID, content: str, *, by: User) -> Message:
    """What the colleague who has the conversation says in it. Raises WrongState, Conversation.DoesNotExist."""
    with open_log(conversation_id) as log:
        if log.conversation.operator_id is None:
            raise WrongState(NOT_YOURS)
        _check_own(log.conversation, by)
        return log.add_message(MessageRole.OPERATOR, content, turn=None, idn="operator_message", author=shown_name(by))


def hand_back(conversation_id: UUID, *, by: User, is_forced: bool = False) -> Turn | None:
    """Let the agent go on. Returns its turn where the customer waits for an answer.

    What was asked of a person is done with it. Another colleague's conversation is handed back only where it `is_forced`.
    Raises WrongState, Conversation.DoesNotExist.
    """
    with open_log(conversation_id) as log:
        if log.conversation.operator_id is None:
            raise WrongState(NOBODY)
        if not is_forced:
            _check_own(log.conversation, by)
        escalations.resolve_request(conversation_id)
        log.add_event("operator_handed_back", payload={"operator": by.pk, "name": by.name})
        return _go_on(log)


def claim_request(conversation_id: UUID, *, by: User) -> None:
    """A colleague claims what a conversation asks for. Where they can answer in it they take it over; a call is called back.

    Two at once: one wins, the other reads who has it. Raises WrongState, Conversation.DoesNotExist.
    """
    conversation = Conversation.objects.get(pk=conversation_id)
    if not traits_of(conversation.channel).is_voice:
        take_over(conversation_id, by=by)
        return
    _hold_membership(by)
    with open_log(conversation_id) as log:
        standing = escalations.open_request(conversation_id)
        if not escalations.claim_request(conversation_id, by=by) and (standing is None or standing.claimed_by != by):
            raise WrongState(_who_claimed(standing.claimed_by if standing else None))
        log.add_event("escalation_claimed", payload={"operator": by.pk, "name": by.name})


def resolve_request(conversation_id: UUID, *, by: User) -> None:
    """What the customer asked a person for is done, by whatever way. Raises WrongState, Conversation.DoesNotExist."""
    with open_log(conversation_id) as log:
        if not escalations.resolve_request(conversation_id):
            raise WrongState("This request was resolved already.")
        log.add_event("escalation_resolved", payload={"operator": by.pk, "name": by.name})


def on_member_changed(user: User, organization_id: UUID, role: Role | None) -> None:
    """Whoever left, or may operate no more, has no conversation and no ticket: the agent goes on, and who asked waits again."""
    if role is not None and Scope.OPERATE in VERBS[role]:
        return
    with tenant_tx(organization_id):
        own = Conversation.objects.filter(operator=user).values_list("pk", flat=True)
        claimed = [escalation.conversation_id for escalation in escalations.claimed_by(user)]
        for conversation_id in sorted({*own, *claimed}):
            _free(conversation_id, user)
        tickets.release_tickets(user)


def shown_name(user: User) -> str:
    """A colleague as customers read them: the first name. An address is nobody's name."""
    return _name_of(user) or A_COLLEAGUE


def _name_of(user: User) -> str:
    return " ".join(user.first_name.split())[:80]


def _free(conversation_id: UUID, user: User) -> None:
    with open_log(conversation_id) as log:
        if (waiting := escalations.release_request(conversation_id)) is not None:
            notify_operators_again(waiting)
        if log.conversation.operator_id == user.pk:
            log.add_event("operator_gone", payload={"operator": user.pk, "name": user.name})
            _go_on(log)


def _go_on(log: ConversationLog) -> Turn | None:
    """Nobody has the conversation any more; where the customer waits for an answer the agent gives it."""
    conversation = log.conversation
    name = _name_of(conversation.operator) if conversation.operator else ""
    conversation.operator, conversation.operator_since = None, None
    add_notice(log, Notice.LEFT, who=name)
    unanswered = _unanswered(conversation)
    if not unanswered or conversation.status != ConversationStatus.OPEN:
        return None
    turn = log.add_turn(message_id=unanswered[-1].pk)
    turn.message = unanswered[-1]
    log.writes.send()
    ids = [message.pk for message in unanswered]
    # What was written while the colleague was there had no turn; a reply that was given up goes on as this one.
    Message.objects.filter(pk__in=ids, turn=None).update(turn=turn)
    given_up = Turn.objects.filter(message_id__in=ids, status=TurnStatus.SUPERSEDED, superseded_by=None)
    given_up.exclude(pk=turn.pk).update(superseded_by=turn)
    queue_reply(log, turn, policy=policy_for(log))
    return turn


def _unanswered(conversation: Conversation) -> list[Message]:
    """The customer's messages since somebody answered, the oldest first."""
    said = Message.objects.filter(conversation=conversation).exclude(role=MessageRole.SYSTEM).order_by("-seq")
    unanswered: list[Message] = []
    for message in said[:50]:
        if message.role != MessageRole.USER:
            break
        unanswered.append(message)
    return unanswered[::-1]


def _hold_membership(user: User) -> None:
    """Nobody takes what they would leave behind: whoever ends a membership comes before this, or waits for it."""
    member = Member.objects.select_for_update(no_key=True).filter(user=user).first()
    if member is None or Scope.OPERATE not in VERBS[member.role]:
        raise WrongState("Only a member who may operate takes a conversation over.")


def _check_free(conversation: Conversation) -> None:
    if traits_of(conversation.channel).is_voice:
        raise WrongState(A_CALL)
    if conversation.operator is not None:
        raise WrongState(_who_has(conversation.operator, conversation.operator_since))


def _check_own(conversation: Conversation, by: User) -> None:
    if conversation.operator is not None and conversation.operator_id != by.pk:
        raise WrongState(_who_has(conversation.operator, conversation.operator_since))


def _who_has(operator: User, since: datetime | None) -> str:
    clock = f" since {since.astimezone(UTC):%H:%M} UTC" if since else ""
    return f"{operator.name} has this conversation{clock}."


def _who_claimed(colleague: User | None) -> str:
    return (
        f"{colleague.name} has claimed this request." if colleague else "There is no open request in this conversation."
    )
