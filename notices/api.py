"""A member's notices over the API."""

from __future__ import annotations

from typing import Annotated, ClassVar, TypedDict

from django.utils.translation import gettext
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from jobs.errors import WrongState
from notices.links import url_of
from notices.models import Notice, NoticeKind
from notices.services import in_bell, mark_read
from projects.api.authentication import Caller
from projects.api.pagination import PAGED
from projects.api.serializers import StrictSerializer
from projects.api.typed_responses import Page, TypedResponse
from projects.api.views import ProjectView
from projects.common.presenters import Id, Stamp, Url, stamp
from projects.models import Member, Role
from projects.models.key import Scope

NOBODY = {409: OpenApiResponse(description="The API key acts for nobody.")}
MOST_AT_ONCE = 200


class NoticePayload(TypedDict):
    """A notice. `object` is the id of the conversation, todo, effect or promise that it is about."""

    id: Id
    kind: Annotated[str, NoticeKind]
    text: str
    object: Id | None
    url: Url
    created_at: Stamp
    read_at: Stamp | None


class ReadPayload(TypedDict):
    """The number of notices that were unread until now."""

    read: int


class ReadInput(StrictSerializer):
    notices = serializers.ListField(
        child=serializers.UUIDField(),
        max_length=MOST_AT_ONCE,
        required=False,
        help_text="The notices to mark as read. If omitted, all are.",
    )


class Notices(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ}
    queries: ClassVar = {
        "GET": (OpenApiParameter("unread", OpenApiTypes.STR, enum=["true"], description="Unread ones only."), *PAGED)
    }

    @extend_schema(operation_id="notices_list", responses=NOBODY)
    def get(self, request: Request) -> TypedResponse[Page[NoticePayload]]:
        """Returns your notices in the project, newest first. An API key reads those of its creator, or else of the
        organization's first owner.
        """
        rows = in_bell(_member_of(self.caller), self.project.pk).select_related("project")
        if request.query_params.get("unread"):
            rows = rows.filter(read_at=None)
        return self.page(rows, notice_payload, ordering="-created_at")


class ReadNotices(ProjectView):
    scopes: ClassVar = {"POST": Scope.READ}

    @extend_schema(operation_id="notices_read", request=ReadInput, responses=NOBODY)
    def post(self, request: Request) -> TypedResponse[ReadPayload]:
        """Marks your notices in the project as read."""
        wanted = self.valid(ReadInput).get("notices")
        return TypedResponse({"read": mark_read(_member_of(self.caller), self.project.pk, wanted)})


def notice_payload(notice: Notice) -> NoticePayload:
    return {
        "id": str(notice.pk),
        "kind": notice.kind,
        "text": notice.text,
        "object": str(notice.object_id) if notice.object_id else None,
        "url": url_of(notice),
        "created_at": stamp(notice.created_at),
        "read_at": stamp(notice.read_at),
    }


def _member_of(caller: Caller) -> Member:
    """The member whose notices the caller reads. Raises WrongState."""
    if caller.member is not None:
        return caller.member
    maker = caller.key.created_by_id if caller.key else None
    member = Member.objects.filter(user_id=maker).first() if maker else None
    member = member or Member.objects.filter(role=Role.OWNER).order_by("created_at").first()
    if member is None:
        raise WrongState(gettext("The organization has no owner to read notifications for."))
    return member
