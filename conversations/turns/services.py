"""Services to start and write to conversations, shared by pages, API and tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache, partial
from typing import Any, cast
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from conversations.common.channels import traits_of
from conversations.common.draft_settings import use_draft
from conversations.common.merged import lock_customer, lock_persona
from conversations.common.payloads import StoredAttachment
from conversations.live.event_log import ConversationLog, open_log
from conversations.models import (
    Channel,
    ConsentSource,
    Conversation,
    Event,
    Message,
    MessageRole,
    Persona,
    PersonaField,
    Turn,
    TurnStatus,
)
from conversations.models.conversation import is_test
from conversations.models.persona import Strength
from conversations.turns.admission import admit_conversation
from conversations.turns.after_reply import queue_observation
from conversations.turns.channel_signals import reopen
from conversations.turns.consents import CONTACT_FIELDS, bind_refusals, record_given
from jobs.enqueue import JobRequest, Superseded, enqueue
from jobs.failpoints import failpoint
from jobs.fence import prove
from jobs.lanes import ClaimedJob, Mode
from projects.common.api_error import Conflict
from projects.models import AgentVersion, Project
from projects.models.agent_config import NewerMessage
from tenancy.ids import uuid7
from tenancy.prepared_queries import PreparedQuery, PreparedValues
from tenancy.write_batch import insert_if_absent, insert_rows

REPLY = "reply"
# After this many turns in a row started by the agent itself, it starts no more.
MAX_AGENT_TURNS = 3
UNSENT_STATUSES = (TurnStatus.QUEUED, TurnStatus.REPLYING)

# The lock keeps a customer from being merged before the commit. A merged one isn't found: waiting for a merge with a
# lock on both would be a deadlock.
PERSONA = PreparedQuery(
    lambda project, external_id: Persona.objects.select_for_update(no_key=True).filter(
        project_id=project, external_id=external_id, merged_into=None
    ),
    kinds=(UUID, str),
)
TURN = PreparedQuery(
    lambda conversation, seq: Turn.objects.filter(conversation_id=conversation, seq=seq), kinds=(UUID, int)
)


NEWEST_TURNS = PreparedValues(
    lambda conversation: (
        Turn.objects.filter(conversation_id=conversation).order_by("-seq").values_list("message_id")[:MAX_AGENT_TURNS]
    ),
    kinds=(UUID,),
)


class ReplyInProgress(Conflict):
    """The previous message is still being answered. Try again after the reply."""

    def __init__(self) -> None:
        super().__init__(code="reply_in_progress")


@dataclass(frozen=True)
class Posted:
    """A stored message and the turn that answers it, or None while an operator has the conversation.

    `event` is the number of the message's event, where a stream of the turn starts.
    """

    conversation: Conversation
    message: Message
    turn: Turn | None
    event: int


def start_conversation(
    project: Project,
    *,
    channel: Channel,
    external_id: str,
    known: Mapping[str, str],
    metadata: Mapping[str, Any],
    visitor: str = "",
) -> Conversation:
    """Start a conversation with a new or existing customer. `known` fields are stored as given by the API or staff.

    The `external_id` of a merged customer starts one with the customer they were merged into. `visitor` is the digest of
    an anonymous visitor's address range. Raises TooManyOpen.
    """
    if not is_test(metadata):
        admit_conversation(project)
    own = _persona(project, external_id)
    persona = lock_persona(own) if own.merged_into_id else own
    give_fields(persona, known)
    conversation = Conversation(
        project=project,
        persona=persona,
        begun_as_id=own.pk if own.pk != persona.pk else None,
        channel=channel,
        metadata=dict(metadata),
        visitor=visitor,
    )
    insert_rows([conversation])
    return conversation


def _persona(project: Project, external_id: str) -> Persona:
    """The customer with this identifier, created if there is none. Locked, unless they were merged into another."""
    for known in PERSONA(project.pk, external_id):
        return known
    persona = Persona(project=project, external_id=external_id)
    if not insert_if_absent(persona):
        # Merged, or created concurrently.
        persona = Persona.objects.get(project=project, external_id=external_id)
        lock_customer(persona.pk)
        persona.refresh_from_db(fields=["merged_into"])
    return persona


def give_fields(
    persona: Persona,
    fields: Mapping[str, str],
    *,
    conversation_id: UUID | None = None,
    source: ConsentSource = ConsentSource.API,
) -> None:
    """Set a customer's fields as given by staff, the API or a tool. Observations never override them, except to change
    a consent in the customer's own words.

    With `conversation_id`, they are fields of that conversation, where the customer's newer words replace them.
    """
    if not fields:
        return
    persona = lock_persona(persona)
    strength = Strength.GIVEN if conversation_id is None else Strength.STATED
    rows = [
        PersonaField(persona=persona, conversation_id=conversation_id, key=key, value=fields[key], strength=strength)
        for key in sorted(fields)
    ]
    # Sorted, so that concurrent writers of the same fields don't deadlock.
    PersonaField.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["organization", "persona", "key", "conversation"],
        update_fields=["value", "strength", "quote", "message_id", "turn_id", "updated_at"],
    )
    if conversation_id is None:
        record_given(persona, fields, source=source)


def set_observed_field(persona: Persona, key: str, value: str) -> bool:
    """Set a field that a model read from a tool's result. It never replaces another value.

    Returns False if another value exists.
    """
    persona = lock_persona(persona)
    field = PersonaField(persona=persona, key=key, value=value, strength=Strength.STATED)
    if not insert_if_absent(field):
        known = PersonaField.objects.get(persona=persona, conversation=None, key=key)
        if known.value != value:
            return False
    if key in CONTACT_FIELDS:
        bind_refusals(persona)
    return True


def post_message(
    conversation_id: UUID,
    content: str,
    *,
    attachments: Sequence[StoredAttachment] = (),
    project_id: UUID | None = None,
    is_answered: bool = True,
    may_refuse: bool = True,
    reply_delay: timedelta | None = None,
    job: ClaimedJob | None = None,
) -> Posted:
    """Store a customer's message and queue its reply. The newer-message policy decides about a reply in progress; what it
    refuses waits for its turn if the channel can't refuse (`may_refuse`).

    `attachments` describes files that the caller binds to the message (`conversations.handover.customer_files`).
    Without `is_answered`, the message is stored and observed only. The reply begins after `reply_delay`, or
    once `jobs.enqueue.bring_forward` is called.

    A caller that listens under a `job`, such as a phone call's, passes it: nothing is written once another process holds it.

    While an operator has the conversation, the message is only stored and observed. Concurrent messages are answered in
    the order of their `seq`. The caller admits the message first (`conversations.turns.admission`).

    Raises Conversation.DoesNotExist (also for a conversation outside `project_id`),
    ReplyInProgress, ConversationOver, LeaseLost.
    """
    with open_log(conversation_id, project_id=project_id) as log:
        if job is not None:
            prove(job)
        reopen(log)
        policy = policy_for(log)
        if policy == "reject" and may_refuse:
            refuse_while_answering(log)
        if log.conversation.operator_id is not None or not is_answered:
            message = log.add_message(MessageRole.USER, content, turn=None, idn="user_message", attachments=attachments)
            event = log.conversation.last_event
            queue_observation(log, message)
            return Posted(log.conversation, message, turn=None, event=event)
        turn = log.add_turn(message_id=uuid7())
        message = log.add_message(
            MessageRole.USER, content, turn=turn, idn="user_message", id=turn.message_id, attachments=attachments
        )
        event = log.conversation.last_event
        due_at = log.now + reply_delay if reply_delay else None
        queue_reply(log, turn, policy=policy if may_refuse or policy != "reject" else "queue", run_after=due_at)
    failpoint("msg.pre_commit")
    return Posted(log.conversation, message, turn, event)


def message_event(conversation_id: UUID, message_id: str) -> int:
    """The number of the event of a customer's message."""
    events = Event.objects.filter(conversation_id=conversation_id, idn="user_message", payload__id=message_id)
    return events.values_list("seq", flat=True).get()


def queue_reply(log: ConversationLog, turn: Turn, *, policy: NewerMessage, run_after: datetime | None = None) -> None:
    """Queue a turn's reply. By policy it follows unsent replies, or supersedes them and takes over their turns."""
    transaction.on_commit(partial(failpoint, "msg.post_commit_pre_wake"))
    [job] = enqueue(
        [
            JobRequest(
                lane=REPLY,
                project_id=log.conversation.project_id,
                subject_id=log.conversation.pk,
                ordinal=turn.seq,
                key=f"reply:{turn.pk}",
                run_after=run_after,
                mode=Mode.QUEUE if policy == "queue" else Mode.INTERRUPT,
            )
        ]
    )
    if job.superseded.ordinals:
        _take_over(log, turn, job.superseded)
    log.add_turn_event(turn)


def has_talked_enough(conversation: Conversation) -> bool:
    """Return True if the last MAX_AGENT_TURNS turns were all started by the agent."""
    by_agent = [message is None for (message,) in NEWEST_TURNS(conversation.pk)]
    return len(by_agent) == MAX_AGENT_TURNS and all(by_agent)


def _take_over(log: ConversationLog, turn: Turn, superseded: Superseded) -> None:
    for older in [found for seq in superseded.ordinals for found in TURN(log.conversation.pk, seq)]:
        older.status, older.superseded_by, older.finished_at = TurnStatus.SUPERSEDED, turn, timezone.now()
        log.writes.update(older, ["status", "superseded_by", "finished_at"])
        log.add_turn_event(older)


def policy_for(log: ConversationLog) -> NewerMessage:
    """The project's newer-message policy, or the channel's default."""
    use_draft(log.conversation)
    version_id = log.conversation.project.agent_version_id
    return (_policy_of(version_id) if version_id else None) or traits_of(log.conversation.channel).newer_message


@lru_cache(maxsize=4096)
def _policy_of(version_id: UUID) -> NewerMessage | None:
    """The policy in an agent version; cached, because versions are immutable."""
    policies = AgentVersion.objects.filter(pk=version_id).values_list("document__newer_message", flat=True)
    return cast(NewerMessage | None, policies.first())


def refuse_while_answering(log: ConversationLog) -> None:
    """Raise ReplyInProgress while a customer's message awaits its reply. Turns started by the agent don't count."""
    if Turn.objects.filter(conversation=log.conversation, status__in=UNSENT_STATUSES, message__isnull=False).exists():
        raise ReplyInProgress
