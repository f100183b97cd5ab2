"""Tools of a live session: what its model is told at the start, and each call that it makes (L02, L03, F13-F15).

For whoever carries a voice: a bridge between a telephone line or a browser and a provider's realtime model.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, ClassVar, TypedDict, cast
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.api.views import ConversationView
from conversations.common.payloads import Block
from conversations.prompts.session import guidance
from conversations.voice.deduplication import CallAnswer
from conversations.voice.tool_calls import LiveCall, handle_tool_call
from projects.api.async_views import Continued, continues
from projects.api.serializers import StrictSerializer, TextField
from projects.common.api_error import ApiError
from projects.models.key import Scope
from tools.engine.function_calling.contexts import ContextRefused, read_context
from tools.engine.function_calling.offer import Offer, collect_agent_tools
from tools.engine.function_calling.parse_call import MAX_ARGUMENTS_LENGTH

LONGEST_HEARD = 2_000
SHAPES = {"openai": lambda offer: offer.functions, "gemini": lambda offer: offer.declarations}


class LiveCallInput(StrictSerializer):
    """`arguments` are the model's, as JSON text or as an object; `context` is what the channel tells of the call.

    `heard`, where the channel has it, is what the caller has said since the result before: by it a repeat is known for one
    that the caller wants.
    """

    call_id = TextField(longest=200)
    name = TextField(longest=200)
    arguments = serializers.JSONField(required=False, default=dict)
    context = serializers.JSONField()  # type: ignore[assignment]  # a serializer's own attribute is called so too
    heard = TextField(longest=LONGEST_HEARD, required=False, allow_blank=True, default="")


class SessionPayload(TypedDict):
    tools: list[Annotated[dict[str, Any], "A function in the provider's shape."]]
    instructions: Annotated[str, "What the session's instructions end with; empty where no tool says how it is used."]
    guidance: Annotated[str, "How the updates of the session are to be read."]


class SignalsPayload(TypedDict, total=False):
    """Each is true where it stands: the agent's part is over, and the channel stops the model."""

    transferred: bool
    ended: bool


class LiveAnswerPayload(SignalsPayload):
    """`result` is what the model reads. `transferred` or `ended` stands where the agent's part is over: the channel stops the model."""

    result: str
    is_error: bool
    block: Block | None


class LiveSession(ConversationView):
    scopes: ClassVar = {"GET": Scope.READ}
    queries: ClassVar = {"GET": (OpenApiParameter("provider", OpenApiTypes.STR, enum=list(SHAPES)),)}

    @extend_schema(operation_id="live_session", responses=SessionPayload)
    def get(self, request: Request, conversation_id: UUID) -> Response:
        """What a live session of this conversation begins with: its tools in the provider's shape, what its
        instructions end with, and the guidance for who is given the updates of `/session/updates`.
        """
        provider = request.query_params.get("provider") or "openai"
        offer: Offer = collect_agent_tools(self.project, channel=self.bare_conversation(conversation_id).channel)
        session: SessionPayload = {
            "tools": SHAPES[provider](offer),
            "instructions": offer.addendum,
            "guidance": guidance(),
        }
        return Response(session)


class LiveCalls(ConversationView):
    scopes: ClassVar = {"POST": Scope.CONVERSE}

    @extend_schema(operation_id="live_calls_create", request=LiveCallInput, responses=LiveAnswerPayload)
    def post(self, request: Request, conversation_id: UUID) -> Response:
        """Carry out one tool call of a live session's model, and answer with what the model reads of it.

        `transferred` or `ended` is true where the agent's part is over: the channel stops the model. A call whose `call_id`
        came before is not carried out again, and has the answer that it had. Another call for what was done already is held,
        and says so, unless the caller asks for it again in what was `heard`.
        """
        data = self.valid(LiveCallInput)
        conversation = self.bare_conversation(conversation_id)
        try:
            context = read_context(
                data["context"],
                business_id=self.project.pk,
                conversation_id=conversation.pk,
                channel=conversation.channel,
            )
        except ContextRefused as refusal:
            raise ApiError("invalid_context", str(refusal), field="context") from None
        return Continued(
            LiveCall(
                organization_id=cast(UUID, conversation.organization_id),
                project_id=self.project.pk,
                conversation_id=conversation.pk,
                call_id=data["call_id"],
                name=data["name"],
                arguments_json=_as_text(data["arguments"]),
                context=context,
                heard=data["heard"],
            )
        )


@continues(LiveCalls)
async def live_calls(request: HttpRequest, served: Continued[LiveCall]) -> HttpResponseBase:
    """Carry out the call."""
    return served.json(answer_payload(await handle_tool_call(served.state)))


def answer_payload(answer: CallAnswer) -> LiveAnswerPayload:
    return {
        "result": answer.result,
        "is_error": answer.is_error,
        "block": dict(answer.block) if answer.block else None,
        **cast(SignalsPayload, answer.signals),
    }


def _as_text(arguments: Any) -> str:
    """The arguments as the model's own text; what is too long is cut, and then refused as such."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return text[: MAX_ARGUMENTS_LENGTH + 1]
