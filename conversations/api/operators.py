"""Operators in conversations: take over, answer, hand back."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request

from conversations.api.serializers import OperatorMessageInput
from conversations.api.views import ConversationView
from conversations.common.payloads import ConversationPayload, HandedBackPayload, MessagePayload
from conversations.common.presenters import message_payload
from conversations.common.turn_detail import turn_summary
from conversations.handover import operators
from conversations.inbox.notes import read_mentions
from jobs.errors import WrongState
from projects.api.authentication import Caller
from projects.api.idempotency import idempotent
from projects.api.typed_responses import Created, TypedResponse
from projects.models import Member, Role, User
from projects.models.key import Scope

CONFLICT = {409: OpenApiResponse(description="Another operator has the conversation, or nobody does.")}


class OperatorView(ConversationView):
    """Views for operators. The operator is the signed-in member; an API key acts for its creator, or else for the
    organization's first owner.
    """

    scopes: ClassVar = {"POST": Scope.OPERATE}

    @property
    def operator(self) -> User:
        return operator_of(self.caller)


def operator_of(caller: Caller) -> User:
    """The member for whom the caller acts. Raises WrongState."""
    if caller.user is not None:
        return caller.user
    members = Member.objects.select_related("user")
    maker = caller.key.created_by_id if caller.key else None
    member = members.filter(user_id=maker).first() if maker else None
    member = member or members.filter(role=Role.OWNER).order_by("created_at").first()
    if member is None:
        raise WrongState("The organization has no owner who could answer.")
    return member.user


class TakeOver(OperatorView):
    @extend_schema(operation_id="conversations_take_over", request=None, responses=CONFLICT)
    def post(self, request: Request, conversation_id: UUID) -> TypedResponse[ConversationPayload]:
        """Takes over the conversation. The agent stops writing in it, and a reply in progress is not sent."""
        operators.take_over(self.bare_conversation(conversation_id).pk, by=self.operator)
        return TypedResponse(self.conversation(conversation_id))


class OperatorMessages(OperatorView):
    @extend_schema(
        operation_id="operator_messages_create",
        request=OperatorMessageInput,
        responses=CONFLICT,
    )
    @idempotent
    def post(self, request: Request, conversation_id: UUID) -> Created[MessagePayload]:
        """Creates a message from the operator who has the conversation."""
        data, row = self.valid(OperatorMessageInput), self.bare_conversation(conversation_id)
        message = operators.answer(row.pk, data["content"], by=self.operator, attachments=data["attachments"])
        read_mentions(conversation_id, by=self.operator)
        return Created(message_payload(message))


class HandBack(OperatorView):
    @extend_schema(operation_id="conversations_hand_back", request=None, responses=CONFLICT)
    def post(self, request: Request, conversation_id: UUID) -> TypedResponse[HandedBackPayload]:
        """Hands the conversation back to the agent. `turn` is its answer to unanswered customer messages, if there are
        any.

        Callers with the `configure` scope may also hand back another operator's conversation.
        """
        own = self.bare_conversation(conversation_id).pk
        turn = operators.hand_back(own, by=self.operator, is_forced=Scope.CONFIGURE in self.caller.scopes)
        answer = self.conversation(conversation_id)
        return TypedResponse({**answer, "turn": turn_summary(turn) if turn else None})
