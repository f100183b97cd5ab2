"""Tool calls in live sessions: the tools a realtime model starts with, and each call it makes.

For voice bridges, which connect a phone line or browser to a provider's realtime model.
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
from conversations.voice.providers import PROVIDERS
from conversations.voice.session import build_session
from conversations.voice.tool_calls import LiveCall, handle_tool_call
from projects.api.async_views import Continued, continues
from projects.api.serializers import StrictSerializer, TextField
from projects.common.api_error import Unprocessable
from projects.models.key import Scope
from tools.engine.function_calling.contexts import ContextRefused, read_context
from tools.engine.function_calling.parse_call import MAX_ARGUMENTS_LENGTH

MAX_HEARD = 2_000


class LiveCallInput(StrictSerializer):
    """A tool call made by the realtime model. `arguments` are the model's, as JSON text or an object. `context` is the
    call's context from the channel.

    `heard` is what the caller said since the previous result, if the channel has it. It decides whether a repeated call
    is wanted.
    """

    call_id = TextField(longest=200)
    name = TextField(longest=200)
    arguments = serializers.JSONField(required=False, default=dict)
    context = serializers.JSONField()  # type: ignore[assignment]  # a serializer's own attribute is called so too
    heard = TextField(longest=MAX_HEARD, required=False, allow_blank=True, default="")


class VoicePayload(TypedDict):
    """How the agent speaks. Empty texts are the provider's default."""

    model: str
    name: str
    speed: float
    language: Annotated[str, "The language to begin in; empty for the caller's."]
    greeting: Annotated[str, "The first words of a call."]
    noise_reduction: str
    turn_detection: str
    fallback_number: Annotated[str, "The number for calls that the agent doesn't take."]


class SessionPayload(TypedDict):
    provider: str
    instructions: Annotated[str, "The whole agent, with the tools' sections and the guidance."]
    tools: list[Annotated[dict[str, Any], "A function in the provider's format."]]
    voice: VoicePayload
    session: Annotated[dict[str, Any], "All of the above as the configuration of the provider's session."]
    guidance: Annotated[str, "How the model reads the session's updates. Part of `instructions`."]


class SignalsPayload(TypedDict, total=False):
    """Signals to the channel. If one is present, it is true: the agent's part is over, so stop the model."""

    transferred: bool
    ended: bool


class LiveAnswerPayload(SignalsPayload):
    """The outcome of a tool call. `result` is the text for the model. If `transferred` or `ended` is present, the
    agent's part is over: stop the model.
    """

    result: str
    is_error: bool
    block: Block | None


class LiveSession(ConversationView):
    scopes: ClassVar = {"GET": Scope.READ}
    queries: ClassVar = {"GET": (OpenApiParameter("provider", OpenApiTypes.STR, enum=list(PROVIDERS)),)}

    @extend_schema(operation_id="live_session", responses=SessionPayload)
    def get(self, request: Request, conversation_id: UUID) -> Response:
        """Retrieves the whole agent for a live session of this conversation: the instructions, the tools in the
        provider's format and the voice, apart and as the configuration of the provider's session.
        """
        provider = request.query_params.get("provider") or "openai"
        built = build_session(self.bare_conversation(conversation_id), provider=provider)
        session: SessionPayload = {
            "provider": built.provider,
            "instructions": built.instructions,
            "tools": built.tools,
            "voice": cast(VoicePayload, built.voice.model_dump()),
            "session": built.config,
            "guidance": guidance(),
        }
        return Response(session)


class LiveCalls(ConversationView):
    scopes: ClassVar = {"POST": Scope.CONVERSE}

    @extend_schema(operation_id="live_calls_create", request=LiveCallInput, responses=LiveAnswerPayload)
    def post(self, request: Request, conversation_id: UUID) -> Response:
        """Runs one tool call made by a live session's model, and returns the result for the model.

        If `transferred` or `ended` is present, the agent's part is over: stop the model. Repeating a `call_id` returns
        the earlier result without running the call again. A different call for an action that is already done is held
        back, unless `heard` shows that the caller asks for it again.

        A member's session may only call tools in test conversations; elsewhere it gets a 403.
        """
        data = self.valid(LiveCallInput)
        self.require_write_access(conversation_id)
        conversation = self.bare_conversation(conversation_id)
        try:
            context = read_context(
                data["context"],
                business_id=self.project.pk,
                conversation_id=conversation.pk,
                channel=conversation.channel,
            )
        except ContextRefused as refusal:
            raise Unprocessable("invalid_context", str(refusal), field="context") from None
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
    """Run the call."""
    return served.json(answer_payload(await handle_tool_call(served.state)))


def answer_payload(answer: CallAnswer) -> LiveAnswerPayload:
    return {
        "result": answer.result,
        "is_error": answer.is_error,
        "block": dict(answer.block) if answer.block else None,
        **cast(SignalsPayload, answer.signals),
    }


def _as_text(arguments: Any) -> str:
    """The arguments as JSON text. Text beyond the limit is cut, and rejected as too long later."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return text[: MAX_ARGUMENTS_LENGTH + 1]
