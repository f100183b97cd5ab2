"""One change of the inbox on many conversations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict
from uuid import UUID

from django.http import HttpRequest, JsonResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.api.operators import OperatorView
from conversations.handover.assignment import assign
from conversations.inbox import closing, tags
from conversations.inbox.bulk import MAX_CONVERSATIONS, BulkResult, Change, change_each
from projects.api.async_views import Continued, continues
from projects.api.serializers import StrictSerializer
from projects.common.api_error import ApiError
from projects.common.presenters import Id
from projects.models import User
from tenancy.threads import in_db
from tools.services.support.tickets import find_assignee

ACTIONS = ("assign", "tag", "snooze", "close", "reopen")


class LeftAlonePayload(TypedDict):
    conversation: Id
    code: str
    message: str


class BulkPayload(TypedDict):
    """How many conversations were changed and how many were so already. The refused ones are unchanged."""

    changed: int
    unchanged: int
    refused: list[LeftAlonePayload]


class BulkInput(StrictSerializer):
    conversations = serializers.ListField(child=serializers.UUIDField(), min_length=1, max_length=MAX_CONVERSATIONS)
    action = serializers.ChoiceField(choices=ACTIONS)
    assignee = serializers.EmailField(required=False, allow_null=True, help_text="for `assign`; null to unassign")
    add = serializers.ListField(child=serializers.CharField(), required=False, default=list, help_text="for `tag`")
    remove = serializers.ListField(child=serializers.CharField(), required=False, default=list, help_text="for `tag`")
    until = serializers.DateTimeField(required=False, help_text="for `snooze`")


@dataclass(frozen=True)
class BulkChange:
    """A checked request: the conversations and what to do with each."""

    conversations: Sequence[UUID]
    change: Change
    organization_id: UUID
    project_id: UUID


class InboxBulk(OperatorView):
    @extend_schema(operation_id="conversations_bulk", request=BulkInput, responses=BulkPayload)
    def post(self, request: Request) -> Response:
        """Assigns, tags, snoozes, closes or reopens up to 200 conversations, each in a transaction of its own.

        A conversation that can't be changed is listed in `refused` with the reason; the others are changed.
        """
        data = self.valid(BulkInput)
        change = self._change(data, by=self.operator)
        work = BulkChange(data["conversations"], change, self.caller.organization_id, self.project.pk)
        return Continued(work)

    def _change(self, data: dict[str, Any], *, by: User) -> Change:
        """The change of one conversation. Raises ApiError if a field that the action needs is missing or wrong."""
        match data["action"]:
            case "assign":
                email = _required(data, "assignee")
                find_assignee(email)
                return lambda row: assign(row, find_assignee(email), by=by)
            case "tag":
                added, removed = (tags.find_tags(self.project, data[name], field=name) for name in ("add", "remove"))
                return lambda row: tags.change_tags(row, add=added, remove=removed, by=by)
            case "snooze":
                until = _required(data, "until")
                return lambda row: closing.snooze(row, until, by=by)
            case "close":
                return lambda row: closing.close(row, by=by)
        return lambda row: closing.reopen(row, by=by)


@continues(InboxBulk)
async def bulk(request: HttpRequest, served: Continued[BulkChange]) -> JsonResponse:
    """Apply the change after the request's own transaction has ended."""
    work = served.state
    result = await in_db(
        change_each,
        work.conversations,
        work.change,
        organization_id=work.organization_id,
        project_id=work.project_id,
    )
    return served.json(bulk_payload(result))


def bulk_payload(result: BulkResult) -> BulkPayload:
    return {
        "changed": result.changed,
        "unchanged": result.unchanged,
        "refused": [
            {"conversation": str(one.conversation_id), "code": one.code, "message": one.message}
            for one in result.refused
        ],
    }


def _required(data: dict[str, Any], name: str) -> Any:
    if name not in data:
        raise ApiError("required", f"{name} is required for this action.", field=name, status=422)
    return data[name]
