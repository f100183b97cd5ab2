"""The API of tools and of the ledger of effects."""

from __future__ import annotations

from typing import ClassVar

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from projects.api.doors import ProjectView
from projects.models.key import Scope
from tools.catalogue import compile_tools
from tools.models import Effect
from tools.presenters import effect_payload, tool_payload


class Tools(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(
        operation_id="tools_list",
        responses=OpenApiTypes.OBJECT,
        parameters=[
            OpenApiParameter("channel", OpenApiTypes.STR, description="the channel to compile for; default chat")
        ],
    )
    def get(self, request: Request) -> Response:
        """The compiled catalogue: every tool, offered or not and why."""
        compiled = compile_tools(self.project, channel=request.query_params.get("channel", "chat"))
        return Response({"results": [tool_payload(tool) for tool in compiled], "next": None})


class Effects(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(operation_id="effects_list", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:
        """Everything that tools did or will do, newest first."""
        rows = Effect.objects.filter(project_id=self.project.pk)
        if state := request.query_params.get("state"):
            rows = rows.filter(state=state)
        return self.page(rows, effect_payload)
