"""Voice of a live call: reports from its bridge, and updates for its model while it speaks.

For voice bridges, which connect a phone line or browser to a provider's realtime model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypedDict
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.api.live import stream_of
from conversations.api.serializers import STREAM_EVENT
from conversations.api.views import ConversationView
from conversations.common.payloads import TurnSummaryPayload
from conversations.common.turn_detail import turn_summary
from conversations.common.voice_session import is_voice_call
from conversations.voice.reports import NoVoice, Report, ReportType, process_reports
from conversations.voice.updates import UpdatesCursor, cursor_for, update_frames
from projects.api.async_views import Continued, continues
from projects.api.authentication import Caller
from projects.api.serializers import StrictSerializer, TextField
from projects.api.typed_responses import Accepted
from projects.common.api_error import Unprocessable
from projects.models.key import Scope

MAX_TEXT = 8_000
MAX_REPORTS = 100
# Fields that reports of some types only have.
BY_TYPE = (
    ("text", (ReportType.CALLER_SAID, ReportType.AGENT_SAID), "the transcript"),
    ("seq", (ReportType.UPDATE_APPLIED,), "the update's number"),
)


class ReportInput(StrictSerializer):
    """One event of the call. `id` is the provider's or your own; a report with a known `id` is ignored.

    `text` is required with `caller_said` and `agent_said`. `seq` is required with `update_applied` and is the number of
    the update.
    """

    id = TextField(longest=200)
    type = serializers.ChoiceField(choices=ReportType.choices)
    text = TextField(longest=MAX_TEXT, required=False)
    seq = serializers.IntegerField(min_value=1, max_value=2_000_000_000, required=False)


class ReportsInput(StrictSerializer):
    """Events of the call, in the order in which they happened."""

    meant = {"id": "reports"}
    reports = serializers.ListField(child=ReportInput(), min_length=1, max_length=MAX_REPORTS)


class ReportedPayload(TypedDict):
    """`repeated` is the number of reports that were already known; `turns` are those created by the others."""

    repeated: int
    turns: list[TurnSummaryPayload]


class SessionReports(ConversationView):
    scopes: ClassVar = {"POST": Scope.CONVERSE}

    @extend_schema(operation_id="session_reports_create", request=ReportsInput)
    def post(self, request: Request, conversation_id: UUID) -> Accepted[ReportedPayload]:
        """Reports speech, transcripts and applied updates of a live call.

        Each agent utterance creates a turn, which is analyzed like a regular reply. From the first report until
        `ended`, or until ten minutes without a report, the agent speaks in this conversation only through the voice.

        A member's session may only report to test conversations; elsewhere it gets a 403.
        """
        self.bare_conversation(conversation_id)
        self.require_write_access(conversation_id)
        data = self.valid(ReportsInput)
        _check_reports(data["reports"])
        reports = [Report(**{**report, "type": ReportType(report["type"])}) for report in data["reports"]]
        accepted = process_reports(conversation_id, reports, project_id=self.project.pk)
        return Accepted({"repeated": accepted.repeated, "turns": [turn_summary(turn) for turn in accepted.turns]})


def _check_reports(reports: Sequence[Mapping[str, Any]]) -> None:
    """Raise Unprocessable for the first report whose `text` or `seq` doesn't go with its type."""
    for index, report in enumerate(reports):
        kind = report["type"]
        for name, kinds, what in BY_TYPE:
            if kind in kinds and name not in report:
                message = f"is required with {kind}: {what}."
            elif kind not in kinds and name in report:
                message = f"is not allowed with {kind}."
            else:
                continue
            raise Unprocessable("invalid", f"reports.{index}.{name} {message}", field=f"reports.{index}.{name}")


class SessionUpdates(ConversationView):
    scopes: ClassVar = {"GET": Scope.READ}
    queries: ClassVar = {
        "GET": (
            OpenApiParameter("after", OpenApiTypes.STR, description="like `Last-Event-ID`, which takes precedence"),
        )
    }

    @extend_schema(
        operation_id="session_updates",
        responses={
            (200, "text/event-stream"): STREAM_EVENT,
            409: OpenApiResponse(description="The conversation is no call."),
        },
    )
    def get(self, request: Request, conversation_id: UUID) -> Response:
        """Streams updates for the voice's model while it speaks, as server-sent events. Reconnect with `Last-Event-ID`
        to resume.

        `directives`, `urgent_message` and `correction` carry `seq` and the `text` for the model. `stop` means that the
        model must not speak any more, and ends the stream. Nothing is sent while the caller speaks, and older
        directives never follow newer ones. Hold back an update that arrives just as the caller starts to speak until
        they stop.
        """
        conversation = self.bare_conversation(conversation_id)
        if not is_voice_call(conversation):
            raise NoVoice(conversation.channel)
        last_id = request.headers.get("Last-Event-ID") or request.query_params.get("after") or ""
        known = (
            last_id.isascii() and last_id.isdigit() and len(last_id) < 10 and int(last_id) <= conversation.last_event
        )
        return Continued((self.caller, cursor_for(conversation, int(last_id) if known else None)))


@continues(SessionUpdates)
async def updates(request: HttpRequest, served: Continued[tuple[Caller, UpdatesCursor]]) -> HttpResponseBase:
    """Stream the updates."""
    caller, cursor = served.state
    return stream_of(caller, update_frames(cursor))
