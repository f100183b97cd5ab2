"""The API of custom tools."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, NotRequired, TypedDict, cast

from drf_spectacular.utils import OpenApiParameter, PolymorphicProxySerializer, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from projects.api.openapi_types import pattern_schema
from projects.api.pagination import PAGED
from projects.api.serializers import StrictSerializer
from projects.api.typed_responses import Created, Page, TypedResponse
from projects.api.views import ProjectView
from projects.models.key import Scope
from tools.engine.custom import service
from tools.engine.custom.presenters import (
    CustomToolPayload,
    SavedToolPayload,
    ToolVersionPayload,
    saved_payload,
    tool_payload,
    version_payload,
)
from tools.engine.custom.reading import read_definition, read_tools
from tools.engine.custom.secrets import rotate_signing_secret, set_secret_headers
from tools.engine.custom.service import Saved
from tools.engine.payloads import Definition, ToolRegistration
from tools.engine.validation.names import NAME

NAMED = OpenApiParameter("name", pattern_schema(NAME), OpenApiParameter.PATH)
VERSION = serializers.IntegerField(min_value=0, max_value=2**31 - 1, required=False, allow_null=True)


class SaveOptions(StrictSerializer):
    """Options that may accompany a definition. A version that never existed isn't the current one."""

    expected_version = serializers.IntegerField(required=False, allow_null=True)
    enabled = serializers.BooleanField(required=False)


class Switch(StrictSerializer):
    enabled = serializers.BooleanField()


class Restored(StrictSerializer):
    version = serializers.IntegerField(min_value=1, max_value=2**31 - 1)
    expected_version = VERSION


class SecretHeaders(StrictSerializer):
    headers = serializers.DictField(child=serializers.CharField(allow_null=True, trim_whitespace=False))


class SigningSecretPayload(TypedDict):
    signing_secret: str


class SecretHeadersPayload(TypedDict):
    """The names of the secret headers that are set."""

    secret_headers: list[str]


class WrittenTool(TypedDict):
    """With `expected_version`, the save succeeds only if that is the current version."""

    definition: Definition
    expected_version: NotRequired[int | None]
    enabled: NotRequired[bool]


class NewTool(TypedDict):
    name: Annotated[str, NAME]
    definition: Definition


# drf-spectacular takes every type that has an extension, not only serializers.
FORMS: list[Any] = [NewTool, ToolRegistration]
NEW_TOOLS = PolymorphicProxySerializer(component_name="NewTools", serializers=FORMS, resource_type_field_name=None)


class DocumentView(ProjectView):
    """A view whose body is a document rather than form fields."""

    @property
    def body(self) -> dict[str, Any]:
        """The body; the parser accepts objects only."""
        return cast(dict[str, Any], self.request.data)


class CustomTools(DocumentView):
    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.CONFIGURE}
    queries: ClassVar = {"GET": PAGED}

    @extend_schema(operation_id="custom_tools_list")
    def get(self, request: Request) -> TypedResponse[Page[CustomToolPayload]]:
        """List the project's own tools."""
        return self.page(service.list_tools(self.project), tool_payload, ordering="name")

    @extend_schema(operation_id="custom_tools_create", request=NEW_TOOLS)
    def post(self, request: Request) -> Created[SavedToolPayload | Page[SavedToolPayload]]:
        """Add tools: `{"tools": {name: definition}}`, `{name: definition}`, or a definition with a `name` field.

        A single tool is returned as an object, several as a list. The signing secret of a webhook is shown only in this
        response.
        """
        payloads = [saved_payload(saved) for saved in self._add()]
        return Created(payloads[0] if len(payloads) == 1 else {"results": payloads, "next": None})

    def _add(self) -> list[Saved]:
        tools, author = read_tools(self.body), self.caller.member
        if "name" not in self.body:
            return service.add_each(self.project, tools, author=author)
        # Saved on its own so that problem paths are relative to the body.
        return [
            service.add(self.project, name=name, document=document, author=author) for name, document in tools.items()
        ]


class CustomToolDetail(DocumentView):
    scopes: ClassVar = {
        "GET": Scope.READ,
        "PUT": Scope.CONFIGURE,
        "PATCH": Scope.CONFIGURE,
        "DELETE": Scope.CONFIGURE,
    }

    @extend_schema(operation_id="custom_tools_read")
    def get(self, request: Request, name: str) -> TypedResponse[CustomToolPayload]:
        """Retrieve one of the project's own tools, without its secrets."""
        return TypedResponse(tool_payload(service.get(self.project, name)))

    @extend_schema(operation_id="custom_tools_write", request=WrittenTool, parameters=[NAMED])
    def put(self, request: Request, name: str) -> TypedResponse[SavedToolPayload]:
        """Save the definition as a new version. With `expected_version`, only if that is the current version."""
        document = read_definition(self.body, name=name)
        given = {key: value for key, value in self.body.items() if key in ("expected_version", "enabled")}
        manner = SaveOptions(data=given)
        manner.is_valid(raise_exception=True)
        saved = service.save(
            self.project,
            name=name,
            document=document,
            author=self.caller.member,
            expected_version=manner.validated_data.get("expected_version"),
            is_enabled=manner.validated_data.get("enabled"),
        )
        return TypedResponse(saved_payload(saved))

    @extend_schema(operation_id="custom_tools_switch", request=Switch)
    def patch(self, request: Request, name: str) -> TypedResponse[CustomToolPayload]:
        """Switch the tool on or off."""
        switch = service.enable if self.valid(Switch)["enabled"] else service.disable
        return TypedResponse(tool_payload(switch(self.project, name, author=self.caller.member)))

    @extend_schema(operation_id="custom_tools_delete", responses={204: None})
    def delete(self, request: Request, name: str) -> Response:
        """Remove the tool. Its versions stay and can be restored."""
        service.remove(self.project, name, author=self.caller.member)
        return Response(status=204)


class CustomToolVersions(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ}
    queries: ClassVar = {"GET": PAGED}

    @extend_schema(operation_id="custom_tools_versions")
    def get(self, request: Request, name: str) -> TypedResponse[Page[ToolVersionPayload]]:
        """List all versions saved under this name, newest first."""
        service.get_ever(self.project, name)
        return self.page(service.versions(self.project, name), version_payload)


class RestoreCustomTool(ProjectView):
    scopes: ClassVar = {"POST": Scope.CONFIGURE}

    @extend_schema(operation_id="custom_tools_restore", request=Restored)
    def post(self, request: Request, name: str) -> TypedResponse[SavedToolPayload]:
        """Make an earlier version the newest, also for a removed tool."""
        data = self.valid(Restored)
        saved = service.restore(
            self.project,
            name,
            data["version"],
            author=self.caller.member,
            expected_version=data.get("expected_version"),
        )
        return TypedResponse(saved_payload(saved))


class SigningSecret(ProjectView):
    scopes: ClassVar = {"POST": Scope.CONFIGURE}

    @extend_schema(operation_id="custom_tools_rotate_secret", request=None)
    def post(self, request: Request, name: str) -> Created[SigningSecretPayload]:
        """Create a new signing secret, shown only in this response. The previous one stays valid for a day."""
        return Created({"signing_secret": rotate_signing_secret(service.get(self.project, name))})


class CustomToolSecretHeaders(ProjectView):
    scopes: ClassVar = {"PATCH": Scope.CONFIGURE}

    @extend_schema(operation_id="custom_tools_secret_headers", request=SecretHeaders)
    def patch(self, request: Request, name: str) -> TypedResponse[SecretHeadersPayload]:
        """Set secret headers by name, or remove one with null. Values are never returned."""
        headers: dict[str, Any] = self.valid(SecretHeaders)["headers"]
        return TypedResponse({"secret_headers": set_secret_headers(service.get(self.project, name), headers)})
