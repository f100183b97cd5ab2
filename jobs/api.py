"""The API of jobs and model calls."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, TypedDict
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from jobs.models import Job, ModelCall, State
from jobs.presenters import JobPayload, ModelCallPayload, call_payload, job_payload
from jobs.services import run_again
from projects.api.pagination import PAGED
from projects.api.typed_responses import Accepted, Page, TypedResponse
from projects.api.views import ProjectView
from projects.models.key import Scope


class CalledPayload(TypedDict):
    """A tool call. `arguments` is the model's raw text."""

    name: str
    arguments: str


class ModelCallDetailPayload(ModelCallPayload):
    """A model call with its complete input and output."""

    messages: list[Annotated[dict[str, Any], "In the form of Chat Completions."]]
    tool_calls: list[CalledPayload]
    output: str
    template_hash: str


class FailedJobs(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ}
    queries: ClassVar = {"GET": PAGED}

    @extend_schema(operation_id="jobs_failed")
    def get(self, request: Request) -> TypedResponse[Page[JobPayload]]:
        """Failed jobs of the project, newest first."""
        return self.page(Job.objects.filter(project_id=self.project.pk, state=State.FAILED), job_payload)


class RunAgain(ProjectView):
    scopes: ClassVar = {"POST": Scope.OPERATE}

    @extend_schema(operation_id="jobs_run_again", request=None)
    def post(self, request: Request, job_id: UUID) -> Accepted[JobPayload]:
        """Queue a failed job again."""
        try:
            return Accepted(job_payload(run_again(self.project, job_id)))
        except Job.DoesNotExist as error:
            raise Http404 from error


class ModelCallDetail(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(operation_id="model_calls_read")
    def get(self, request: Request, call_id: UUID) -> TypedResponse[ModelCallDetailPayload]:
        """A model call with its messages and output."""
        call = ModelCall.objects.filter(project_id=self.project.pk, pk=call_id).first()
        if call is None:
            raise Http404
        return TypedResponse(
            {
                **call_payload(call),
                "messages": call.messages,
                "tool_calls": call.tool_calls,
                "output": call.output,
                "template_hash": call.template_hash,
            }
        )
