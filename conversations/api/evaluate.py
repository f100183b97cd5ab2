"""POST /tools/evaluate: what the tool caller would find in an answer, and nothing done about it."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, NotRequired, TypedDict

from django.http import HttpRequest, HttpResponseBase, JsonResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.evaluation.dry_run import Trial, TrialCall, TrialVerdict, read_trial, run_trial
from conversations.models import Channel
from llm.errors import LlmError
from projects.api.async_views import Continued, continues
from projects.api.serializers import StrictSerializer, TextField
from projects.api.views import ProjectView
from projects.common.api_error import ApiError
from projects.common.middleware import request_id_of
from projects.models.key import Scope
from tools.engine.definition import ActionType
from tools.engine.payloads import VerdictPayload
from tools.engine.preview import Preview
from tools.engine.try_tools import read_drafts

LONGEST_ANSWER = 8_000


class EvaluateInput(StrictSerializer):
    """`tools` are drafts, evaluated as if they were saved. With `preview`, what each fired tool would send is shown, and in
    `calls` what the drafts would send that the agent only calls itself.
    """

    answer = TextField(longest=LONGEST_ANSWER, required=False)
    conversation = serializers.JSONField(required=False)
    channel = serializers.ChoiceField(choices=Channel.choices, required=False)
    tools = serializers.JSONField(required=False)
    preview = serializers.BooleanField(default=False)


class SpanPayload(TypedDict):
    """The place of a quote in the answer, in characters."""

    start: int
    end: int


class PreviewPayload(TypedDict):
    """What would go out, its secrets masked; `arguments` are what a model read off the conversation."""

    action: Annotated[str, ActionType]
    arguments: Annotated[dict[str, Any], "As the tool's parameters have them."]
    sent: Annotated[dict[str, Any], "As the action sends it."]


class TriedVerdictPayload(VerdictPayload):
    span: SpanPayload | None
    preview: NotRequired[PreviewPayload]


class TriedCallPayload(TypedDict):
    tool: str
    preview: PreviewPayload


class EvaluationPayload(TypedDict):
    verdicts: list[TriedVerdictPayload]
    calls: NotRequired[list[TriedCallPayload]]


class Evaluate(ProjectView):
    scopes: ClassVar = {"POST": Scope.CONFIGURE}

    @extend_schema(operation_id="tools_evaluate", request=EvaluateInput, responses=EvaluationPayload)
    def post(self, request: Request) -> Response:
        """The verdicts on an answer of the agent's, or on the last one of a conversation; nothing is executed.

        `conversation` is a conversation's id, a list of `{"role", "content"}`, or text with lines such as `agent: …`.
        """
        data = self.valid(EvaluateInput)
        drafts = read_drafts(data["tools"]) if "tools" in data else []
        asked = {name: data[name] for name in ("answer", "conversation", "channel") if name in data}
        return Continued((read_trial(self.project, drafts=drafts, **asked), data["preview"]))


@continues(Evaluate)
async def evaluate(request: HttpRequest, served: Continued[tuple[Trial, bool]]) -> HttpResponseBase:
    """Ask the model."""
    trial, with_previews = served.state
    try:
        tries = await run_trial(trial, with_previews=with_previews)
    except LlmError as error:
        problem = ApiError(f"model_{error.code}", str(error), status=503 if error.retryable else 502)
        return JsonResponse(problem.body(request_id=request_id_of(request)), status=problem.status_code)
    answer: EvaluationPayload = {"verdicts": [verdict_payload(one) for one in tries.verdicts]}
    if tries.calls:
        answer["calls"] = [call_payload(one) for one in tries.calls]
    return served.json(answer)


def verdict_payload(verdict: TrialVerdict) -> TriedVerdictPayload:
    """A verdict with the place of its words, and with what would be sent."""
    judgement, span = verdict.tried.judgement, verdict.tried.span
    payload: TriedVerdictPayload = {
        "tool": judgement.tool.name,
        "fired": judgement.fired,
        "reason": judgement.reason,
        "rule": judgement.rule or None,
        "quote": judgement.quote,
        "conditions": dict(judgement.conditions),
        "span": {"start": span.start, "end": span.end} if span else None,
    }
    if verdict.preview:
        payload["preview"] = preview_payload(verdict.preview)
    return payload


def call_payload(call: TrialCall) -> TriedCallPayload:
    return {"tool": call.tool.name, "preview": preview_payload(call.preview)}


def preview_payload(preview: Preview) -> PreviewPayload:
    return {"action": preview.action.value, "arguments": dict(preview.arguments), "sent": dict(preview.sent)}
