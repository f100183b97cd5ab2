"""POST /tools/rehearse: verdicts of recent turns that an edited tool would change."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from typing import Annotated, Any, ClassVar, TypedDict

from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.evaluation.replay import (
    MAX_TURNS,
    ComparedVerdict,
    Difference,
    Kind,
    Rehearsal,
    Rehearsed,
    read_rehearsal,
    rehearse,
)
from projects.api.async_views import Continued, continues
from projects.api.serializers import DocumentField, StrictSerializer
from projects.api.views import ProjectView
from projects.common.presenters import Id, Stamp, stamp
from projects.models.key import Scope
from tools.engine.payloads import ToolRegistration
from tools.engine.try_tools import read_drafts

LINES = "application/x-ndjson"
STREAM_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


class RehearseInput(StrictSerializer):
    tools = DocumentField(hint=ToolRegistration)
    turns = serializers.IntegerField(min_value=1, max_value=MAX_TURNS, default=20)


class ReadingPayload(TypedDict):
    fired: bool
    rule: str
    reason: str
    quote: str


class DifferencePayload(TypedDict):
    """One tool's verdict then (`before`) and now (`after`). Null if the tool wasn't mentioned."""

    tool: str
    kind: Annotated[str, Kind] | None
    before: ReadingPayload | None
    after: ReadingPayload | None


class RehearsedPayload(TypedDict):
    """One turn and its changed verdicts."""

    turn: Id
    conversation: Id
    seq: int
    replied_at: Stamp | None
    answer: str
    differences: list[DifferencePayload]
    error: Annotated[str | None, "The reason if the turn could not be rehearsed."]


class RehearsalPayload(TypedDict):
    """The number of rehearsed turns, and those with a difference or an error."""

    turns: int
    results: list[RehearsedPayload]


ANSWERS = {200: RehearsalPayload, (200, LINES): OpenApiTypes.STR}


class Rehearse(ProjectView):
    scopes: ClassVar = {"POST": Scope.CONFIGURE}

    @extend_schema(operation_id="tools_rehearse", request=RehearseInput, responses=ANSWERS)
    def post(self, request: Request) -> Response:
        """Replays draft tools over the project's latest turns, and returns the turns whose verdicts would change.

        With `Accept: application/x-ndjson` the first line is `{"turns"}`, followed by one line per turn as soon as it
        is done.
        """
        data = self.valid(RehearseInput)
        return Continued(read_rehearsal(self.project, read_drafts(data["tools"]), turns=data["turns"]))


@continues(Rehearse)
async def rehearse_tools(request: HttpRequest, served: Continued[Rehearsal]) -> HttpResponseBase:
    """Replay each turn, and stream or collect the results."""
    if LINES in request.headers.get("Accept", ""):
        return StreamingHttpResponse(_lines(served.state), content_type=LINES, headers=STREAM_HEADERS)
    done = [one async for one in rehearse(served.state)]
    results = [rehearsed_payload(one) for one in done if one.differences or one.error]
    answer: RehearsalPayload = {"turns": len(done), "results": results}
    return served.json(answer)


async def _lines(rehearsal: Rehearsal) -> AsyncIterator[bytes]:
    yield _line({"turns": len(rehearsal.turns_to_replay)})
    async with aclosing(rehearse(rehearsal)) as found:
        async for one in found:
            yield _line(rehearsed_payload(one))


def _line(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, cls=DjangoJSONEncoder).encode() + b"\n"


def rehearsed_payload(rehearsed: Rehearsed) -> RehearsedPayload:
    context = rehearsed.context
    return {
        "turn": str(context.turn_id),
        "conversation": str(context.conversation_id),
        "seq": context.seq,
        "replied_at": stamp(context.replied_at),
        "answer": context.exchange.answer,
        "differences": [_difference(one) for one in rehearsed.differences],
        "error": rehearsed.error or None,
    }


def _difference(one: Difference) -> DifferencePayload:
    return {"tool": one.tool, "kind": one.kind, "before": _reading(one.before), "after": _reading(one.after)}


def _reading(one: ComparedVerdict | None) -> ReadingPayload | None:
    return {"fired": one.fired, "rule": one.rule, "reason": one.reason, "quote": one.quote} if one else None
