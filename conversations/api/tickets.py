"""Tickets API."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, TypedDict
from uuid import UUID, uuid4

from django.db.models import QuerySet
from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from conversations.api.operators import operator_of
from conversations.common.contacts import find_customer
from conversations.handover.ticket_answers import answer_ticket
from projects.api.idempotency import idempotent
from projects.api.pagination import PAGED
from projects.api.serializers import StrictSerializer, TextField
from projects.api.typed_responses import Created, Page, TypedResponse
from projects.api.views import ProjectView
from projects.common.api_error import ApiError
from projects.common.presenters import Id, Stamp, stamp
from projects.models.key import Scope
from tools.models import Ticket, TicketAnswer, TicketChange, TicketChannel, TicketPriority, TicketState
from tools.services.support.tickets import LONGEST_BODY, LONGEST_SUBJECT, change_ticket, find_assignee, open_ticket

UNREACHABLE = {409: OpenApiResponse(description="The customer can't be reached this way.")}


class TicketInput(StrictSerializer):
    subject = TextField(longest=LONGEST_SUBJECT)
    body = TextField(longest=LONGEST_BODY)
    priority = serializers.ChoiceField(choices=TicketPriority.choices, default=TicketPriority.NORMAL)
    conversation = serializers.UUIDField(required=False, allow_null=True)
    persona = serializers.UUIDField(required=False, allow_null=True)


class TicketPatch(StrictSerializer):
    subject = TextField(longest=LONGEST_SUBJECT, required=False)
    body = TextField(longest=LONGEST_BODY, required=False)
    priority = serializers.ChoiceField(choices=TicketPriority.choices, required=False)
    state = serializers.ChoiceField(choices=TicketState.choices, required=False)
    assignee = serializers.EmailField(
        required=False, allow_null=True, help_text="e-mail address of a member with the operate scope; null to unassign"
    )


class TicketAnswerInput(StrictSerializer):
    content = TextField(longest=LONGEST_BODY)
    channel = serializers.ChoiceField(choices=TicketChannel.choices)


class TicketView(ProjectView):
    """Base class for views of the project's tickets."""

    @property
    def rows(self) -> QuerySet[Ticket]:
        return Ticket.objects.filter(project_id=self.project.pk).select_related("assignee")

    def ticket(self, ticket_id: UUID) -> Ticket:
        """The ticket; Http404 if the project has no such ticket."""
        found = self.rows.filter(pk=ticket_id).first()
        if found is None:
            raise Http404
        return found


class Tickets(TicketView):
    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.OPERATE}
    queries: ClassVar = {
        "GET": (
            OpenApiParameter("state", OpenApiTypes.STR, enum=TicketState.values),
            OpenApiParameter("priority", OpenApiTypes.STR, enum=TicketPriority.values),
            OpenApiParameter("conversation", OpenApiTypes.UUID),
            *PAGED,
        )
    }

    @extend_schema(operation_id="tickets_list")
    def get(self, request: Request) -> TypedResponse[Page[TicketPayload]]:
        """Returns a list of the project's tickets, newest first."""
        rows = self.rows
        for name in ("state", "priority"):
            if value := request.query_params.get(name):
                rows = rows.filter(**{name: value})
        if (conversation := request.query_params.get("conversation")) is not None:
            rows = rows.filter(conversation_id=_uuid(conversation))
        return self.page(rows, ticket_payload)

    @extend_schema(operation_id="tickets_create", request=TicketInput)
    @idempotent
    def post(self, request: Request) -> Created[TicketDetailPayload]:
        """Creates a ticket and assigns the project's next number to it."""
        data = self.valid(TicketInput)
        conversation = data.pop("conversation", None)
        persona = find_customer(self.project, conversation_id=conversation, persona_id=data.pop("persona", None))
        ticket = open_ticket(
            self.project.pk,
            **data,
            conversation_id=conversation,
            persona_id=persona,
            by=self.caller.user,
            actor=self.caller.name,
        )
        return Created(ticket_detail(self.ticket(ticket.pk)))


class TicketDetail(TicketView):
    scopes: ClassVar = {"GET": Scope.READ, "PATCH": Scope.OPERATE}

    @extend_schema(operation_id="tickets_read")
    def get(self, request: Request, ticket_id: UUID) -> TypedResponse[TicketDetailPayload]:
        """Retrieves a ticket with its history and its answers."""
        return TypedResponse(ticket_detail(self.ticket(ticket_id)))

    @extend_schema(operation_id="tickets_change", request=TicketPatch)
    def patch(self, request: Request, ticket_id: UUID) -> TypedResponse[TicketDetailPayload]:
        """Updates a ticket. Its history records the previous values and who changed them."""
        changes = self.valid(TicketPatch)
        if "assignee" in changes:
            changes["assignee"] = find_assignee(changes["assignee"])
        change_ticket(self.ticket(ticket_id).pk, changes, by=self.caller.user, actor=self.caller.name)
        return TypedResponse(ticket_detail(self.ticket(ticket_id)))


class TicketAnswers(TicketView):
    scopes: ClassVar = {"POST": Scope.OPERATE}

    @extend_schema(operation_id="tickets_answer", request=TicketAnswerInput, responses=UNREACHABLE)
    @idempotent
    def post(self, request: Request, ticket_id: UUID) -> Created[TicketAnswerPayload]:
        """Answers the ticket's customer in the conversation or by e-mail. An open ticket is then pending.

        An e-mail is an effect: its `state` follows under `GET /effects/{id}`.
        """
        data, ticket = self.valid(TicketAnswerInput), self.ticket(ticket_id)
        answer = answer_ticket(ticket.pk, **data, by=operator_of(self.caller), key=uuid4())
        return Created(answer_payload(answer))


class AssigneePayload(TypedDict):
    name: str
    email: str


class TicketPayload(TypedDict):
    """A support ticket. `number` is unique within the project."""

    id: Id
    number: int
    subject: str
    body: str
    priority: Annotated[str, TicketPriority]
    state: Annotated[str, TicketState]
    assignee: AssigneePayload | None
    conversation: Id | None
    persona: Id | None
    effect: Annotated[Id | None, "The effect of the tool that opened the ticket."]
    created_at: Stamp
    updated_at: Stamp
    closed_at: Stamp | None


Changed = Annotated[dict[str, Any], "The changed fields, with values as displayed."]


class TicketChangePayload(TypedDict):
    by: str
    before: Changed
    after: Changed
    at: Stamp


class TicketAnswerPayload(TypedDict):
    """An answer of staff: `message` of the conversation, or `effect` of the e-mail."""

    by: str
    content: str
    channel: Annotated[str, TicketChannel]
    message: Id | None
    effect: Id | None
    at: Stamp


class TicketDetailPayload(TicketPayload):
    history: list[TicketChangePayload]
    answers: list[TicketAnswerPayload]


def ticket_payload(ticket: Ticket) -> TicketPayload:
    """A ticket as shown in lists. Needs `assignee` selected."""
    assignee = ticket.assignee
    return {
        "id": str(ticket.pk),
        "number": ticket.number,
        "subject": ticket.subject,
        "body": ticket.body,
        "priority": ticket.priority,
        "state": ticket.state,
        "assignee": {"name": assignee.name, "email": assignee.email} if assignee else None,
        "conversation": str(ticket.conversation_id) if ticket.conversation_id else None,
        "persona": str(ticket.persona_id) if ticket.persona_id else None,
        "effect": str(ticket.effect_id) if ticket.effect_id else None,
        "created_at": stamp(ticket.created_at),
        "updated_at": stamp(ticket.updated_at),
        "closed_at": stamp(ticket.closed_at),
    }


def ticket_detail(ticket: Ticket) -> TicketDetailPayload:
    """A ticket with its history and its answers."""
    return {
        **ticket_payload(ticket),
        "history": [_change(change) for change in ticket.changes.all()],
        "answers": [answer_payload(answer) for answer in ticket.answers.all()],
    }


def answer_payload(answer: TicketAnswer) -> TicketAnswerPayload:
    return {
        "by": answer.actor,
        "content": answer.content,
        "channel": answer.channel,
        "message": str(answer.message_id) if answer.message_id else None,
        "effect": str(answer.effect_id) if answer.effect_id else None,
        "at": stamp(answer.created_at),
    }


def _change(change: TicketChange) -> TicketChangePayload:
    return {"by": change.actor, "before": change.before, "after": change.after, "at": stamp(change.created_at)}


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise ApiError("invalid_conversation", "conversation must be an id.", field="conversation") from error
