"""Internal notes in a conversation."""

from __future__ import annotations

from typing import Annotated, ClassVar, TypedDict
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.api.operators import OperatorView
from conversations.api.tickets import AssigneePayload
from conversations.inbox.notes import MAX_MENTIONS, add_note, find_members, notes_of, read_mentions
from conversations.models import Note
from projects.api.idempotency import idempotent
from projects.api.pagination import PAGED
from projects.api.serializers import StrictSerializer, TextField
from projects.api.typed_responses import Created, Page, TypedResponse
from projects.common.api_error import Unprocessable
from projects.common.presenters import Id, Stamp, stamp
from projects.models.key import Scope


class NotePayload(TypedDict):
    """A note that only staff sees."""

    id: Id
    content: str
    author: Annotated[str, "The author's name when the note was written."]
    mentions: Annotated[list[AssigneePayload], "The mentioned members."]
    created_at: Stamp


class NoteInput(StrictSerializer):
    content = TextField(longest=8_000)
    mentions = serializers.ListField(
        child=serializers.EmailField(),
        required=False,
        default=list,
        max_length=MAX_MENTIONS,
        help_text="e-mail addresses of members with the operate scope",
    )


class Notes(OperatorView):
    scopes: ClassVar = {"GET": Scope.OPERATE, "POST": Scope.OPERATE}
    queries: ClassVar = {"GET": PAGED}

    @extend_schema(operation_id="notes_list")
    def get(self, request: Request, conversation_id: UUID) -> TypedResponse[Page[NotePayload]]:
        """Returns the conversation's internal notes, oldest first."""
        return self.page(notes_of(self.bare_conversation(conversation_id).pk), note_payload, ordering="id")

    @extend_schema(operation_id="notes_create", request=NoteInput)
    @idempotent
    def post(self, request: Request, conversation_id: UUID) -> Created[NotePayload]:
        """Adds an internal note, which the customer never sees and the agent never reads.

        Mentioned members find the conversation under *Mine* until they have read the note.
        """
        data, row = self.valid(NoteInput), self.bare_conversation(conversation_id)
        if not data["content"].strip("@ \n\t"):
            raise Unprocessable("empty_note", "content: Write the note. An @ alone mentions nobody.", field="content")
        note = add_note(row.pk, data["content"], by=self.operator, mentioned=find_members(data["mentions"]))
        return Created(note_payload(note))


class NotesRead(OperatorView):
    @extend_schema(operation_id="notes_read", request=None, responses={204: None})
    def post(self, request: Request, conversation_id: UUID) -> Response:
        """Marks the notes that mention you as read. A note or an answer of yours does so, too."""
        read_mentions(self.bare_conversation(conversation_id).pk, by=self.operator)
        return Response(status=204)


def note_payload(note: Note) -> NotePayload:
    """Needs the mentions with their users prefetched, or else queries them."""
    users = [mention.user for mention in note.mentions.all()]
    return {
        "id": str(note.pk),
        "content": note.content,
        "author": note.author_name,
        "mentions": [{"name": user.name, "email": user.email} for user in users],
        "created_at": stamp(note.created_at),
    }
