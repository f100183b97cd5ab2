"""Ratings of conversations by their customers."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from conversations.api.views import ConversationView
from conversations.common.payloads import ConversationPayload
from conversations.inbox.ratings import HIGHEST, LONGEST_COMMENT, LOWEST, rate
from projects.api.serializers import StrictSerializer, TextField
from projects.api.typed_responses import TypedResponse
from projects.models.key import Scope

UNANSWERED = {409: OpenApiResponse(description="Nobody has answered the customer yet.")}


class RatingInput(StrictSerializer):
    score = serializers.IntegerField(min_value=LOWEST, max_value=HIGHEST, help_text="stars")
    comment = TextField(longest=LONGEST_COMMENT, required=False, allow_blank=True, default="")


class ConversationRating(ConversationView):
    scopes: ClassVar = {"PUT": Scope.CONVERSE}

    @extend_schema(operation_id="conversations_rate", request=RatingInput, responses=UNANSWERED)
    def put(self, request: Request, conversation_id: UUID) -> TypedResponse[ConversationPayload]:
        """Stores the customer's rating, which replaces an earlier one.

        The widget and the portal ask for it by themselves; use this for customers of your own channels. A member's
        session may only rate test conversations; elsewhere it gets a 403.
        """
        data = self.valid(RatingInput)
        self.require_write_access(conversation_id)
        rate(self.bare_conversation(conversation_id).pk, score=data["score"], comment=data["comment"])
        return TypedResponse(self.conversation(conversation_id))
