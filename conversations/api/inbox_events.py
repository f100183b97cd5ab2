"""The inbox's live stream, and the notice that a member is writing an answer."""

from __future__ import annotations

from functools import partial
from typing import ClassVar
from uuid import UUID

from django.db import transaction
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.api.live import stream_of
from conversations.api.operators import OperatorView
from conversations.api.serializers import STREAM_EVENT
from conversations.live.inbox_hints import hint_typing
from conversations.live.inbox_stream import has_room, inbox_frames
from projects.api.async_views import Continued, continues
from projects.api.authentication import Caller
from projects.api.views import ProjectView
from projects.common.api_error import ApiError
from projects.common.middleware import request_id_of
from projects.models.key import Scope

TOO_MANY = "Too many inbox streams are open for this caller. Close one, or poll."


class InboxEvents(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(
        operation_id="inbox_stream",
        responses={(200, "text/event-stream"): STREAM_EVENT},
    )
    def get(self, request: Request) -> Response:
        """Streams hints about the project's inbox as server-sent events.

        `ready` says that no later hint is missed, `changed` that the list may differ, and `typing` that a member is
        writing an answer: its data are the `conversation` and the member's `name` and `email`. Hints are not stored:
        read what you show again after `ready`, and poll while there is no stream.
        """
        return Continued(self.caller, status=200)


@continues(InboxEvents)
async def inbox_events(request: HttpRequest, served: Continued[Caller]) -> HttpResponseBase:
    """Stream the hints, unless the caller has too many streams."""
    caller = served.state
    if not has_room(caller.identity):
        problem = ApiError("too_many_streams", TOO_MANY, status=429)
        body = problem.body(request_id=request_id_of(request))
        return JsonResponse(body, status=problem.status_code, headers={"Retry-After": "60"})
    return stream_of(caller, inbox_frames(caller.project.pk, caller=caller.identity))


class Typing(OperatorView):
    @extend_schema(operation_id="conversations_typing", request=None, responses={204: None})
    def post(self, request: Request, conversation_id: UUID) -> Response:
        """Tells the other members that you are writing an answer. They see it for about six seconds. Nothing is stored."""
        conversation = self.bare_conversation(conversation_id)
        transaction.on_commit(partial(hint_typing, conversation.project_id, conversation.pk, by=self.operator))
        return Response(status=204)
