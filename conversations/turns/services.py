"""What callers may do to a conversation. Pages, API and tasks come through here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, cast
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from conversations.common.channels import traits_of
from conversations.live.event_log import ConversationLog, open_log
from conversations.models import (
    Channel,
    Conversation,
    Event,
    Message,
    MessageRole,
    Persona,
    PersonaField,
    Turn,
    TurnStatus,
)
from conversations.models.persona import Strength
from conversations.turns.after_reply import watch
from conversations.turns.channel_signals import reopen
from jobs.enqueue import JobRequest, Superseded, enqueue
from jobs.failpoints import failpoint
from jobs.lanes import Mode
from projects.common.api_error import Conflict
from projects.models import AgentVersion, Project
from projects.models.agent_config import NewerMessage
from tenancy.ids import uuid7
from tenancy.prepared_queries import PreparedQuery
from tenancy.write_batch import insert_if_absent, insert_rows

REPLY = "reply"
# After so many turns in a row that the agent started itself, nothing more fires by itself.
MAX_AGENT_TURNS = 3
UNSENT = (TurnStatus.QUEUED, TurnStatus.REPLYING)

PERSONA = PreparedQuery(
    lambda project, external_id: Persona.objects.filter(project_id=project, external_id=external_id), kinds=(UUID, str)
)


class ReplyInProgress(Conflict):
    """The reply to the last message is still being written; post this one again when it has come."""

    def __init__(self) -> None:
        super().__init__(code="reply_in_progress")


@dataclass(frozen=True)
class Posted:
    """A stored message and the turn that answers it; none while a colleague has the conversation.

    `event` is the number of the message's event: a stream of the turn begins with it.
    """

    conversation: Conversation
    message: Message
    turn: Turn | None
    event: int


def start_conversation(
    project: Project, *, channel: Channel, external_id: str, known: Mapping[str, str], metadata: Mapping[str, Any]
) -> Conversation:
    """A new conversation with a customer, known or new. What the caller knows of them is kept as given."""
    persona = _persona(project, external_id)
    give_fields(persona, known)
    conversation = Conversation(project=project, persona=persona, channel=channel, metadata=dict(metadata))
    insert_rows([conversation])
    return conversation


def _persona(project: Project, external_id: str) -> Persona:
    for known in PERSONA(project.pk, external_id):
        return known
    persona = Persona(project=project, external_id=external_id)
    if not insert_if_absent(persona):
        # Somebody else has just made it.
        [persona] = PERSONA(project.pk, external_id)
    return persona


def give_fields(persona: Persona, fields: Mapping[str, str]) -> None:
    """Set fields of a customer by staff's or the API's word, which no observation overrides."""
    given = [
        PersonaField(persona=persona, key=key, value=fields[key], strength=Strength.GIVEN) for key in sorted(fields)
    ]
    # In one order for everybody, so that two who give the same fields don't wait for each other.
    PersonaField.objects.bulk_create(
        given,
        update_conflicts=True,
        unique_fields=["organization", "persona", "key"],
        update_fields=["value", "strength", "quote", "message_id", "turn_id", "updated_at"],
    )


def set_read_field(persona: Persona, key: str, value: str) -> bool:
    """Set what a model read off a tool's answer: it never stands in for what staff or the API has on file (F19, W05).

    False where theirs is another one, which stays.
    """
    read = {"value": value, "strength": Strength.STATED, "quote": "", "message_id": None, "turn_id": None}
    field, is_new = PersonaField.objects.get_or_create(persona=persona, key=key, defaults=read)
    if is_new or field.value == value:
        return True
    weaker = PersonaField.objects.filter(pk=field.pk, strength__lt=Strength.GIVEN)
    return weaker.update(**read, updated_at=Now()) == 1


def post_message(conversation_id: UUID, content: str, *, project_id: UUID | None = None) -> Posted:
    """Store a customer's message, and queue the reply; what becomes of one that is being written, the policy says.

    While a colleague has the conversation it is stored and read by the observer, and nothing more. Two posts at once are
    answered in the order of their `seq`. With `project_id` another project's conversation is none. Raises
    Conversation.DoesNotExist, ReplyInProgress, ConversationOver.
    """
    with open_log(conversation_id, project_id=project_id) as log:
        reopen(log)
        policy = policy_for(log)
        if policy == "reject":
            refuse_while_answering(log)
        if log.conversation.operator_id is not None:
            message = log.add_message(MessageRole.USER, content, turn=None, idn="user_message")
            event = log.conversation.last_event
            watch(log, message)
            return Posted(log.conversation, message, turn=None, event=event)
        turn = log.add_turn(message_id=uuid7())
        message = log.add_message(MessageRole.USER, content, turn=turn, idn="user_message", id=turn.message_id)
        event = log.conversation.last_event
        queue_reply(log, turn, policy=policy)
    failpoint("msg.pre_commit")
    return Posted(log.conversation, message, turn, event)


def message_event(conversation_id: UUID, message_id: str) -> int:
    """The number of the event of a customer's message."""
    events = Event.objects.filter(conversation_id=conversation_id, idn="user_message", payload__id=message_id)
    return events.values_list("seq", flat=True).get()


def queue_reply(log: ConversationLog, turn: Turn, *, policy: NewerMessage) -> None:
    """Queue a turn's reply: after those not sent yet, or in place of them, whose turns it then takes over."""
    transaction.on_commit(partial(failpoint, "msg.post_commit_pre_wake"))
    [made] = enqueue(
        [
            JobRequest(
                lane=REPLY,
                project_id=log.conversation.project_id,
                subject_id=log.conversation.pk,
                ordinal=turn.seq,
                key=f"reply:{turn.pk}",
                mode=Mode.QUEUE if policy == "queue" else Mode.INTERRUPT,
            )
        ]
    )
    if made.superseded.ordinals:
        _take_over(log, turn, made.superseded)
    log.add_turn_event(turn)


def has_talked_enough(conversation: Conversation) -> bool:
    """Whether the newest turns are all the agent's own, so many that it says nothing more by itself."""
    newest = Turn.objects.filter(conversation=conversation).order_by("-seq")[:MAX_AGENT_TURNS]
    own = [turn.message_id is None for turn in newest]
    return len(own) == MAX_AGENT_TURNS and all(own)


def _take_over(log: ConversationLog, turn: Turn, given_up: Superseded) -> None:
    for older in Turn.objects.filter(conversation=log.conversation, seq__in=given_up.ordinals):
        older.status, older.superseded_by, older.finished_at = TurnStatus.SUPERSEDED, turn, timezone.now()
        older.save(update_fields=["status", "superseded_by", "finished_at"])
        log.add_turn_event(older)


def policy_for(log: ConversationLog) -> NewerMessage:
    """The project's policy, else the channel's."""
    version_id = log.conversation.project.agent_version_id
    return (_policy_of(version_id) if version_id else None) or traits_of(log.conversation.channel).newer_message


@lru_cache(maxsize=4096)
def _policy_of(version_id: UUID) -> NewerMessage | None:
    """One word of a version of the settings, remembered: a version never changes."""
    words = AgentVersion.objects.filter(pk=version_id).values_list("document__newer_message", flat=True)
    return cast(NewerMessage | None, words.first())


def refuse_while_answering(log: ConversationLog) -> None:
    """Raise ReplyInProgress while a customer's message waits for its reply; what the agent says by itself gives way."""
    if Turn.objects.filter(conversation=log.conversation, status__in=UNSENT, message__isnull=False).exists():
        raise ReplyInProgress
