"""The API of jobs and model calls."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.models import Job, ModelCall, State
from jobs.presenters import call_payload, job_payload
from jobs.services import run_again
from projects.api.doors import ProjectView
from projects.api.pagination import PAGED
from projects.models.key import Scope


class FailedJobs(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ}
    queries: ClassVar = {"GET": PAGED}

    @extend_schema(operation_id="jobs_failed", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:
        """Jobs of the project that failed, newest first."""
        return self.page(Job.objects.filter(project_id=self.project.pk, state=State.FAILED), job_payload)


class RunAgain(ProjectView):
    scopes: ClassVar = {"POST": Scope.OPERATE}

    @extend_schema(operation_id="jobs_run_again", request=None, responses={202: OpenApiTypes.OBJECT})
    def post(self, request: Request, job_id: UUID) -> Response:
        """Queue a failed job once more."""
        try:
            return Response(job_payload(run_again(self.project, job_id)), status=202)
        except Job.DoesNotExist as error:
            raise Http404 from error


class ModelCallDetail(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(operation_id="model_calls_read", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, call_id: UUID) -> Response:
        """One model call with the messages that went in and what came out."""
        call = ModelCall.objects.filter(project_id=self.project.pk, pk=call_id).first()
        if call is None:
            raise Http404
        whole = {
            "messages": call.messages,
            "tool_calls": call.tool_calls,
            "output": call.output,
            "template_hash": call.template_hash,
        }
        return Response({**call_payload(call), **whole})
