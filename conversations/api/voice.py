"""A live call's voice: what it reports, and the updates that its model is given while it speaks (T28).

For whoever carries a voice: a bridge between a telephone line or a browser and a provider's realtime model.
"""

from __future__ import annotations

from typing import Any, ClassVar, TypedDict
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.api.live import stream_of
from conversations.api.views import ConversationView
from conversations.common.payloads import TurnSummaryPayload
from conversations.common.turn_detail import turn_summary
from conversations.common.voice_session import can_have_a_voice
from conversations.voice.reports import NoVoice, Report, ReportType, take_reports
from conversations.voice.updates import UpdatesCursor, place_of, update_frames
from projects.api.async_views import Continued, continues
from projects.api.authentication import Caller
from projects.api.serializers import StrictSerializer, TextField
from projects.api.typed_responses import Accepted
from projects.models.key import Scope

LONGEST_SAID = 8_000
MOST_REPORTS = 100
WITH_TEXT = (ReportType.CALLER_SAID, ReportType.AGENT_SAID)


class ReportInput(StrictSerializer):
    """One thing that happened in the call. `id` is the provider's or your own: what is delivered twice is taken once.

    `text` are the words of `caller_said` and `agent_said`, `seq` that of the update which the model was given.
    """

    id = TextField(longest=200)
    type = serializers.ChoiceField(choices=ReportType.choices)
    text = TextField(longest=LONGEST_SAID, required=False)
    seq = serializers.IntegerField(min_value=1, max_value=2_000_000_000, required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        self._check(attrs, "text", belongs=attrs["type"] in WITH_TEXT, what="what was said")
        self._check(attrs, "seq", belongs=attrs["type"] == ReportType.UPDATE_APPLIED, what="the update's own")
        return attrs

    @staticmethod
    def _check(attrs: dict[str, Any], name: str, *, belongs: bool, what: str) -> None:
        if belongs and name not in attrs:
            raise ValidationError({name: f"is required with {attrs['type']}: {what}."})
        if not belongs and name in attrs:
            raise ValidationError({name: f"doesn't belong to {attrs['type']}; leave it out."})


class ReportsInput(StrictSerializer):
    """What happened, in the order in which it did."""

    reports = serializers.ListField(child=ReportInput(), min_length=1, max_length=MOST_REPORTS)


class ReportedPayload(TypedDict):
    """`repeated` is how many of the reports came before; `turns` are those that the others made."""

    repeated: int
    turns: list[TurnSummaryPayload]


class SessionReports(ConversationView):
    scopes: ClassVar = {"POST": Scope.CONVERSE}

    @extend_schema(operation_id="session_reports_create", request=ReportsInput)
    def post(self, request: Request, conversation_id: UUID) -> Accepted[ReportedPayload]:
        """Report who speaks and what was said in a live call, and which updates the voice's model was given.

        What the agent said makes a turn, whose flows learn, think and act as after a reply of ours. From the first report on, and
        until `ended` or ten minutes without one, the agent says nothing in this conversation but by the voice.
        """
        self.bare_conversation(conversation_id)
        data = self.valid(ReportsInput)
        reports = [Report(**{**one, "type": ReportType(one["type"])}) for one in data["reports"]]
        taken = take_reports(conversation_id, reports, project_id=self.project.pk)
        return Accepted({"repeated": taken.repeated, "turns": [turn_summary(turn) for turn in taken.turns]})


class SessionUpdates(ConversationView):
    scopes: ClassVar = {"GET": Scope.READ}
    queries: ClassVar = {
        "GET": (OpenApiParameter("after", OpenApiTypes.INT, description="as `Last-Event-ID`, which comes before it"),)
    }

    @extend_schema(operation_id="session_updates", responses={(200, "text/event-stream"): OpenApiTypes.STR})
    def get(self, request: Request, conversation_id: UUID) -> Response:
        """What the voice's model is to be told while it speaks, as server-sent events, resumed by `Last-Event-ID`.

        `directives`, `urgent_message` and `correction` carry `seq` and the `text` for the model; `stop` says that it must not speak any
        more, and ends the stream. Nothing is sent while the caller speaks, and no older directives after newer ones. What arrives in
        the moment in which the caller begins to speak is yours to hold until they stop.
        """
        conversation = self.bare_conversation(conversation_id)
        if not can_have_a_voice(conversation):
            raise NoVoice(conversation.channel)
        asked = request.headers.get("Last-Event-ID") or request.query_params.get("after") or ""
        known = asked.isascii() and asked.isdigit() and len(asked) < 10 and int(asked) <= conversation.last_event
        return Continued((self.caller, place_of(conversation, int(asked) if known else None)))


@continues(SessionUpdates)
async def updates(request: HttpRequest, served: Continued[tuple[Caller, UpdatesCursor]]) -> HttpResponseBase:
    """Stream the updates."""
    caller, place = served.state
    return stream_of(caller, update_frames(place))
