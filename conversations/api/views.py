"""Views of conversations, messages, turns, events and customers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar
from uuid import UUID

from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.api.known import known_fields
from conversations.api.serializers import (
    STREAM_EVENT,
    ConversationInput,
    MessageInput,
    PersonaPatch,
    ReplyWait,
    TurnStream,
    wait_seconds,
)
from conversations.common.merged import find_persona
from conversations.common.payloads import (
    ConversationPayload,
    CustomerPayload,
    MessagePayload,
    PersonaPayload,
    PostedPayload,
    RepliedPayload,
    TurnPayload,
    TurnSummaryPayload,
)
from conversations.common.presenters import (
    conversation_payload,
    customer_payload,
    message_payload,
    messages_with_receipts,
    new_conversation_payload,
    operator_payload,
    persona_payload,
    read_conversation,
    with_relations,
)
from conversations.common.turn_detail import turn_payload, turn_summary
from conversations.customers.search import customers_with, find_customers
from conversations.handover.customer_files import post_with_files
from conversations.live.archive import find_archive, read_messages
from conversations.live.stream import StreamCursor
from conversations.models import Channel, ConsentSource, Conversation, Message, Persona, Turn
from conversations.models.conversation import is_test
from conversations.turns.admission import admit_turn
from conversations.turns.services import give_fields, message_event, start_conversation
from projects.api.async_views import Continued
from projects.api.authentication import caller_of
from projects.api.idempotency import idempotent
from projects.api.pagination import PAGED
from projects.api.typed_responses import Accepted, Created, Page, TypedResponse
from projects.api.views import ProjectView
from projects.common.api_error import ApiError
from projects.models.key import Scope
from tenancy.prepared_queries import PreparedQuery

LONGEST_SEARCH = 200
# A parameter that is left out or has a value.
NOT_EMPTY = {"type": "string", "minLength": 1, "pattern": r"\S"}
READ_CONVERSE = {"GET": Scope.READ, "POST": Scope.CONVERSE}

ANSWER_AS_YOURSELF = (
    "Members can't write as the customer. To answer as yourself, take the conversation over"
    " (POST …/take-over), then use POST …/operator-messages."
)
NOT_A_TEST_CUSTOMER = (
    "This customer has real conversations, so members can't play them in a test. Use another persona.external_id."
)

BARE = PreparedQuery(
    lambda project, conversation: Conversation.objects.filter(project_id=project, pk=conversation), kinds=(UUID, UUID)
)


class ConversationView(ProjectView):
    """Base class for views of one conversation in the caller's project."""

    scopes: ClassVar = READ_CONVERSE

    def bare_conversation(self, conversation_id: UUID) -> Conversation:
        """The conversation's row; Http404 if the project has no such conversation."""
        found = BARE(self.project.pk, conversation_id)
        if not found:
            raise Http404
        return found[0]

    def conversation(self, conversation_id: UUID) -> ConversationPayload:
        """The conversation's payload; Http404 if the project has no such conversation."""
        try:
            return read_conversation(self.project.pk, conversation_id)
        except Conversation.DoesNotExist as error:
            raise Http404 from error

    def require_write_access(self, conversation_id: UUID) -> None:
        """Raise ApiError if a member would write as a real customer, Http404 if the project has no such conversation."""
        caller = caller_of(self.request)
        if caller and caller.member and not self.bare_conversation(conversation_id).is_test:
            raise ApiError("not_a_test_conversation", ANSWER_AS_YOURSELF, status=403)


class Conversations(ConversationView):
    queries: ClassVar = {"GET": (*PAGED, OpenApiParameter("channel", OpenApiTypes.STR, enum=Channel.values))}
    plans_once = frozenset({"POST"})

    @extend_schema(operation_id="conversations_list")
    def get(self, request: Request) -> TypedResponse[Page[ConversationPayload]]:
        """Returns a list of the project's conversations, newest first; with `channel`, those of one channel."""
        rows = Conversation.objects.filter(project_id=self.project.pk)
        if channel := request.query_params.get("channel"):
            rows = rows.filter(channel=channel)
        return self.page(with_relations(rows), conversation_payload)

    @extend_schema(operation_id="conversations_create", request=ConversationInput)
    @idempotent
    def post(self, request: Request) -> Created[ConversationPayload]:
        """Creates a conversation with a customer. An unknown `external_id` creates the customer, too."""
        data = self.valid(ConversationInput)
        self._refuse_impersonation(data["persona"]["external_id"], data["metadata"])
        conversation = start_conversation(
            self.project,
            channel=data["channel"],
            external_id=data["persona"]["external_id"],
            known=known_fields(self.project, data["persona"], path="persona."),
            metadata=data["metadata"],
        )
        return Created(new_conversation_payload(conversation))

    def _refuse_impersonation(self, external_id: str, metadata: Mapping[str, Any]) -> None:
        """Raise ApiError if a member would open a test conversation as a customer who has real ones."""
        if not self.caller.member or not is_test(metadata):
            return
        known = Conversation.objects.filter(project_id=self.project.pk, persona__external_id=external_id)
        # By containment: a key that is missing would make a comparison unknown.
        if known.exclude(metadata__contains={"playground": True}).exists():
            raise ApiError("not_a_test_customer", NOT_A_TEST_CUSTOMER, status=403, field="persona.external_id")


class ConversationDetail(ConversationView):
    @extend_schema(operation_id="conversations_read")
    def get(self, request: Request, conversation_id: UUID) -> TypedResponse[ConversationPayload]:
        """Retrieves a conversation."""
        return TypedResponse(self.conversation(conversation_id))


class Messages(ConversationView):
    queries: ClassVar = {
        "GET": PAGED,
        "POST": (
            OpenApiParameter(
                "wait", {"type": "number", "minimum": 0}, description="seconds to wait for the reply, at most 60"
            ),
        ),
    }
    plans_once = frozenset({"POST"})

    @extend_schema(operation_id="messages_list")
    def get(self, request: Request, conversation_id: UUID) -> TypedResponse[Page[MessagePayload]]:
        """Returns the conversation's messages, oldest first."""
        conversation = self.bare_conversation(conversation_id)
        if conversation.archived_at is not None:
            return self.page(read_messages(conversation), message_payload, ordering="seq")
        rows = Message.objects.filter(conversation=conversation)
        return self.page(rows, messages_with_receipts(conversation), ordering="seq")

    @extend_schema(
        operation_id="messages_create",
        request=MessageInput,
        responses={(200, "text/event-stream"): STREAM_EVENT},
    )
    @idempotent
    def post(self, request: Request, conversation_id: UUID) -> Accepted[PostedPayload] | TypedResponse[RepliedPayload]:
        """Creates a customer message, which the agent replies to. Use `wait` to wait for the reply, or `Accept:
        text/event-stream` to stream the turn.

        While an operator has the conversation, the message is stored for them: `turn` is null, nothing is awaited or
        streamed, and `operator` is set. If an operator takes over while a client waits, the response is an immediate
        202: `reply` is null, the turn is `superseded` and `operator` is set. The operator's answers are messages of the
        conversation.

        `attachments` names up to five files that were uploaded for it; `content` may then be left out.

        A member's session may only write to test conversations; elsewhere it gets a 403.
        """
        data = self.valid(MessageInput)
        self.require_write_access(conversation_id)
        # Validated before anything is stored: clients retry after an error.
        wait_seconds(request.query_params.get("wait", ""))
        admit_turn(self.project)
        try:
            posted = post_with_files(conversation_id, data["content"], data["attachments"], project_id=self.project.pk)
        except Conversation.DoesNotExist as error:
            raise Http404 from error
        message = message_payload(posted.message)
        if posted.turn is None:
            operator = operator_payload(posted.conversation)
            kept: PostedPayload = {"message": message, "turn": None, "operator": operator}
            return Accepted(kept)
        answered: PostedPayload = {"message": message, "turn": turn_summary(posted.turn)}
        return self._follow(answered, turn_id=posted.turn.pk, event=posted.event)

    def replay(self, answer: Any, *, status: int) -> Response:
        stored: PostedPayload = answer
        turn = stored["turn"]
        return self._follow(stored, turn_id=UUID(turn["id"])) if turn else Accepted(stored)

    def _follow(self, answer: PostedPayload, *, turn_id: UUID, event: int | None = None) -> Accepted[PostedPayload]:
        """The stored message's response, unless the client streams the turn or waits for the reply.

        `event` is the number of the message's event; it is looked up if missing.
        """
        organization_id, conversation_id = self.caller.organization_id, self.kwargs["conversation_id"]
        if "text/event-stream" in self.request.headers.get("Accept", ""):
            after = (event or message_event(conversation_id, answer["message"]["id"])) - 1
            cursor = StreamCursor(organization_id, conversation_id, after=after)
            return Continued(TurnStream(self.caller, cursor, turn_id), payload=answer)
        if seconds := wait_seconds(self.request.query_params.get("wait", "")):
            wait = ReplyWait(organization_id, conversation_id, turn_id, answer["message"], seconds)
            return Continued(wait, payload=answer)
        return Accepted(answer)


class Turns(ConversationView):
    queries: ClassVar = {"GET": PAGED}

    @extend_schema(operation_id="turns_list")
    def get(self, request: Request, conversation_id: UUID) -> TypedResponse[Page[TurnSummaryPayload]]:
        """Returns the conversation's turns, oldest first."""
        conversation = self.bare_conversation(conversation_id)
        archive = find_archive(conversation)
        rows = Turn.objects.filter(conversation=conversation).select_related("reply")
        return self.page(rows, partial(turn_summary, archive=archive), ordering="seq")


class TurnDetail(ConversationView):
    @extend_schema(operation_id="turns_read")
    def get(self, request: Request, conversation_id: UUID, turn_id: UUID) -> TypedResponse[TurnPayload]:
        """Retrieves a turn with its jobs, verdicts, effects, directives and model calls."""
        conversation = self.bare_conversation(conversation_id)
        turns = Turn.objects.filter(conversation=conversation).select_related("reply", "directives_used")
        turn = turns.filter(pk=turn_id).first()
        if turn is None:
            raise Http404
        return TypedResponse(turn_payload(turn, archive=find_archive(conversation)))


class Personas(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ}
    queries: ClassVar = {
        "GET": (
            OpenApiParameter(
                "q",
                {"type": "string", "maxLength": LONGEST_SEARCH},
                description="the beginning of a name, last name or e-mail address, the end of a phone number, or an"
                " external_id",
            ),
            OpenApiParameter(
                "phone",
                {**NOT_EMPTY, "maxLength": 40},
                description="the phone number; the project's region applies without a country code",
            ),
            OpenApiParameter("email", {**NOT_EMPTY, "maxLength": 254}, description="the e-mail address"),
            OpenApiParameter("external_id", {**NOT_EMPTY, "maxLength": 200}, description="your identifier"),
            *PAGED,
        )
    }

    @extend_schema(operation_id="personas_list")
    def get(self, request: Request) -> TypedResponse[Page[PersonaPayload]]:
        """Returns a list of the project's customers, newest first. Customers merged into another are left out.

        `phone`, `email` and `external_id` match exactly. Of several parameters, all have to match.
        """
        given = {name: self._text(name) for name in ("phone", "email", "external_id") if name in request.query_params}
        rows = find_customers(self.project, request.query_params.get("q", ""))
        if given:
            rows = rows & customers_with(self.project, **given)
        return self.page(rows.prefetch_related("fields"), persona_payload)

    def _text(self, name: str) -> str:
        """A parameter's value. Raises ApiError for an empty one, which would otherwise match nobody or everybody."""
        value = self.request.query_params[name].strip()
        if not value:
            raise ApiError("invalid", f"{name} is empty. Leave it out, or send the value to look for.", field=name)
        return value


class PersonaDetail(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ, "PATCH": Scope.CONVERSE}

    @extend_schema(operation_id="personas_read")
    def get(self, request: Request, persona_id: UUID) -> TypedResponse[CustomerPayload]:
        """Retrieves a customer with every known field. The id of a merged customer retrieves the one they were merged
        into.
        """
        return TypedResponse(customer_payload(self._persona(persona_id)))

    @extend_schema(operation_id="personas_update", request=PersonaPatch)
    def patch(self, request: Request, persona_id: UUID) -> TypedResponse[CustomerPayload]:
        """Updates a customer's fields. The agent's own observations never override them."""
        data = self.valid(PersonaPatch)
        source = ConsentSource.STAFF if self.caller.member else ConsentSource.API
        give_fields(self._persona(persona_id), known_fields(self.project, data), source=source)
        return TypedResponse(customer_payload(self._persona(persona_id)))

    def _persona(self, persona_id: UUID) -> Persona:
        persona = find_persona(self.project.pk, persona_id)
        if persona is None:
            raise Http404
        return persona
