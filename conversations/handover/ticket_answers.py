"""Answers to tickets: as a message of the conversation, or by e-mail through the ledger."""

from __future__ import annotations

from uuid import UUID

from conversations.common.channels import traits_of
from conversations.common.contacts import read_contact
from conversations.common.place import place_in
from conversations.handover.operators import check_own, shown_name
from conversations.live.event_log import ConversationLog, open_log
from conversations.models import Conversation, MessageRole
from conversations.models.event import EventType
from jobs.enqueue import enqueue
from jobs.errors import WrongState
from projects.common.api_error import ApiError
from projects.common.translation import lazy
from projects.models import User
from todos.content.snapshot import compiled_tools
from tools.engine.execution.plan import effect_key, plan_effect
from tools.engine.ledger import job_for
from tools.engine.presenters import effect_payload
from tools.models import Effect, EffectOrigin, Ticket, TicketAnswer, TicketChannel, TicketState
from tools.services.support.tickets import change_ticket

TOOL = "send_email_to_caller"
ANSWERED = "ticket_answered"
NO_CONVERSATION = lazy(
    "The ticket's customer has no conversation. Call or write to them yourself, then note it on the ticket."
)
A_CALL = lazy("Nobody can write in a call. Answer by e-mail.")
NO_ADDRESS = lazy("The customer's e-mail address isn't known. Answer in the conversation, or add the address first.")


def answer_ticket(ticket_id: UUID, content: str, *, channel: str, by: User, key: UUID) -> TicketAnswer:
    """Answer a ticket's customer. An open ticket is then pending: the customer is asked.

    A message appears in the conversation at once, and reaches its channel as operators' messages do. An e-mail is an
    effect, with the rules, the limits and the outcome of every other e-mail. A repeated `key` returns the first answer.
    Raises WrongState, ApiError, Ticket.DoesNotExist.
    """
    ticket = Ticket.objects.get(pk=ticket_id)
    with open_log(_conversation_of(ticket)) as log:
        if (known := TicketAnswer.objects.filter(ticket=ticket, key=key).first()) is not None:
            return known
        answer = TicketAnswer(
            ticket=ticket, key=key, actor=by.name[:200], actor_id=by.pk, content=content, channel=channel
        )
        if channel == TicketChannel.EMAIL:
            answer.effect_id = _plan_email(log, ticket, content, key=answer.pk).pk
        else:
            answer.message_id = _say(log, content, by=by)
        log.add_event(
            ANSWERED, payload={"ticket": ticket.number, "channel": channel, "operator": by.pk, "name": by.name}
        )
        answer.save(force_insert=True)
        if ticket.state == TicketState.OPEN:
            change_ticket(ticket.pk, {"state": TicketState.PENDING.value}, by=by, actor=by.name)
        return answer


def ways_to_answer(ticket: Ticket) -> list[TicketChannel]:
    """The ways to answer the ticket's customer, the preferred one first."""
    conversation = _find_conversation(ticket)
    if conversation is None:
        return []
    contact = read_contact(conversation.persona_id)
    ways = [] if traits_of(conversation.channel).is_voice else [TicketChannel.CONVERSATION]
    return [*ways, TicketChannel.EMAIL] if contact is not None and contact.email else ways


def _conversation_of(ticket: Ticket) -> UUID:
    conversation = _find_conversation(ticket)
    if conversation is None:
        raise WrongState(NO_CONVERSATION)
    return conversation.pk


def _find_conversation(ticket: Ticket) -> Conversation | None:
    """The ticket's conversation, or else its customer's latest."""
    rows = Conversation.objects.filter(project_id=ticket.project_id)
    if ticket.conversation_id is not None:
        return rows.filter(pk=ticket.conversation_id).first()
    if ticket.persona_id is None:
        return None
    return rows.filter(persona_id=ticket.persona_id).order_by("-updated_at").first()


def _say(log: ConversationLog, content: str, *, by: User) -> UUID:
    if traits_of(log.conversation.channel).is_voice:
        raise WrongState(A_CALL)
    check_own(log.conversation, by)
    log.conversation.returned_at = None
    name = shown_name(by)
    return log.add_message(MessageRole.OPERATOR, content, turn=None, idn="operator_message", author=name).pk


def _plan_email(log: ConversationLog, ticket: Ticket, content: str, *, key: UUID) -> Effect:
    conversation = log.conversation
    contact = read_contact(conversation.persona_id)
    if contact is None or not contact.email:
        raise ApiError("no_address", NO_ADDRESS, field="channel")
    config = conversation.project.agent_version.config
    effect = plan_effect(
        compiled_tools(conversation.project, names=[TOOL])[TOOL],
        place_in(conversation, config=config, contact=contact),
        origin=EffectOrigin.STAFF,
        key=effect_key(origin=key, tool=TOOL, step=0, index=0),
        arguments={"subject": f"Re: {ticket.subject} (#{ticket.number})", "body": content},
    )
    effect.save(force_insert=True)
    log.add_event("effect_planned", payload=effect_payload(effect), type=EventType.EFFECT)
    enqueue([job_for(effect)])
    return effect
