"""The merge of two customers, and what it moves."""

from __future__ import annotations

from typing import Annotated, ClassVar, TypedDict
from uuid import UUID

from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from conversations.common.merged import find_persona
from conversations.common.payloads import CustomerPayload
from conversations.common.presenters import customer_payload
from conversations.customers.merge import merge_customers, read_preview
from conversations.customers.preview import FieldMove, MergePreview, Outcome
from projects.api.idempotency import idempotent
from projects.api.serializers import StrictSerializer
from projects.api.typed_responses import TypedResponse
from projects.api.views import ProjectView
from projects.common.api_error import ApiError
from projects.common.presenters import Id
from projects.models.key import Scope

REFUSED = {
    409: OpenApiResponse(description="A customer has changed since, was merged already, or isn't the project's."),
    422: OpenApiResponse(description="Both are the same customer."),
}
OTHER = OpenApiParameter(
    "persona", OpenApiTypes.UUID, required=True, description="the customer to merge into the one of the path"
)


class MergeCountsPayload(TypedDict):
    """The rows that move. The todos include `approved_todos`, which need a new approval because their customer changes."""

    conversations: int
    bookings: int
    todos: int
    approved_todos: int
    tickets: int
    promises: int


class MergeFieldPayload(TypedDict):
    """A field of the merged customer. `kept` is the value of the customer who stays, if they have one."""

    field: str
    kept: str | None
    merged: str
    outcome: Annotated[str, Outcome]


class MergePreviewPayload(TypedDict):
    """Preview of a merge. Pass `seen` to the merge, which is refused if anything here has changed since."""

    persona: Id
    merged: Id
    moves: MergeCountsPayload
    fields: list[MergeFieldPayload]
    shop_accounts_differ: bool
    seen: str


class MergeInput(StrictSerializer):
    persona = serializers.UUIDField(help_text="the customer to merge into the one of the path")
    seen = serializers.CharField(max_length=64, help_text="`seen` of the preview that you decided on")


class Merge(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.OPERATE}
    queries: ClassVar = {"GET": (OTHER,)}

    @extend_schema(operation_id="personas_merge_preview", responses=REFUSED)
    def get(self, request: Request, persona_id: UUID) -> TypedResponse[MergePreviewPayload]:
        """Returns what a merge would move, and each field in which the two customers differ.

        A field `moves` if the customer who stays has no value. It `loses` if they have another one. A refusal `wins`
        over a consent.
        """
        preview = read_preview(self.project, self._known(persona_id), _uuid(request.query_params.get("persona", "")))
        return TypedResponse(preview_payload(preview))

    @extend_schema(operation_id="personas_merge", request=MergeInput, responses=REFUSED)
    @idempotent
    def post(self, request: Request, persona_id: UUID) -> TypedResponse[CustomerPayload]:
        """Merges another customer into this one. This can't be undone.

        Conversations, bookings, todos and tickets move. The other customer's id and `external_id` lead to this one from
        then on. The merge is recorded in the audit log.
        """
        data = self.valid(MergeInput)
        kept = merge_customers(
            self.project,
            self._known(persona_id),
            data["persona"],
            seen=data["seen"],
            by=self.caller.user,
            actor=self.caller.name,
        )
        return TypedResponse(customer_payload(kept))

    def _known(self, persona_id: UUID) -> UUID:
        if find_persona(self.project.pk, persona_id) is None:
            raise Http404
        return persona_id


def preview_payload(preview: MergePreview) -> MergePreviewPayload:
    counts = preview.counts
    return {
        "persona": str(preview.target.pk),
        "merged": str(preview.source.pk),
        "moves": {
            "conversations": counts["conversations"],
            "bookings": counts["bookings"],
            "todos": counts["todos"],
            "approved_todos": counts["approved_todos"],
            "tickets": counts["tickets"],
            "promises": counts["promises"],
        },
        "fields": [_field(field) for field in preview.fields],
        "shop_accounts_differ": preview.shop_accounts,
        "seen": preview.seen,
    }


def _field(field: FieldMove) -> MergeFieldPayload:
    return {"field": field.key, "kept": field.kept or None, "merged": field.merged, "outcome": field.outcome.value}


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise ApiError("invalid", "persona must be a customer's id.", field="persona") from error
