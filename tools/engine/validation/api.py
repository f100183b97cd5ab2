"""The API that checks a tool before it is saved."""

from __future__ import annotations

from typing import Any, ClassVar, TypedDict

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from projects.api.serializers import StrictSerializer
from projects.api.typed_responses import TypedResponse
from projects.api.views import ProjectView
from projects.common.api_error import ApiError
from projects.models.key import Scope
from tools.engine.custom.presenters import ProblemPayload, problem_payload
from tools.engine.custom.reading import read_json
from tools.engine.custom.service import list_tools
from tools.engine.definition import ToolDefinition
from tools.engine.validation.approval import approval_problems
from tools.engine.validation.definition import MAX_DEFINITION_LENGTH, definition_problems
from tools.engine.validation.names import name_problems
from tools.engine.validation.problem import Problem
from tools.engine.validation.warnings import warnings_for


class ToolText(StrictSerializer):
    name = serializers.CharField(max_length=200, allow_blank=True)
    text = serializers.CharField(max_length=2 * MAX_DEFINITION_LENGTH, allow_blank=True, trim_whitespace=False)


class CheckedPayload(TypedDict):
    problems: list[ProblemPayload]
    warnings: list[ProblemPayload]


class CheckedTools(ProjectView):
    scopes: ClassVar = {"POST": Scope.READ}

    @extend_schema(operation_id="tools_check", request=ToolText)
    def post(self, request: Request) -> TypedResponse[CheckedPayload]:
        """Check a definition without saving it.

        `problems` prevent a save, `warnings` don't. Text that isn't JSON has one problem, which names the line.
        """
        data = self.valid(ToolText)
        others = list_tools(self.project).exclude(name=data["name"]).values_list("name", flat=True)
        problems = list(name_problems(data["name"], others=list(others))) if data["name"] else []
        try:
            document = read_json(data["text"])
        except ApiError as error:
            problems.append(Problem(error.field or "", error.message))
            return _answer(problems, [])
        found = definition_problems(document)
        problems += [*found, *approval_problems(data["name"], document)]
        return _answer(problems, [] if found else self._warnings(document, name=data["name"]))

    def _warnings(self, document: Any, *, name: str) -> list[Problem]:
        return warnings_for(self.project, name, ToolDefinition.model_validate(document))


def _answer(problems: list[Problem], warnings: list[Problem]) -> TypedResponse[CheckedPayload]:
    return TypedResponse(
        {
            "problems": [problem_payload(problem) for problem in problems],
            "warnings": [problem_payload(problem) for problem in warnings],
        }
    )
