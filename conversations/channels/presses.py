"""Pressed buttons: what each of them does, and our word to the provider that the press was heard."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from conversations.channels.blocks import person_of, show_blocks
from conversations.channels.items import IncomingMessage
from conversations.channels.provider import Provider
from conversations.channels.registry import PROVIDERS
from conversations.handover.requests import request_person
from conversations.models import Conversation, Message, MessageRole
from jobs.enqueue import JobRequest, enqueue
from jobs.fence import job_tx, reading
from jobs.lanes import ClaimedJob
from jobs.models import State
from jobs.outages import until_stored
from projects.common.crypto import WrongSecret
from projects.connections.integrations import Connection, open_source
from tenancy.threads import in_db
from tools.models import Escalation, EscalationState

PRESS = "press"


def with_choice(item: IncomingMessage, conversation: Conversation, provider: Provider) -> IncomingMessage:
    """The message, with the choice that its number stands for on a channel without buttons."""
    number = item.text.strip(" .")
    if provider.longest_with_buttons or not number.isdecimal() or len(number) > 2:
        return item
    newest = Message.objects.filter(conversation=conversation, role=MessageRole.AGENT).order_by("-seq").first()
    buttons = show_blocks(newest.blocks, conversation).buttons if newest else ()
    chosen = next(iter(buttons[int(number) - 1 : int(number)]), None) if int(number) else None
    return replace(item, text=chosen.label, choice=chosen.id) if chosen else item


def open_request_of(choice: str, conversation: Conversation) -> UUID | None:
    """The request for a person that a button makes, if it is still open."""
    escalation = person_of(choice)
    if escalation is None:
        return None
    rows = Escalation.objects.filter(pk=escalation, conversation_id=conversation.pk)
    return escalation if rows.exclude(state=EscalationState.RESOLVED).exists() else None


def ask_for_person(conversation: Conversation, escalation: UUID) -> None:
    """Make the request. The customer is answered in this chat, so they need no other contact."""
    request_person(conversation, escalation, {}, is_reachable=True)


def queue_acknowledgment(conversation: Conversation, kind: str, press: str) -> None:
    """Tell the provider after the commit. It comes before the conversation's messages, which take longer."""
    job = JobRequest(
        lane="channel",
        project_id=conversation.project_id,
        subject_id=conversation.pk,
        ordinal=0,
        key=f"{PRESS}:{kind}:{press}"[:120],
    )
    enqueue([job])


def is_press(job: ClaimedJob) -> bool:
    return job.key.startswith(f"{PRESS}:")


async def acknowledge_press(job: ClaimedJob) -> None:
    """Tell the provider once. A press that it doesn't hear about is a message all the same."""
    _, kind, press = job.key.split(":", 2)
    connection = await in_db(_connection, job, kind)
    if connection is not None:
        await PROVIDERS[kind].acknowledge(connection, press)
    await until_stored(_finish, job)


def _connection(job: ClaimedJob, kind: str) -> Connection | None:
    with reading(job):
        project_id = Conversation.objects.values_list("project_id", flat=True).get(pk=job.subject_id)
        try:
            return open_source(project_id, kind)
        except WrongSecret:
            return None


def _finish(job: ClaimedJob) -> None:
    with job_tx(job, finish=State.DONE):
        pass
