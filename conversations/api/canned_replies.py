"""The project's canned replies, and the same with their fields filled in for a conversation."""

from __future__ import annotations

from typing import Annotated, ClassVar, TypedDict
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.api.operators import OperatorView
from conversations.api.tags import TagNameField
from conversations.inbox.canned_replies import (
    FIELDS,
    canned_replies,
    change_reply,
    delete_reply,
    fill_replies,
    make_reply,
)
from conversations.models import CannedReply
from projects.api.idempotency import idempotent
from projects.api.pagination import PAGED
from projects.api.serializers import StrictSerializer, TextField
from projects.api.typed_responses import Created, Page, TypedResponse
from projects.api.views import ProjectView
from projects.common.presenters import Id, Stamp, stamp
from projects.models.key import Scope

HELP = "The text. Its fields: " + ", ".join(f"`{{{{{name}}}}}`" for name in FIELDS) + "."


class CannedReplyPayload(TypedDict):
    """A text that staff inserts into an answer. `content` has fields such as `{{customer.name}}`."""

    id: Id
    name: str
    content: str
    created_at: Stamp
    updated_at: Stamp


class FilledReplyPayload(TypedDict):
    id: Id
    name: str
    content: Annotated[str, "The text with its fields filled in."]
    missing: Annotated[list[str], "Fields without a value, which stay in the text."]


class FilledRepliesPayload(TypedDict):
    results: list[FilledReplyPayload]


class CannedReplyInput(StrictSerializer):
    name = TagNameField(max_length=40)
    content = TextField(longest=4_000, help_text=HELP)


class CannedReplyPatch(StrictSerializer):
    name = TagNameField(max_length=40, required=False)
    content = TextField(longest=4_000, required=False, help_text=HELP)


class CannedReplies(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.OPERATE}
    queries: ClassVar = {"GET": PAGED}

    @extend_schema(operation_id="canned_replies_list")
    def get(self, request: Request) -> TypedResponse[Page[CannedReplyPayload]]:
        """Returns the project's canned replies, newest first."""
        return self.page(canned_replies(self.project), canned_reply_payload)

    @extend_schema(operation_id="canned_replies_create", request=CannedReplyInput)
    @idempotent
    def post(self, request: Request) -> Created[CannedReplyPayload]:
        """Adds a canned reply. Its name is what operators type after `/`."""
        data = self.valid(CannedReplyInput)
        return Created(canned_reply_payload(make_reply(self.project, data["name"], data["content"])))


class CannedReplyDetail(ProjectView):
    scopes: ClassVar = {"PATCH": Scope.OPERATE, "DELETE": Scope.OPERATE}

    @extend_schema(operation_id="canned_replies_change", request=CannedReplyPatch)
    def patch(self, request: Request, reply_id: UUID) -> TypedResponse[CannedReplyPayload]:
        """Changes a canned reply."""
        return TypedResponse(canned_reply_payload(change_reply(self._reply(reply_id), self.valid(CannedReplyPatch))))

    @extend_schema(operation_id="canned_replies_delete", responses={204: None})
    def delete(self, request: Request, reply_id: UUID) -> Response:
        """Deletes a canned reply."""
        delete_reply(self._reply(reply_id))
        return Response(status=204)

    def _reply(self, reply_id: UUID) -> CannedReply:
        found = canned_replies(self.project).select_for_update().filter(pk=reply_id).first()
        if found is None:
            raise Http404
        return found


class FilledReplies(OperatorView):
    scopes: ClassVar = {"GET": Scope.OPERATE}

    @extend_schema(operation_id="conversations_canned_replies")
    def get(self, request: Request, conversation_id: UUID) -> TypedResponse[FilledRepliesPayload]:
        """Returns the project's canned replies by name, with their fields filled in for the conversation."""
        filled = fill_replies(self.bare_conversation(conversation_id), by=self.operator)
        results: list[FilledReplyPayload] = [
            {"id": str(one.reply.pk), "name": one.reply.name, "content": one.content, "missing": list(one.missing)}
            for one in filled
        ]
        return TypedResponse({"results": results})


def canned_reply_payload(reply: CannedReply) -> CannedReplyPayload:
    return {
        "id": str(reply.pk),
        "name": reply.name,
        "content": reply.content,
        "created_at": stamp(reply.created_at),
        "updated_at": stamp(reply.updated_at),
    }
