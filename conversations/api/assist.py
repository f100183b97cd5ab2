"""The model's help to staff: a draft of the answer."""

from __future__ import annotations

from typing import TypedDict
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase, JsonResponse
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.api.operators import OperatorView
from conversations.assist.draft import DraftInput, prepare_draft, write_draft
from llm.errors import LlmError
from projects.api.async_views import Continued, continues
from projects.api.serializers import StrictSerializer, TextField
from projects.common.api_error import ApiError
from projects.common.middleware import request_id_of

LONGEST_ANSWER = 8_000
MODEL_FAILED = OpenApiResponse(description="The model failed; the message says how.")


class DraftInputBody(StrictSerializer):
    begun = TextField(
        longest=LONGEST_ANSWER,
        required=False,
        allow_blank=True,
        default="",
        help_text="the answer as far as you have written it, for the draft to complete",
    )


class DraftPayload(TypedDict):
    content: str


class Draft(OperatorView):
    @extend_schema(
        operation_id="conversations_draft", request=DraftInputBody, responses={200: DraftPayload, 502: MODEL_FAILED}
    )
    def post(self, request: Request, conversation_id: UUID) -> Response:
        """Drafts staff's answer to the customer from the conversation. Nothing is sent and nothing is promised.

        Send the draft as a message of the operator once somebody has read it. It counts toward the project's model
        budget; with the budget spent the code is `model_budget_spent`.
        """
        data = self.valid(DraftInputBody)
        return Continued(prepare_draft(self.bare_conversation(conversation_id).pk, begun=data["begun"]))


@continues(Draft)
async def draft(request: HttpRequest, served: Continued[DraftInput]) -> HttpResponseBase:
    """Ask the model, with no transaction open."""
    try:
        content = await write_draft(served.state)
    except LlmError as error:
        return model_failed(request, error)
    answer: DraftPayload = {"content": content}
    return served.json(answer)


def model_failed(request: HttpRequest, error: LlmError) -> JsonResponse:
    """The response to a failed model call: 503 if the same request may succeed in a moment."""
    problem = ApiError(f"model_{error.code}", str(error), status=503 if error.retryable else 502)
    return JsonResponse(problem.body(request_id=request_id_of(request)), status=problem.status_code)
