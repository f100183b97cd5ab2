"""The API of tools, effects and promises."""

from __future__ import annotations

from typing import ClassVar, TypeVar, get_args
from uuid import UUID

from django.db.models import Model, QuerySet
from django.http import Http404, QueryDict
from django.utils.translation import gettext
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from projects.api.pagination import PAGED, UNPAGED
from projects.api.serializers import StrictSerializer
from projects.api.typed_responses import Page, TypedResponse
from projects.api.views import ProjectView
from projects.common.api_error import ApiError
from projects.models.agent_config import ChannelName
from projects.models.key import Scope
from tools.engine.catalogue import compile_tools
from tools.engine.payloads import EffectPayload, PromisePayload, ToolPayload
from tools.engine.presenters import effect_payload, promise_payload, tool_payload
from tools.engine.promise_answers import ANSWERS
from tools.models import Effect, EffectState, Promise, PromiseState

CHANNELS: tuple[str, ...] = get_args(ChannelName)
M = TypeVar("M", bound=Model)


def filters_by(states: list[str]) -> tuple[OpenApiParameter, ...]:
    """The query parameters of a list that `filtered` narrows."""
    return (
        OpenApiParameter("state", OpenApiTypes.STR, enum=states),
        OpenApiParameter("conversation", OpenApiTypes.UUID),
        *PAGED,
    )


def filtered(rows: QuerySet[M], params: QueryDict) -> QuerySet[M]:
    """The rows in a state and of a conversation, as far as the parameters name them. Raises ApiError."""
    if state := params.get("state"):
        rows = rows.filter(state=state)
    if (conversation := params.get("conversation")) is None:
        return rows
    try:
        return rows.filter(conversation_id=UUID(conversation))
    except ValueError as error:
        sentence = gettext("%(field)s must be an ID.") % {"field": "conversation"}
        raise ApiError("invalid_conversation", sentence, field="conversation") from error


class PromiseAnswer(StrictSerializer):
    answer = serializers.ChoiceField(choices=[answer.value for answer in ANSWERS])


class Tools(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ}
    queries: ClassVar = {
        "GET": (
            OpenApiParameter(
                "channel", OpenApiTypes.STR, enum=CHANNELS, description="the channel to compile for; default chat"
            ),
            *UNPAGED,
        )
    }

    @extend_schema(operation_id="tools_list")
    def get(self, request: Request) -> TypedResponse[Page[ToolPayload]]:
        """List the compiled catalogue: every tool, offered or not, with the reason."""
        compiled = compile_tools(self.project, channel=request.query_params.get("channel") or "chat")
        return self.whole([tool_payload(tool) for tool in compiled])


class Promises(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ}
    queries: ClassVar = {"GET": filters_by(PromiseState.values)}

    @extend_schema(operation_id="promises_list")
    def get(self, request: Request) -> TypedResponse[Page[PromisePayload]]:
        """List the agent's promises and their outcomes, newest first."""
        rows = Promise.objects.filter(project_id=self.project.pk)
        return self.page(filtered(rows, request.query_params), promise_payload)


class AnswerPromise(ProjectView):
    scopes: ClassVar = {"POST": Scope.OPERATE}

    @extend_schema(
        operation_id="promises_answer",
        request=PromiseAnswer,
        responses={
            404: OpenApiResponse(description="This project has no such promise."),
            409: OpenApiResponse(description="The promise is closed already, or its effect isn't finished yet."),
        },
    )
    def post(self, request: Request, promise_id: UUID) -> TypedResponse[PromisePayload]:
        """Close a promise: `kept` if a person did it, also after it broke, or `withdrawn` if it is no longer wanted."""
        answer = PromiseState(self.valid(PromiseAnswer)["answer"])
        try:
            promise = ANSWERS[answer](self.project, promise_id, by=self.caller.name)
        except Promise.DoesNotExist as error:
            raise Http404 from error
        return TypedResponse(promise_payload(promise))


class Effects(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ}
    queries: ClassVar = {"GET": filters_by(EffectState.values)}

    @extend_schema(operation_id="effects_list")
    def get(self, request: Request) -> TypedResponse[Page[EffectPayload]]:
        """List everything that tools did or will do, newest first."""
        rows = Effect.objects.filter(project_id=self.project.pk)
        return self.page(filtered(rows, request.query_params), effect_payload)
