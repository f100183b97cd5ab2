"""The API of kept evaluation cases."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar, Literal, TypedDict
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from projects.api.authentication import caller_of
from projects.api.idempotency import idempotent
from projects.api.pagination import PAGED
from projects.api.serializers import StrictSerializer, TextField
from projects.api.typed_responses import Created, Page, TypedResponse
from projects.api.views import ProjectView
from projects.common.api_error import Unprocessable
from projects.models.key import Scope
from tools.evaluation.cases import OUTCOMES
from tools.evaluation.kept import WrongCase, delete_case, keep_case
from tools.evaluation.runs import cases_of
from tools.models import KeptCase


class SaidInput(StrictSerializer):
    role = serializers.ChoiceField(choices=["customer", "agent"])
    content = TextField(longest=8_000)


class KeptCaseInput(StrictSerializer):
    name = serializers.CharField(max_length=120)
    answer = TextField(longest=8_000)
    channel = serializers.RegexField(
        r"^[a-z]{1,20}$",
        required=False,
        default="chat",
        error_messages={"invalid": "must be the name of a channel, such as chat or phone."},
    )
    conversation = SaidInput(many=True, required=False, default=list)
    expected = serializers.DictField(child=serializers.ChoiceField(choices=OUTCOMES))
    turn = serializers.UUIDField(required=False)


class KeptCases(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.OPERATE}
    queries: ClassVar = {"GET": PAGED}

    @extend_schema(operation_id="evaluation_cases_list")
    def get(self, request: Request) -> TypedResponse[Page[KeptCasePayload]]:
        """List the answers that the project keeps as regression cases, newest first."""
        return self.page(cases_of(self.project), kept_case_payload)

    @extend_schema(operation_id="evaluation_cases_create", request=KeptCaseInput)
    @idempotent
    def post(self, request: Request) -> Created[KeptCasePayload]:
        """Keep an answer as a regression case. Each run includes it from now on. `turn` is the turn whose reply it is."""
        caller = caller_of(request)
        data = self.valid(KeptCaseInput)
        turn_id = data.pop("turn", None)
        try:
            kept = keep_case(self.project, author=caller.user if caller else None, turn_id=turn_id, **data)
        except WrongCase as error:
            raise Unprocessable("invalid", str(error), field=error.field) from error
        return Created(kept_case_payload(kept))


class KeptCaseDetail(ProjectView):
    scopes: ClassVar = {"DELETE": Scope.OPERATE}

    @extend_schema(operation_id="evaluation_cases_delete", responses={204: None})
    def delete(self, request: Request, case_id: UUID) -> Response:
        """Delete a case."""
        if not delete_case(self.project, case_id):
            raise Http404
        return Response(status=204)


class SaidPayload(TypedDict):
    role: Annotated[str, Literal["customer", "agent"]]
    content: str


class KeptCasePayload(TypedDict):
    """`expected` maps a tool to `fired` or to the rule that holds it back. `turn` is the turn whose reply it is."""

    id: UUID
    name: str
    answer: str
    conversation: list[SaidPayload]
    channel: str
    expected: dict[str, str]
    turn: UUID | None
    created_at: datetime


def kept_case_payload(case: KeptCase) -> KeptCasePayload:
    return {
        "id": case.pk,
        "name": case.name,
        "answer": case.answer,
        "conversation": case.conversation,
        "channel": case.channel,
        "expected": case.expected,
        "turn": case.turn_id,
        "created_at": case.created_at,
    }
