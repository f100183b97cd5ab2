"""Files that customers upload for their next message: in the widget, on their page, and over the API."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from math import ceil
from typing import Any, cast
from uuid import UUID

from django.utils.translation import gettext
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError

from conversations.common.attachment_links import customer_file_url
from conversations.common.file_lines import content_with_files
from conversations.common.payloads import AttachmentPayload
from conversations.handover.attachments import (
    MAX_PER_ANSWER,
    mark_sent,
    stored_attachment,
    take_unsent,
    upload,
    upload_ahead,
)
from conversations.live.event_log import hold_conversation
from conversations.models import Attachment, Conversation
from conversations.turns.channel_signals import ConversationOver, is_closed
from conversations.turns.services import Posted, post_message
from projects.api.serializers import VISIBLE, StrictSerializer, TextField, is_empty
from projects.api.throttling import seconds_to_wait
from projects.common.api_error import ApiError, Conflict
from projects.models import AgentVersion, Project
from tools.engine.limits.quotas import StorageFull

# Uploads a minute by all customers of a project.
UPLOADS_PER_MINUTE = 300


class FilesOff(ApiError):
    """The project takes no files in the widget and on the customer's page."""

    def __init__(self) -> None:
        super().__init__("files_off", gettext("Files can’t be sent here."), status=403)


class TooManyUploads(ApiError):
    """A customer, or all customers of the project, upload too many files at once."""

    def __init__(self, seconds: float) -> None:
        wait = max(1, ceil(seconds))
        sentence = gettext("Too many files at once. Try again in a minute.")
        super().__init__("throttled", sentence, status=429, headers={"Retry-After": str(wait)})


class FileInput(StrictSerializer):
    """A customer's message: words, files or both."""

    alternatives = (
        {
            "type": "object",
            "required": ["content"],
            "properties": {"content": {"type": "string", "minLength": 1, "pattern": VISIBLE}},
            "additionalProperties": True,
        },
        {
            "type": "object",
            "required": ["attachments"],
            "properties": {"attachments": {"type": "array", "minItems": 1}},
            "additionalProperties": True,
        },
    )
    attachments = serializers.ListField(
        child=serializers.UUIDField(),
        required=False,
        default=list,
        max_length=MAX_PER_ANSWER,
        help_text="ids of uploaded files",
    )

    def to_internal_value(self, data: Any) -> Any:
        """Words are required without files."""
        values = super().to_internal_value(data)
        if not values["attachments"] and is_empty(values["content"]):
            code, text = ("empty", "is empty.") if "content" in data else ("required", "is required.")
            raise ValidationError({"content": [ErrorDetail(text, code=code)]})
        return values


def content_field(*, longest: int) -> TextField:
    """The words of a message, which files make optional."""
    return TextField(longest=longest, required=False, allow_blank=True, default="")


def takes_files(project: Project) -> bool:
    """True if customers may send files in the widget and on their page."""
    version: AgentVersion | None = project.agent_version
    return version.config.take_files if version else True


def check_takes_files(project: Project) -> None:
    """Admit an upload. Raises FilesOff, TooManyUploads."""
    if not takes_files(project):
        raise FilesOff
    if wait := seconds_to_wait(f"uploads:{project.pk}", per_minute=UPLOADS_PER_MINUTE):
        raise TooManyUploads(wait)


def upload_from_customer(conversation: Conversation, content: bytes, *, name: str) -> Attachment:
    """Store a file for the customer's next message in a conversation. Raises Unprocessable, Conflict and ConversationOver,
    and Conversation.DoesNotExist if the conversation was deleted meanwhile.
    """
    if not hold_conversation(conversation.pk):
        raise Conversation.DoesNotExist
    if is_closed(conversation):
        raise ConversationOver
    with _for_customers():
        return upload(conversation, content, name=name, by=None)


def upload_for_next_message(project: Project, sender: str, content: bytes, *, name: str) -> AttachmentPayload:
    """Store a file for the customer's next message, whichever conversation that will be in. Raises Unprocessable and
    Conflict.
    """
    with _for_customers():
        return uploaded_payload(upload_ahead(project, sender, content, name=name))


@contextmanager
def _for_customers() -> Iterator[None]:
    try:
        yield
    except StorageFull as error:
        # How much the project stores is no business of its customers.
        raise Conflict(gettext("No more files can be sent at the moment."), code="storage_full") from error


def uploaded_payload(stored: Attachment) -> AttachmentPayload:
    """A file that the customer uploaded, as their browser gets it."""
    url = customer_file_url(cast(UUID, stored.organization_id), stored.pk)
    return {**stored_attachment(stored), "url": url}


def post_with_files(
    conversation_id: UUID,
    content: str,
    attachments: Sequence[UUID],
    *,
    senders: Collection[str] = (),
    uploaded_after: datetime | None = None,
    project_id: UUID | None = None,
) -> Posted:
    """Post a customer's message with uploaded files, as `post_message` does. `senders` are the `external_id`s of the
    customer whose waiting files it may send, if they were uploaded after that time.

    Raises Unprocessable for a file that is unknown, was sent, or isn't the customer's own.
    """
    if not attachments:
        return post_message(conversation_id, content, project_id=project_id)
    conversation = Conversation.objects.select_for_update(of=("self",)).get(pk=conversation_id)
    files = take_unsent(conversation, attachments, is_customers=True, senders=senders, uploaded_after=uploaded_after)
    words = content_with_files(content, [file["name"] for file in files])
    posted = post_message(conversation_id, words, attachments=files, project_id=project_id)
    mark_sent(attachments, message=posted.message)
    return posted
