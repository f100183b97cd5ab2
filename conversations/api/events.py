"""Views of a conversation's events: the stream, the log, and system events from outside."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.api.serializers import STREAM_EVENT, EventInput, OpenStream
from conversations.api.views import ConversationView
from conversations.common.payloads import EventPayload, SentEventPayload
from conversations.common.turn_detail import turn_summary
from conversations.followups.system_events import USER_MESSAGE, post_event
from conversations.live.stream import StreamCursor
from conversations.models import Event
from conversations.models.event import EventType
from projects.api.async_views import Continued
from projects.api.idempotency import idempotent
from projects.api.pagination import PAGED
from projects.api.typed_responses import Accepted, Page, TypedResponse


class Events(ConversationView):
    queries: ClassVar = {
        "GET": (
            OpenApiParameter("after", OpenApiTypes.STR, description="like `Last-Event-ID`, which takes precedence"),
        )
    }
    plans_once = frozenset({"GET"})

    @extend_schema(operation_id="events_stream", responses={(200, "text/event-stream"): STREAM_EVENT})
    def get(self, request: Request, conversation_id: UUID) -> Response:
        """Streams the conversation's events as server-sent events. Reconnect with `Last-Event-ID` to resume."""
        conversation = self.bare_conversation(conversation_id)
        asked = request.headers.get("Last-Event-ID") or request.query_params.get("after") or "0"
        known = asked.isascii() and asked.isdigit() and len(asked) < 10 and int(asked) <= conversation.last_event
        after = int(asked) if known else 0
        is_silent = after == conversation.last_event and not conversation.last_turn
        cursor = StreamCursor(
            self.caller.organization_id, conversation_id, after, is_reset=not known, is_silent=is_silent
        )
        return Continued(OpenStream(self.caller, cursor), status=200)

    @extend_schema(operation_id="events_create", request=EventInput)
    @idempotent
    def post(self, request: Request, conversation_id: UUID) -> Accepted[SentEventPayload]:
        """Sends a system event to the conversation.

        `urgent_message` makes the agent speak, `convoagent_activate_waiting_mode` opens waiting mode, and `user_message`
        is a message of the customer. Their `payload` has a `text`, or `seconds` and a `reason`.

        An event that a subscription or a tool of the project names is delivered to its subscriber, as the returned
        `effect`. Any other event starts nothing, and gets a 422 with the list of those that do.
        """
        data = self.valid(EventInput)
        conversation = self.bare_conversation(conversation_id)
        if data["idn"] == USER_MESSAGE:
            self.require_write_access(conversation_id)
        started = post_event(conversation, data["idn"], data["payload"])
        turn, effect = started.turn, started.effect
        return Accepted(
            {
                "idn": data["idn"],
                "turn": turn_summary(turn) if turn else None,
                "effect": str(effect.pk) if effect else None,
            }
        )


class SystemEvents(ConversationView):
    queries: ClassVar = {"GET": PAGED}

    @extend_schema(operation_id="events_list")
    def get(self, request: Request, conversation_id: UUID) -> TypedResponse[Page[EventPayload]]:
        """Returns every event of the conversation in order, including those that are not streamed."""
        rows = Event.objects.filter(conversation=self.bare_conversation(conversation_id))
        return self.page(rows, _event_payload, ordering="seq")


def _event_payload(event: Event) -> EventPayload:
    streamed = event.type if event.type != EventType.SYSTEM else None
    return {
        "seq": event.seq,
        "idn": event.idn,
        "connector": event.connector,
        "type": streamed,
        "payload": event.payload,
        "created_at": event.created_at,
    }
