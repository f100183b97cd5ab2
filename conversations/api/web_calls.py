"""A call that begins here instead of at a phone: from a browser, or by a caller who types."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from conversations.api.views import ConversationView
from conversations.calls.web_calls import (
    LONGEST_OFFER,
    BrowserCallPayload,
    BrowserEvent,
    browser_payload,
    note_event,
    start_typed_call,
    start_web_call,
    type_words,
)
from conversations.common.voice_session import is_voice_call
from conversations.models import Call, Channel
from conversations.voice.reports import NoVoice
from projects.api.idempotency import idempotent
from projects.api.serializers import StrictSerializer, TextField
from projects.api.typed_responses import Accepted, TypedResponse
from projects.models.key import Scope

LONGEST_WORDS = 8_000
REFUSED = OpenApiResponse(description="The conversation is no call, or the customer is in a call already.")
OVER = OpenApiResponse(description="The call is over.")


class CallOfferInput(StrictSerializer):
    """The browser's SDP `offer`, for a conversation of the channel `webcall`. Without it, the caller types; that needs an
    installation with the offline provider.
    """

    offer = TextField(longest=LONGEST_OFFER, required=False)


class CallEventInput(StrictSerializer):
    """An event of the browser's side: its audio is connected, or it has hung up."""

    event = serializers.ChoiceField(choices=BrowserEvent.choices)


class CallWordsInput(StrictSerializer):
    """The caller's words."""

    text = TextField(longest=LONGEST_WORDS)


class ConversationCallView(ConversationView):
    """A view of a conversation's call."""

    def call(self, conversation_id: UUID) -> Call:
        """The conversation's call. Raises Http404."""
        conversation = self.bare_conversation(conversation_id)
        found = Call.objects.filter(conversation=conversation).first()
        if found is None:
            raise Http404
        return found


class ConversationCall(ConversationCallView):
    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.CONVERSE}

    @extend_schema(operation_id="conversation_call_read")
    def get(self, request: Request, conversation_id: UUID) -> TypedResponse[BrowserCallPayload]:
        """Returns the conversation's call, with the provider's SDP answer once it is there."""
        return TypedResponse(browser_payload(self.call(conversation_id)))

    @extend_schema(operation_id="conversation_call_start", request=CallOfferInput, responses={409: REFUSED})
    @idempotent
    def post(self, request: Request, conversation_id: UUID) -> Accepted[BrowserCallPayload]:
        """Starts the call of a new conversation.

        Read the call until it has an `answer`, give it to the browser, and report `connected`: then the agent speaks.

        A member's session may only call in test conversations; elsewhere it gets a 403.
        """
        conversation = self.bare_conversation(conversation_id)
        self.require_write_access(conversation_id)
        offer = self.valid(CallOfferInput).get("offer", "")
        if (offer and conversation.channel != Channel.WEBCALL) or not is_voice_call(conversation):
            raise NoVoice(conversation.channel)
        call = start_web_call(conversation, offer=offer) if offer else start_typed_call(conversation)
        return Accepted(browser_payload(call))


class ConversationCallEvents(ConversationCallView):
    scopes: ClassVar = {"POST": Scope.CONVERSE}

    @extend_schema(operation_id="conversation_call_report", request=CallEventInput)
    def post(self, request: Request, conversation_id: UUID) -> TypedResponse[BrowserCallPayload]:
        """Reports that the browser's audio is connected, or hangs up. A repeated report changes nothing."""
        self.require_write_access(conversation_id)
        event = BrowserEvent(self.valid(CallEventInput)["event"])
        return TypedResponse(browser_payload(note_event(self.call(conversation_id), event)))


class ConversationCallWords(ConversationCallView):
    scopes: ClassVar = {"POST": Scope.CONVERSE}

    @extend_schema(operation_id="conversation_call_type", request=CallWordsInput, responses={409: OVER})
    @idempotent
    def post(self, request: Request, conversation_id: UUID) -> Accepted[BrowserCallPayload]:
        """Says something to the agent, in a call whose caller types."""
        self.require_write_access(conversation_id)
        text = self.valid(CallWordsInput)["text"]
        return Accepted(browser_payload(type_words(self.call(conversation_id), text)))
