"""Export and erasure of customers over the API."""

from __future__ import annotations

from functools import partial
from typing import ClassVar
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.api.views import PersonaDetail
from privacy.erasure.request import request_erasure
from privacy.export.customer import CustomerExport
from privacy.export.request import begin_customer_export
from privacy.export.zip_stream import zip_response
from privacy.models import Erasure
from privacy.payloads import ErasurePayload, erasure_payload
from projects.api.async_views import Continued, continues
from projects.api.authentication import Caller, load_key_scopes, load_member_scopes
from projects.api.pagination import PAGED
from projects.api.typed_responses import Accepted, Page, TypedResponse
from projects.api.views import ProjectView
from projects.models.key import Scope


class ErasablePersona(PersonaDetail):
    """A customer, who can also be erased."""

    scopes: ClassVar = {**PersonaDetail.scopes, "DELETE": Scope.OPERATE}

    @extend_schema(operation_id="personas_erase")
    def delete(self, request: Request, persona_id: UUID) -> Accepted[ErasurePayload]:
        """Erases a customer and those merged into them. This can't be undone.

        The customer is gone at once: a new conversation with the same `external_id` begins with a new customer. A job then
        removes their conversations, files, bookings, todos, tickets and everything else about them, from every table and
        from the connected calendar. Actions and model calls stay, without anything about the customer, as proof that they
        happened and of what they cost.

        Read the erasure until its `status` is `done`.
        """
        erasure = request_erasure(self.project, persona_id, by=self.caller.user, actor=self.caller.name)
        return Accepted(erasure_payload(erasure))


class CustomerExports(ProjectView):
    scopes: ClassVar = {"GET": Scope.OPERATE}

    @extend_schema(operation_id="personas_export", responses={(200, "application/zip"): OpenApiTypes.BINARY})
    def get(self, request: Request, persona_id: UUID) -> Response:
        """Downloads everything about a customer and those merged into them, as a ZIP file.

        It has pages to read, beginning with `index.html`, the same records as JSON, and the customer's files. It is written
        while it is sent; a broken connection leaves an incomplete file.
        """
        caller = self.caller
        export = begin_customer_export(
            self.project, persona_id, authorize=partial(_require_access, caller), by=caller.user, actor=caller.name
        )
        return Continued(export, status=200)


@continues(CustomerExports)
async def export_customer(request: HttpRequest, served: Continued[CustomerExport]) -> HttpResponseBase:
    """Send the export."""
    export = served.state
    return zip_response(export.pieces(), name=export.file_name, organization_id=export.organization_id)


def _require_access(caller: Caller) -> None:
    """Raise PermissionDenied if the key or member may no longer export."""
    if caller.key is not None:
        scopes = load_key_scopes(caller.organization_id, caller.key.pk)
    else:
        scopes = load_member_scopes(caller.organization_id, caller.user.pk if caller.user else 0)
    if Scope.OPERATE not in scopes:
        raise PermissionDenied


class Erasures(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ}
    queries: ClassVar = {"GET": PAGED}

    @extend_schema(operation_id="erasures_list")
    def get(self, request: Request) -> TypedResponse[Page[ErasurePayload]]:
        """Returns a list of the project's erasures, newest first. They name nobody."""
        return self.page(Erasure.objects.filter(project=self.project), erasure_payload)


class ErasureDetail(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(operation_id="erasures_read")
    def get(self, request: Request, erasure_id: UUID) -> TypedResponse[ErasurePayload]:
        """Retrieves an erasure."""
        found = Erasure.objects.filter(project=self.project, pk=erasure_id).first()
        if found is None:
            raise Http404
        return TypedResponse(erasure_payload(found))
