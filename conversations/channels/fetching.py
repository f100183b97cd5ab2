"""The lane that fetches customers' files from their provider, after the webhook was answered.

A message's files are stored, attached to it and shown in one transaction, so none is attached twice. Its reply waits
for that, but not for long. A file that can't be fetched leaves a sentence in its place.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

from conversations.channels.delivered import delete_contents, read_content
from conversations.channels.items import IncomingMessage, RemoteFile
from conversations.channels.media import MOST_BYTES, TOO_LARGE, FetchLater, NotFetched
from conversations.channels.placeholders import FAILED, has_failed, missing, placeholder, with_lines
from conversations.channels.provider import Provider
from conversations.channels.registry import PROVIDERS
from conversations.channels.transcription import OnRecord, find_transcriber, transcribe
from conversations.channels.vcards import is_vcard, read_vcards
from conversations.common.payloads import StoredAttachment
from conversations.common.presenters import message_payload
from conversations.handover.attachments import MAX_BYTES, MAX_MEDIA_BYTES, receive, stored_attachment
from conversations.handover.media_types import seconds_of
from conversations.live.event_log import ConversationLog, job_log, lock_conversation, open_log
from conversations.models import Delivery, Message
from conversations.models.event import EventType
from conversations.turns.flags import flag_unread_files, unflag_unread_files
from conversations.turns.services import REPLY
from jobs.enqueue import JobRequest, bring_forward
from jobs.errors import Skip, TryLater
from jobs.failpoints import failpoint
from jobs.fence import reading
from jobs.lanes import ClaimedJob, Lane, Mode, Queue
from jobs.model_client import call_rows
from jobs.models import LIVE, Job, ModelCall, State
from jobs.outages import until_stored
from llm.types import CallRecord, ModelSpec
from projects.common.api_error import ApiError
from projects.common.crypto import WrongSecret
from projects.connections.integrations import Connection, open_source
from projects.models import Project
from tenancy.prepared_queries import PreparedQuery
from tenancy.threads import in_db

LANE = "channel_files"
FETCHING = PreparedQuery(
    lambda conversation: Job.objects.filter(lane=LANE, subject_id=conversation, state__in=LIVE)[:1], kinds=(UUID,)
)
# A reply waits for its files no longer than this.
PATIENCE = timedelta(seconds=20)
# The seconds before each further try. The first two end within a reply's patience.
PAUSES = (2.0, 6.0, 30.0, 120.0)
DISCONNECTED = "the channel isn’t connected any more"
GONE = "The message was deleted."
# The reasons of the attachments' own rules.
REASONS: Mapping[str, str] = {
    "empty_file": "it’s empty",
    "file_too_large": TOO_LARGE,
    "image_too_large": TOO_LARGE,
    "file_type_not_allowed": "only images, audio, videos, PDFs and texts can be",
    "file_type_differs": "it isn’t what it was sent as",
    "storage_full": "the storage is full",
}


@dataclass(frozen=True)
class FetchContext:
    """The files of a message, the connection that they are fetched by, None if there is none any more, and the model that
    transcribes them.
    """

    message_id: UUID
    item: IncomingMessage
    provider: Provider
    connection: Connection | None
    transcriber: ModelSpec | None


@dataclass(frozen=True)
class FetchedFile:
    """The content of a file, and what is said in it."""

    content: bytes
    transcript: str = ""


# A file, or the reason why there is none.
Fetched = FetchedFile | NotFetched


def fetch_job(delivery: Delivery) -> JobRequest:
    """The job that fetches the files of a delivered message."""
    assert delivery.conversation_id is not None
    key = f"{LANE}:{delivery.pk}"
    return JobRequest(
        lane=LANE, project_id=delivery.project_id, subject_id=delivery.conversation_id, ordinal=0, key=key
    )


def is_fetching(conversation_id: UUID) -> bool:
    """True while files of the conversation are on their way."""
    return bool(FETCHING(conversation_id))


def files_lane() -> Lane:
    """The lane as the workers know it."""
    return Lane(
        name=LANE,
        queue=Queue.WORK,
        mode=Mode.QUEUE,
        handler=run_channel_files,
        # Each holds its files in memory.
        slots=8,
        deadline=timedelta(minutes=5),
        lock=lock_conversation,
        on_failed=fail_channel_files,
    )


async def run_channel_files(job: ClaimedJob) -> None:
    """Fetch the files of a message, and attach them to it."""
    context = await in_db(_read, job)
    fetched = await _fetch_all(
        job, context, may_wait=job.token <= len(PAUSES), pause=PAUSES[min(job.token, len(PAUSES)) - 1]
    )
    calls = list[CallRecord]()
    fetched = await _transcribe_all(context, fetched, record=calls.append)
    failpoint("channel_files.fetched_pre_commit")
    await until_stored(_attach, job, context, fetched, calls)
    failpoint("channel_files.attached")


def fail_channel_files(job: ClaimedJob, reason: str) -> None:
    """Say in place of the files that they aren't there, and flag the conversation. What came with the message is kept for
    the job's next run.
    """
    with open_log(job.subject_id) as log:
        if (context := _context_of(job)) is not None:
            message = _show(log, context, [NotFetched(file.missing or FAILED) for file in context.item.files])
            flag_unread_files(log, message, reason=reason)
            _release_replies(job)


def _read(job: ClaimedJob) -> FetchContext:
    with reading(job):
        context = _context_of(job)
    if context is None:
        raise Skip(GONE)
    return context


def _context_of(job: ClaimedJob) -> FetchContext | None:
    delivery = Delivery.objects.filter(pk=UUID(job.key.partition(":")[2])).first()
    if delivery is None or delivery.message_id is None:
        return None
    provider = PROVIDERS[delivery.kind]
    item = provider.parse_stored(delivery.body)
    if not isinstance(item, IncomingMessage):
        return None
    project = Project.objects.select_related("agent_version").get(pk=delivery.project_id)
    transcriber = find_transcriber(project, item.files)
    return FetchContext(delivery.message_id, item, provider, _connection_of(delivery, provider), transcriber)


def _connection_of(delivery: Delivery, provider: Provider) -> Connection | None:
    try:
        connection = open_source(delivery.project_id, delivery.kind)
    except WrongSecret:
        return None
    return connection if connection and provider.account_of(connection) == delivery.account else None


async def _fetch_all(job: ClaimedJob, context: FetchContext, *, may_wait: bool, pause: float) -> list[Fetched]:
    """Fetch each file. Raises TryLater if one can't be fetched now, and there is time for another try."""
    fetched: list[Fetched] = []
    room = MOST_BYTES
    for number in range(len(context.item.files)):
        try:
            content = await _fetch(job, context, number, room=room)
        except NotFetched as failure:
            if may_wait and isinstance(failure, FetchLater):
                raise TryLater(str(failure), delay_seconds=pause) from None
            fetched.append(failure)
        else:
            room -= len(content)
            fetched.append(FetchedFile(content))
    return fetched


async def _transcribe_all(context: FetchContext, fetched: Sequence[Fetched], *, record: OnRecord) -> list[Fetched]:
    """The files with what is said in them, side by side."""
    if (model := context.transcriber) is None:
        return list(fetched)

    async def transcribed(file: RemoteFile, found: Fetched) -> Fetched:
        if isinstance(found, NotFetched):
            return found
        return replace(found, transcript=await transcribe(model, file, found.content, record=record))

    return list(await asyncio.gather(*map(transcribed, context.item.files, fetched)))


async def _fetch(job: ClaimedJob, context: FetchContext, number: int, *, room: int) -> bytes:
    file = context.item.files[number]
    if file.missing:
        raise NotFetched(file.missing)
    if not file.ref:
        return await in_db(_delivered, job, context.message_id, number)
    if context.connection is None:
        raise NotFetched(DISCONNECTED)
    most = MAX_MEDIA_BYTES if file.label else MAX_BYTES
    return await context.provider.fetch(context.connection, file, max_bytes=min(most, room))


def _delivered(job: ClaimedJob, message_id: UUID, number: int) -> bytes:
    with reading(job):
        content = read_content(message_id, number)
    if content is None:
        raise NotFetched(FAILED)
    return content


def _attach(job: ClaimedJob, context: FetchContext, fetched: Sequence[Fetched], calls: Sequence[CallRecord]) -> None:
    with job_log(job, job.subject_id, finish=State.DONE) as log:
        # First, because the storage limit counts them.
        delete_contents(context.message_id)
        message = _show(log, context, fetched)
        project_id, subject_id, turn_id = log.conversation.project_id, job.subject_id, message.turn_id
        ModelCall.objects.bulk_create(
            call_rows(calls, project_id=project_id, job_id=job.id, subject_id=subject_id, turn_id=turn_id)
        )
        _release_replies(job)


def _show(log: ConversationLog, context: FetchContext, fetched: Sequence[Fetched]) -> Message:
    """Store the files, and show them and what is missing in their message."""
    message = Message.objects.get(pk=context.message_id)
    lines, stored = list[str](), list[StoredAttachment]()
    for file, found in zip(context.item.files, fetched, strict=True):
        try:
            attached = _store(log, message, file, found)
        except NotFetched as failure:
            lines.append(missing(file, str(failure)))
        else:
            stored.append(attached)
            lines.append(_line_of(file, found, attached["name"]))
    if has_failed(message.content, context.item):
        unflag_unread_files(log, message)
    message.content, message.attachments = with_lines(message.content, context.item, lines), list(stored)
    message.save(update_fields=["content", "attachments"])
    log.add_event("message_files_added", payload=message_payload(message), type=EventType.MESSAGE)
    return message


def _line_of(file: RemoteFile, found: Fetched, name: str) -> str:
    assert isinstance(found, FetchedFile)
    if is_vcard(file.declared_type) and (contacts := read_vcards(found.content)):
        return contacts
    return placeholder(file, name=name, seconds=seconds_of(found.content), transcript=found.transcript)


def _store(log: ConversationLog, message: Message, file: RemoteFile, found: Fetched) -> StoredAttachment:
    """Store a file. Raises NotFetched with the reason why it isn't kept."""
    if isinstance(found, NotFetched):
        raise found
    try:
        row = receive(log.conversation, message, found.content, name=file.name, declared_type=file.declared_type)
    except ApiError as error:
        raise NotFetched(REASONS.get(error.code, FAILED)) from None
    return stored_attachment(row)


def _release_replies(job: ClaimedJob) -> None:
    """Let the conversation's reply begin, unless other files are on their way."""
    others = Job.objects.filter(lane=LANE, subject_id=job.subject_id, state__in=LIVE).exclude(pk=job.id)
    if not others.exists():
        bring_forward(lane=REPLY, subject_id=job.subject_id)
