"""The project's phone calls, and what staff may do with a live one."""

from __future__ import annotations

from typing import Annotated, ClassVar, TypedDict
from uuid import UUID

from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request

from conversations.calls.staff import end_call, transfer_call
from conversations.models import OPEN_STATES, Call, CallState
from projects.api.pagination import PAGED
from projects.api.serializers import StrictSerializer, TextField
from projects.api.typed_responses import Page, TypedResponse
from projects.api.views import ProjectView
from projects.common.presenters import Id, Stamp, stamp
from projects.models.key import Scope

OVER = OpenApiResponse(description="The call is over.")


class CallUsagePayload(TypedDict):
    """Tokens of the realtime model. A call by text has none: its model calls are those of its turns. Of the tokens
    `cached_in`, `cached_audio_in` are audio. `cost` is in USD, null if the model's prices are unknown.
    """

    audio_in: int
    text_in: int
    cached_in: int
    audio_out: int
    text_out: int
    cached_audio_in: int
    cost: float | None


class CallPayload(TypedDict):
    """A call. `caller` is empty if the number was withheld. `gaps` counts the times that its worker was replaced; words
    of those moments may be missing from the transcript.
    """

    id: Id
    conversation: Id
    provider: str
    caller: str
    called: str
    state: Annotated[str, CallState]
    reason: str
    transferred_to: str
    gaps: int
    usage: CallUsagePayload
    created_at: Stamp
    answered_at: Stamp | None
    ended_at: Stamp | None
    seconds: Annotated[int | None, "The time from the answer to the end; null while the call goes on."]


def call_payload(call: Call) -> CallPayload:
    return {
        "id": str(call.pk),
        "conversation": str(call.conversation_id),
        "provider": call.provider,
        "caller": call.caller,
        "called": call.called,
        "state": call.state,
        "reason": call.reason,
        "transferred_to": call.transferred_to,
        "gaps": call.gaps,
        "usage": {
            "audio_in": call.usage.get("audio_in", 0),
            "text_in": call.usage.get("text_in", 0),
            "cached_in": call.usage.get("cached_in", 0),
            "audio_out": call.usage.get("audio_out", 0),
            "text_out": call.usage.get("text_out", 0),
            "cached_audio_in": call.usage.get("cached_audio_in", 0),
            "cost": call.usage.get("cost"),
        },
        "created_at": stamp(call.created_at),
        "answered_at": stamp(call.answered_at),
        "ended_at": stamp(call.ended_at),
        "seconds": _seconds(call),
    }


def _seconds(call: Call) -> int | None:
    if call.ended_at is None:
        return None
    return int((call.ended_at - call.answered_at).total_seconds()) if call.answered_at else 0


class TransferInput(StrictSerializer):
    """The number that the call goes to. The project's region applies to a number without a country code."""

    number = TextField(longest=40)


class Calls(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ}
    queries: ClassVar = {
        "GET": (*PAGED, OpenApiParameter("live", OpenApiTypes.BOOL, description="Only calls that go on, or are over."))
    }

    @extend_schema(operation_id="calls_list")
    def get(self, request: Request) -> TypedResponse[Page[CallPayload]]:
        """Returns the calls that Makegood answered or turned away, newest first."""
        rows = Call.objects.filter(project_id=self.project.pk)
        live = request.query_params.get("live")
        if live == "true":
            rows = rows.filter(state__in=OPEN_STATES)
        elif live == "false":
            rows = rows.exclude(state__in=OPEN_STATES)
        return self.page(rows, call_payload)


class CallView(ProjectView):
    """A view of one call."""

    def call(self, call_id: UUID) -> Call:
        """The project's call. Raises Http404."""
        return get_object_or_404(Call, pk=call_id, project_id=self.project.pk)


class CallEnd(CallView):
    scopes: ClassVar = {"POST": Scope.OPERATE}

    @extend_schema(operation_id="calls_end", request=None, responses={409: OVER})
    def post(self, request: Request, phone_call_id: UUID) -> TypedResponse[CallPayload]:
        """Hangs up. The agent says nothing more."""
        self.call(phone_call_id)
        return TypedResponse(call_payload(end_call(self.project, phone_call_id)))


class CallTransfer(CallView):
    scopes: ClassVar = {"POST": Scope.OPERATE}

    @extend_schema(operation_id="calls_transfer", request=TransferInput, responses={409: OVER})
    def post(self, request: Request, phone_call_id: UUID) -> TypedResponse[CallPayload]:
        """Takes the call over: it goes to your number."""
        data = self.valid(TransferInput)
        self.call(phone_call_id)
        return TypedResponse(call_payload(transfer_call(self.project, phone_call_id, number=data["number"])))
