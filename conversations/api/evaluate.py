"""POST /tools/evaluate: a dry run of the project's tools on an answer."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, NotRequired, TypedDict

from django.http import HttpRequest, HttpResponseBase, JsonResponse
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.evaluation.dry_run import DryRun, DryRunCall, DryRunVerdict, load_dry_run, run_dry_run
from conversations.models import Channel
from llm.errors import LlmError
from projects.api.async_views import Continued, continues
from projects.api.serializers import DocumentField, StrictSerializer, TextField
from projects.api.views import ProjectView
from projects.common.api_error import ApiError
from projects.common.middleware import request_id_of
from projects.models.key import Scope
from tools.engine.definition import ActionType
from tools.engine.payloads import ToolRegistration, VerdictPayload
from tools.engine.presenters import void_because
from tools.engine.preview import Preview
from tools.engine.try_tools import read_drafts
from tools.engine.verdicts import VOID_RULES

MAX_ANSWER = 8_000


class LinePayload(TypedDict):
    role: Annotated[str, Literal["customer", "agent", "operator"]]
    content: str


class EvaluateInput(StrictSerializer):
    """`tools` are drafts, evaluated as if they were saved. With `preview`, each verdict that fired includes the request
    its tool would send, and `calls` lists the requests of drafts that only the agent itself calls.
    """

    answer = TextField(longest=MAX_ANSWER, required=False)
    conversation = DocumentField(hint=str | list[LinePayload], required=False)
    channel = serializers.ChoiceField(choices=Channel.choices, required=False)
    tools = DocumentField(hint=ToolRegistration, required=False)
    preview = serializers.BooleanField(default=False)


class SpanPayload(TypedDict):
    """The position of a quote in the answer, in characters."""

    start: int
    end: int


class PreviewPayload(TypedDict):
    """The request a tool would send, with secrets masked. `arguments` are those a model extracted from the
    conversation.
    """

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


ANSWERS = {200: EvaluationPayload, 502: OpenApiResponse(description="The model failed.")}


class Evaluate(ProjectView):
    scopes: ClassVar = {"POST": Scope.CONFIGURE}

    @extend_schema(operation_id="tools_evaluate", request=EvaluateInput, responses=ANSWERS)
    def post(self, request: Request) -> Response:
        """Evaluates the project's tools on an agent's answer, or on the last answer of a conversation. Nothing is
        executed.

        `conversation` is a conversation's id, a list of `{"role", "content"}` objects, or text with lines such as
        `agent: …`.
        """
        data = self.valid(EvaluateInput)
        drafts = read_drafts(data["tools"]) if "tools" in data else []
        options = {name: data[name] for name in ("answer", "conversation", "channel") if name in data}
        return Continued((load_dry_run(self.project, drafts=drafts, **options), data["preview"]))


@continues(Evaluate)
async def evaluate(request: HttpRequest, served: Continued[tuple[DryRun, bool]]) -> HttpResponseBase:
    """Run the dry run and return its verdicts."""
    dry_run, with_previews = served.state
    try:
        result = await run_dry_run(dry_run, with_previews=with_previews)
    except LlmError as error:
        problem = ApiError(f"model_{error.code}", str(error), status=503 if error.retryable else 502)
        return JsonResponse(problem.body(request_id=request_id_of(request)), status=problem.status_code)
    answer: EvaluationPayload = {"verdicts": [verdict_payload(item) for item in result.verdicts]}
    if result.calls:
        answer["calls"] = [call_payload(item) for item in result.calls]
    return served.json(answer)


def verdict_payload(verdict: DryRunVerdict) -> TriedVerdictPayload:
    """A verdict with the position of its quote and, if requested, its preview."""
    judgement, span = verdict.tried.judgement, verdict.tried.span
    payload: TriedVerdictPayload = {
        "tool": judgement.tool.name,
        "fired": judgement.fired,
        "reason": judgement.reason,
        "rule": VOID_RULES.get(judgement.rule, judgement.rule) or None,
        "void": void_because(judgement.rule),
        "quote": judgement.quote,
        "conditions": dict(judgement.conditions),
        "span": {"start": span.start, "end": span.end} if span else None,
    }
    if verdict.preview:
        payload["preview"] = preview_payload(verdict.preview)
    return payload


def call_payload(call: DryRunCall) -> TriedCallPayload:
    return {"tool": call.tool.name, "preview": preview_payload(call.preview)}


def preview_payload(preview: Preview) -> PreviewPayload:
    return {"action": preview.action.value, "arguments": dict(preview.arguments), "sent": dict(preview.sent)}
