"""POST /tools/rehearse: which verdicts of the last turns an edited tool would change."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import asdict
from typing import Any, ClassVar, cast

from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponseBase, JsonResponse, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.rehearsal import MOST_TURNS, Difference, Rehearsal, Rehearsed, read_rehearsal, rehearse
from projects.api.async_doors import door_of, plain, rendered
from projects.api.doors import ProjectView
from projects.api.serializers import StrictSerializer
from projects.models.key import Scope
from projects.presenters import stamp
from projects.threads import in_db
from tools.trial import read_drafts

LINES = "application/x-ndjson"
UNCACHED = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


class RehearseInput(StrictSerializer):
    tools = serializers.JSONField()
    turns = serializers.IntegerField(min_value=1, max_value=MOST_TURNS, default=20)


class Rehearse(ProjectView):
    scopes: ClassVar = {"POST": Scope.CONFIGURE}

    @extend_schema(operation_id="tools_rehearse", request=RehearseInput, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request) -> Response:
        """Replay drafts of tools over the project's last turns; answers with the turns whose verdicts would change."""
        data = self.valid(RehearseInput)
        response = Response(status=202)
        # For the door, which goes on from here.
        vars(response)["rehearsal"] = read_rehearsal(self.project, read_drafts(data["tools"]), turns=data["turns"])
        return response


_rehearse = plain(Rehearse)


@door_of(Rehearse)
async def rehearse_door(request: HttpRequest) -> HttpResponseBase:
    """Read the turns in one short transaction; ask the model after it.

    With `Accept: application/x-ndjson` the first line is `{"turns"}`, and each turn follows as soon as it is done.
    """
    response = await in_db(rendered, _rehearse, request)
    if "rehearsal" not in vars(response):
        return response
    rehearsal = cast(Rehearsal, vars(response)["rehearsal"])
    if LINES in request.headers.get("Accept", ""):
        return StreamingHttpResponse(_lines(rehearsal), content_type=LINES, headers=UNCACHED)
    done = [one async for one in rehearse(rehearsal)]
    told = [rehearsed_payload(one) for one in done if one.differences or one.error]
    kept = {name: value for name, value in response.headers.items() if not name.startswith("Content-")}
    return JsonResponse({"turns": len(done), "results": told}, headers=kept)


async def _lines(rehearsal: Rehearsal) -> AsyncIterator[bytes]:
    yield _line({"turns": len(rehearsal.scenes)})
    async with aclosing(rehearse(rehearsal)) as found:
        async for one in found:
            yield _line(rehearsed_payload(one))


def _line(document: dict[str, Any]) -> bytes:
    return json.dumps(document, cls=DjangoJSONEncoder).encode() + b"\n"


def rehearsed_payload(rehearsed: Rehearsed) -> dict[str, Any]:
    """One turn, and what would be different in it."""
    scene = rehearsed.scene
    return {
        "turn": str(scene.turn_id),
        "conversation": str(scene.conversation_id),
        "seq": scene.seq,
        "replied_at": stamp(scene.replied_at),
        "answer": scene.exchange.answer,
        "differences": [_difference(one) for one in rehearsed.differences],
        "error": rehearsed.error or None,
    }


def _difference(one: Difference) -> dict[str, Any]:
    before, after = (asdict(reading) if reading else None for reading in (one.before, one.after))
    return {"tool": one.tool, "kind": one.kind, "before": before, "after": after}
