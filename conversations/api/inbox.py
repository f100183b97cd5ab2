"""The inbox's state of a conversation: assignee, tags, snooze, closed."""

from __future__ import annotations

from typing import Any, ClassVar, TypedDict
from uuid import UUID

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from conversations.api.operators import OperatorView
from conversations.api.tags import TagPayload, tag_payload
from conversations.api.tickets import AssigneePayload
from conversations.handover.assignment import Anybody, assign
from conversations.inbox import closing, tags
from conversations.models import Conversation
from projects.api.serializers import StrictSerializer
from projects.api.typed_responses import TypedResponse
from projects.common.presenters import Stamp, stamp
from projects.models.key import Scope
from tools.services.support.tickets import find_assignee

STALE = {409: OpenApiResponse(description="Another change came first; the message says which.")}
MAX_AT_ONCE = 20


class InboxPayload(TypedDict):
    """A conversation's state in the inbox. `snoozed_until` may have passed: the conversation is back then."""

    assignee: AssigneePayload | None
    tags: list[TagPayload]
    snoozed_until: Stamp | None
    closed_at: Stamp | None


class AssigneeInput(StrictSerializer):
    assignee = serializers.EmailField(
        allow_null=True, help_text="e-mail address of a member with the operate scope; null to unassign"
    )
    instead_of = serializers.EmailField(
        allow_null=True,
        required=False,
        help_text="the assignee that you saw: if somebody else is assigned by now, nothing changes",
    )


class TagsInput(StrictSerializer):
    add = serializers.ListField(child=serializers.CharField(), required=False, default=list, max_length=MAX_AT_ONCE)
    remove = serializers.ListField(child=serializers.CharField(), required=False, default=list, max_length=MAX_AT_ONCE)


class SeenInput(StrictSerializer):
    seen = serializers.IntegerField(
        required=False,
        min_value=0,
        help_text="`seq` of the last message that you saw: if the customer has written since, nothing changes",
    )


class SnoozeInput(SeenInput):
    until = serializers.DateTimeField(help_text="a time within the next year")


class InboxView(OperatorView):
    """Base class for views that change a conversation's state in the inbox."""

    def state(self, conversation_id: UUID) -> TypedResponse[InboxPayload]:
        rows = Conversation.objects.select_related("assignee")
        return TypedResponse(inbox_payload(rows.get(pk=conversation_id)))


class Inbox(InboxView):
    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(operation_id="conversations_inbox")
    def get(self, request: Request, conversation_id: UUID) -> TypedResponse[InboxPayload]:
        """Retrieves a conversation's assignee, its tags, until when it is snoozed, and when it was closed."""
        return self.state(self.bare_conversation(conversation_id).pk)


class Assignee(InboxView):
    scopes: ClassVar = {"PUT": Scope.OPERATE}

    @extend_schema(operation_id="conversations_assign", request=AssigneeInput, responses=STALE)
    def put(self, request: Request, conversation_id: UUID) -> TypedResponse[InboxPayload]:
        """Assigns the conversation to a member, or to nobody."""
        data, row = self.valid(AssigneeInput), self.bare_conversation(conversation_id)
        assign(row.pk, find_assignee(data["assignee"]), by=self.operator, instead_of=_expected(data))
        return self.state(row.pk)


class ConversationTags(InboxView):
    @extend_schema(operation_id="conversations_tag", request=TagsInput)
    def post(self, request: Request, conversation_id: UUID) -> TypedResponse[InboxPayload]:
        """Adds tags of the project's list to the conversation and removes others, by name."""
        data, row = self.valid(TagsInput), self.bare_conversation(conversation_id)
        added, removed = (tags.find_tags(self.project, data[name], field=name) for name in ("add", "remove"))
        tags.change_tags(row.pk, add=added, remove=removed, by=self.operator)
        return self.state(row.pk)


class Snooze(InboxView):
    scopes: ClassVar = {"PUT": Scope.OPERATE, "DELETE": Scope.OPERATE}

    @extend_schema(operation_id="conversations_snooze", request=SnoozeInput, responses=STALE)
    def put(self, request: Request, conversation_id: UUID) -> TypedResponse[InboxPayload]:
        """Takes the conversation out of the inbox until a time, or until the customer writes. A closed conversation is
        reopened.
        """
        data, row = self.valid(SnoozeInput), self.bare_conversation(conversation_id)
        closing.snooze(row.pk, data["until"], by=self.operator, seen=data.get("seen"))
        return self.state(row.pk)

    @extend_schema(operation_id="conversations_unsnooze", request=None)
    def delete(self, request: Request, conversation_id: UUID) -> TypedResponse[InboxPayload]:
        """Brings a snoozed conversation back before its time."""
        row = self.bare_conversation(conversation_id)
        closing.end_snooze(row.pk, by=self.operator)
        return self.state(row.pk)


class Close(InboxView):
    @extend_schema(operation_id="conversations_close", request=SeenInput, responses=STALE)
    def post(self, request: Request, conversation_id: UUID) -> TypedResponse[InboxPayload]:
        """Closes the conversation: its request for a person is resolved, its flag cleared, and your takeover ends.

        A new message of the customer reopens it.
        """
        data, row = self.valid(SeenInput), self.bare_conversation(conversation_id)
        closing.close(row.pk, by=self.operator, seen=data.get("seen"))
        return self.state(row.pk)


class Reopen(InboxView):
    @extend_schema(operation_id="conversations_reopen", request=None)
    def post(self, request: Request, conversation_id: UUID) -> TypedResponse[InboxPayload]:
        """Reopens a closed conversation."""
        row = self.bare_conversation(conversation_id)
        closing.reopen(row.pk, by=self.operator)
        return self.state(row.pk)


def inbox_payload(row: Conversation) -> InboxPayload:
    """A conversation's state in the inbox. Needs `assignee` selected."""
    assignee = row.assignee
    return {
        "assignee": {"name": assignee.name, "email": assignee.email} if assignee else None,
        "tags": [tag_payload(tag) for tag in tags.tags_of([row.pk]).get(row.pk, [])],
        "snoozed_until": stamp(row.snoozed_until),
        "closed_at": stamp(row.closed_at),
    }


def _expected(data: dict[str, Any]) -> int | Anybody | None:
    """The key of the assignee that the caller saw."""
    if "instead_of" not in data:
        return Anybody.ANYBODY
    seen = find_assignee(data["instead_of"])
    return seen.pk if seen else None
