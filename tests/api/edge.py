"""Endpoints that exist only for tests of the API's base."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypedDict

from django.db import InterfaceError, OperationalError, connection
from django.http import HttpRequest, HttpResponse
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from projects.api import errors
from projects.api.errors import Conflict
from projects.api.idempotency import idempotent
from projects.api.pagination import PAGED
from projects.api.serializers import StrictSerializer, TextField
from projects.api.typed_responses import Page, TypedResponse
from projects.api.views import ProjectView, TenantView
from projects.models import Attribute
from projects.models.attribute import AttributeType
from projects.models.key import Scope
from projects.records.attributes import WrongValue

handler400 = errors.bad_request
handler403 = errors.permission_denied
handler404 = errors.not_found
handler500 = errors.server_error


class TodoIsRunning(Conflict):
    """The todo is running; wait until it ends."""


FAULTS: dict[str, Callable[[], Exception]] = {
    "bug": lambda: RuntimeError("mg_0123abcd_" + "x" * 43),
    "conflict": TodoIsRunning,
    "interface": lambda: InterfaceError("connection already closed"),
    "operational": lambda: OperationalError("connection refused"),
    "wrong-value": lambda: WrongValue("color must be True or False, not 'ture'."),
}


class PersonaInput(StrictSerializer):
    external_id = serializers.CharField(max_length=20)


class NoteInput(StrictSerializer):
    content = TextField(longest=8_000)
    count = serializers.IntegerField(required=False)
    metadata = serializers.JSONField(required=False)
    persona = PersonaInput(required=False)
    created_at = serializers.DateTimeField(read_only=True)


class NoteOutput(serializers.ModelSerializer[Attribute]):
    class Meta:
        model = Attribute
        fields = ["id", "key", "value"]


class Notes(TenantView):
    scopes = {"GET": Scope.READ, "POST": Scope.CONVERSE}

    queries: ClassVar = {"POST": (OpenApiParameter("wait"),)}

    @extend_schema(operation_id="notes_read", responses=NoteOutput)
    def get(self, request: Request) -> Response:
        return Response({"project": str(self.project.pk), "scopes": sorted(self.caller.scopes)})

    @extend_schema(operation_id="notes_write", request=NoteInput, responses={201: NoteOutput})
    @idempotent
    def post(self, request: Request) -> Response:
        note = NoteInput(data=request.data)
        note.is_valid(raise_exception=True)
        content = note.validated_data["content"]
        row = Attribute.objects.create(
            project=self.project, key=f"note-{Attribute.objects.count()}", type=AttributeType.STRING, value=content
        )
        if content == "fail after writing":
            raise Conflict("Too late.")
        if content == "return an error":
            return Response({"content": content}, status=409)
        return Response({"id": row.pk, "content": content}, status=201)


@extend_schema(exclude=True)
class OtherNotes(Notes):
    """The same endpoint at another address."""


class Faults(TenantView):
    scopes = {"GET": Scope.READ}

    @extend_schema(operation_id="faults", responses={204: None})
    def get(self, request: Request, name: str) -> Response:
        raise FAULTS[name]()


class Locked(TenantView):
    scopes = {"GET": Scope.READ}

    @extend_schema(operation_id="locked", responses={204: None})
    def get(self, request: Request) -> Response:
        with connection.cursor() as cursor:
            cursor.execute("set local statement_timeout = 1; select pg_sleep(1)")
        return Response(status=204)


class NoScopes(TenantView):
    @extend_schema(operation_id="no_scopes", responses={204: None})
    def get(self, request: Request) -> Response:
        return Response(status=204)


class NotePayload(TypedDict):
    id: str
    key: str
    value: Any


def note(row: Attribute) -> NotePayload:
    return {"id": str(row.pk), "key": row.key, "value": row.value}


class NoteRows(ProjectView):
    scopes = {"GET": Scope.READ}
    queries = {"GET": PAGED}
    ordering = "-id"

    @extend_schema(operation_id="note_rows")
    def get(self, request: Request) -> TypedResponse[Page[NotePayload]]:
        return self.page(Attribute.objects.filter(project=self.project), note, ordering=self.ordering)


class NotesByKey(NoteRows):
    ordering = "key"

    @extend_schema(operation_id="note_rows_by_key")
    def get(self, request: Request) -> TypedResponse[Page[NotePayload]]:
        return super().get(request)


def page_with_fault(request: HttpRequest, name: str) -> HttpResponse:
    raise FAULTS[name]()


def echo(request: HttpRequest) -> HttpResponse:
    return HttpResponse(request.body)


VIEWS: list[tuple[str, Any]] = [
    ("notes", Notes.as_view()),
    ("other-notes", OtherNotes.as_view()),
    ("faults/<str:name>", Faults.as_view()),
    ("locked", Locked.as_view()),
    ("no-scopes", NoScopes.as_view()),
    ("rows", NoteRows.as_view()),
    ("rows-by-key", NotesByKey.as_view()),
    ("plain/<str:name>", page_with_fault),
    ("echo", echo),
]
urlpatterns = [
    *(path(f"api/v1/{address}", view) for address, view in VIEWS),
    path("page/<str:name>", page_with_fault),
    path("echo", echo),
]
