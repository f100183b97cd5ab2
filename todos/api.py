"""The API of todos, their types and standing rules (design section 6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from projects.accounts import demand_recent_sign_in
from projects.api.doors import ProjectView
from projects.api.idempotency import idempotent
from projects.api.problem import ApiError
from projects.api.serializers import StrictSerializer, TextField
from projects.models import Role
from projects.models.key import Scope
from todos import by_hand, rules, services, types
from todos.approving import MOST_UNCONFIRMED
from todos.customers import customer_of
from todos.lifecycle import Actor
from todos.models import Approval, SecondApprover, StandingRule, Todo, TodoSource, TodoStatus
from todos.plans import LONGEST_DESCRIPTION
from todos.presenters import (
    approval_payload,
    approved_payload,
    rule_payload,
    todo_detail,
    todo_payload,
    type_payload,
)

VERSION: dict[str, Any] = {"min_value": 1, "max_value": 2**31 - 1, "required": False}
SHA256 = r"^[0-9a-f]{64}$"


class TypeInput(StrictSerializer):
    name = TextField(longest=types.LONGEST_NAME)
    description = TextField(longest=types.LONGEST_DESCRIPTION)
    tools = serializers.ListField(child=serializers.CharField(max_length=120), max_length=50, required=False)
    model = serializers.CharField(max_length=120, required=False, allow_blank=True)
    recipients = serializers.ListField(
        child=serializers.CharField(max_length=254),
        required=False,
        help_text="Whom a todo of this type may write to (`send_email`) which names no recipients itself.",
    )
    approver_role = serializers.ChoiceField(choices=[Role.OPERATOR, Role.ADMIN, Role.OWNER], required=False)
    second_approver = serializers.ChoiceField(choices=SecondApprover.choices, required=False)
    limit_argument = serializers.CharField(max_length=80, required=False, allow_blank=True)
    limit_value = serializers.DecimalField(max_digits=14, decimal_places=2, required=False, allow_null=True)
    expires_after_hours = serializers.IntegerField(min_value=1, max_value=types.LONGEST_HOURS, required=False)
    is_extracted = serializers.BooleanField(required=False)


class TypePatch(TypeInput):
    name = TextField(longest=types.LONGEST_NAME, required=False)
    description = TextField(longest=types.LONGEST_DESCRIPTION, required=False)


class Plan(StrictSerializer):
    """What both making and editing a todo may say."""

    type = serializers.CharField(max_length=120, required=False, allow_null=True)
    tool = serializers.CharField(max_length=120, required=False, allow_null=True)
    arguments = serializers.DictField(required=False, allow_null=True)
    recipients = serializers.ListField(child=serializers.CharField(max_length=254), required=False)
    persona = serializers.UUIDField(required=False, allow_null=True)


class TodoInput(Plan):
    description = TextField(longest=LONGEST_DESCRIPTION)
    conversation = serializers.UUIDField(required=False, allow_null=True)


class TodoPatch(Plan):
    description = TextField(longest=LONGEST_DESCRIPTION, required=False)
    version = serializers.IntegerField(**VERSION)


class Seen(StrictSerializer):
    """What the caller saw. Without it, what stands at this moment is meant."""

    version = serializers.IntegerField(
        **VERSION, help_text="The todo's `version` as it was read; 409 with the difference when another one stands."
    )
    content_hash = serializers.RegexField(
        SHA256,
        max_length=64,
        required=False,
        help_text="Its `content_hash` as it was read. It binds you to exactly what you saw, also where a contact or a tool "
        "changed within the version; 409 with the difference when it is another.",
    )


class Reason(StrictSerializer):
    reason = TextField(longest=500, required=False, allow_blank=True)


class Failure(StrictSerializer):
    reason = TextField(longest=500, help_text="Why it couldn't be done. Its promise is broken with these words.")


class Note(StrictSerializer):
    note = TextField(longest=500, required=False, allow_blank=True, help_text="How it was done.")


class Ticks(StrictSerializer):
    repeats = serializers.ListField(child=serializers.UUIDField(), max_length=100, required=False)


class ChoiceInput(StrictSerializer):
    # StrictSerializer keeps `id` from clients as a field of its own.
    todo = serializers.UUIDField()
    version = serializers.IntegerField(min_value=1, max_value=2**31 - 1)
    content_hash = serializers.RegexField(SHA256, max_length=64)


class ChoicesInput(StrictSerializer):
    todos = ChoiceInput(many=True)
    confirmed = serializers.BooleanField(required=False, default=False)


class RuleInput(StrictSerializer):
    tool = serializers.CharField(max_length=120)
    type = serializers.CharField(max_length=120, required=False, allow_null=True)
    allowed = serializers.DictField(required=False, default=dict)
    most_per_day = serializers.IntegerField(min_value=1, max_value=rules.MOST_PER_DAY, required=False)


class TodoView(ProjectView):
    """A view of the project's todos: who asks, in the words of the history."""

    @property
    def actor(self) -> Actor:
        member, key = self.caller.member, self.caller.key
        if member is not None:
            return Actor(member.user.name, member.pk)
        return Actor(f"the API key {key.name}" if key else "the API")

    @property
    def maker_id(self) -> UUID:
        """The member or the key."""
        maker = self.caller.member or self.caller.key
        assert maker is not None  # a project's caller is one of them
        return maker.pk

    def demand_todo(self, todo_id: UUID) -> None:
        """Raises Http404 for what isn't the project's."""
        services.get_todo(self.project, todo_id)

    def detail(self, todo_id: UUID, *, status: int = 200, **more: Any) -> Response:
        return Response({**todo_detail(services.get_todo(self.project, todo_id)), **more}, status=status)


class TodoTypes(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.CONFIGURE}

    @extend_schema(operation_id="todo_types_list", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:
        """The project's types of todos."""
        return self.page(types.types_of(self.project), type_payload, ordering="name")

    @extend_schema(operation_id="todo_types_create", request=TypeInput, responses={201: OpenApiTypes.OBJECT})
    def post(self, request: Request) -> Response:
        """Make a type: what to look for, which tools carry it out, who approves."""
        return Response(type_payload(types.save_type(self.project, self.valid(TypeInput))), status=201)


class TodoTypeDetail(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ, "PATCH": Scope.CONFIGURE, "DELETE": Scope.CONFIGURE}

    @extend_schema(operation_id="todo_types_read", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, type_id: UUID) -> Response:
        """One type."""
        return Response(type_payload(types.get_type(self.project, type_id)))

    @extend_schema(operation_id="todo_types_change", request=TypePatch, responses=OpenApiTypes.OBJECT)
    def patch(self, request: Request, type_id: UUID) -> Response:
        """Change a type. What was approved with other tools, model or name has to be approved again."""
        return Response(type_payload(types.save_type(self.project, self.valid(TypePatch), type_id=type_id)))

    @extend_schema(operation_id="todo_types_delete", responses={204: None})
    def delete(self, request: Request, type_id: UUID) -> Response:
        """Remove a type. Its todos stay."""
        types.remove_type(self.project, type_id)
        return Response(status=204)


class Todos(TodoView):
    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.OPERATE}

    @extend_schema(
        operation_id="todos_list",
        responses=OpenApiTypes.OBJECT,
        parameters=[
            OpenApiParameter("status", OpenApiTypes.STR, enum=TodoStatus.values),
            OpenApiParameter("type", OpenApiTypes.STR, description="a type's id or name"),
            OpenApiParameter("conversation", OpenApiTypes.UUID),
        ],
    )
    def get(self, request: Request) -> Response:
        """The project's todos without their steps and history: newest first, or, of one state, the latest to reach it."""
        rows = Todo.objects.select_related("type").filter(project=self.project)
        asked, ordering = request.query_params, "-created_at"
        if (status := asked.get("status")) is not None:
            rows, ordering = rows.filter(status=_one_of(status, TodoStatus.values, field="status")), "-status_at"
        if (kind := asked.get("type")) is not None:
            rows = rows.filter(type=types.find_type(self.project, kind))
        if (conversation := asked.get("conversation")) is not None:
            rows = rows.filter(conversation_id=_uuid(conversation, field="conversation"))
        return self.page(rows, todo_payload, ordering=ordering)

    @extend_schema(operation_id="todos_create", request=TodoInput, responses={201: OpenApiTypes.OBJECT})
    @idempotent
    def post(self, request: Request) -> Response:
        """Make a todo, to be reviewed. With `tool` and `arguments` it runs exactly those, and asks no model."""
        data = self.valid(TodoInput)
        conversation_id = data.get("conversation")
        todo = services.make_todo(
            self.project,
            description=data["description"],
            source=TodoSource.PERSON if self.caller.member else TodoSource.API,
            actor=self.actor,
            type=types.find_type(self.project, data["type"]) if data.get("type") else None,
            conversation_id=conversation_id,
            persona_id=customer_of(self.project, conversation_id=conversation_id, persona_id=data.get("persona")),
            tool=data.get("tool") or "",
            arguments=data.get("arguments"),
            recipients=data.get("recipients", ()),
        )
        return self.detail(todo.pk, status=201)


class TodoDetail(TodoView):
    scopes: ClassVar = {"GET": Scope.READ, "PATCH": Scope.OPERATE}

    @extend_schema(operation_id="todos_read", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, todo_id: UUID) -> Response:
        """One todo with its content, approval, steps, effects and history."""
        return self.detail(todo_id)

    @extend_schema(operation_id="todos_change", request=TodoPatch, responses=OpenApiTypes.OBJECT)
    def patch(self, request: Request, todo_id: UUID) -> Response:
        """Change a pending or approved todo, which is to be reviewed again. With `version`, only if that one stands."""
        self.demand_todo(todo_id)
        data = self.valid(TodoPatch)
        version = data.pop("version", None)
        services.edit_todo(todo_id, self._changes(data), actor=self.actor, version=version)
        return self.detail(todo_id)

    def _changes(self, data: dict[str, Any]) -> dict[str, Any]:
        changes = dict(data)
        if data.get("type"):
            changes["type"] = types.find_type(self.project, data["type"])
        if "tool" in data:
            changes["tool"] = data["tool"] or ""
        if "persona" in data:
            persona = changes.pop("persona")
            changes["persona_id"] = customer_of(self.project, conversation_id=None, persona_id=persona)
        return changes


class ApproveTodo(TodoView):
    scopes: ClassVar = {"POST": Scope.OPERATE}

    @extend_schema(operation_id="todos_approve", request=Seen, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, todo_id: UUID) -> Response:
        """Say yes to the todo as it was seen: `version` and `content_hash` of when it was read, else as it stands.

        `approved` in the answer is what the yes is for: version, hash and the content itself. What somebody approved already
        answers with the approval that stands. 409 where it changed meanwhile. A todo without any tool waits approved until
        somebody takes it on.
        """
        before = services.get_todo(self.project, todo_id)
        data = self.valid(Seen)
        approval = services.approve_todo(
            todo_id,
            version=data.get("version"),
            content_hash=data.get("content_hash"),
            actor=self.actor,
            member=self.caller.member,
            key=self.caller.key,
        )
        is_news = before.status == TodoStatus.PENDING_REVIEW and self.maker_id in _givers(approval)
        return self.detail(todo_id, message=_sentence(approval, is_news=is_news), approved=approved_payload(approval))


class ApproveTodos(TodoView):
    scopes: ClassVar = {"POST": Scope.OPERATE}

    @extend_schema(operation_id="todos_approve_many", request=ChoicesInput, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request) -> Response:
        """Approve several, each as it was seen. Above 20 it must be `confirmed`, by somebody who signed in of late."""
        data = self.valid(ChoicesInput)
        chosen = [services.Choice(row["todo"], row["version"], row["content_hash"]) for row in data["todos"]]
        if len(chosen) > MOST_UNCONFIRMED and self.caller.member is not None:
            demand_recent_sign_in(request._request)
        mine = set(
            Todo.objects.filter(project=self.project)
            .filter(pk__in=[one.todo_id for one in chosen])
            .values_list("pk", flat=True)
        )
        answers = services.approve_many(
            [one for one in chosen if one.todo_id in mine],
            actor=self.actor,
            member=self.caller.member,
            key=self.caller.key,
            confirmed=data["confirmed"],
        )
        strange = [
            services.Answer(one.todo_id, refused="There is no such todo.") for one in chosen if one.todo_id not in mine
        ]
        return Response({"results": [_answer_payload(answer) for answer in (*answers, *strange)], "next": None})


class RejectTodo(TodoView):
    scopes: ClassVar = {"POST": Scope.OPERATE}

    @extend_schema(operation_id="todos_reject", request=Reason, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, todo_id: UUID) -> Response:
        """Say no to a pending todo."""
        self.demand_todo(todo_id)
        services.reject_todo(todo_id, actor=self.actor, reason=self.valid(Reason).get("reason", ""))
        return self.detail(todo_id)


class CancelTodo(TodoView):
    scopes: ClassVar = {"POST": Scope.OPERATE}

    @extend_schema(operation_id="todos_cancel", request=Reason, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, todo_id: UUID) -> Response:
        """End a todo that isn't over. A running one stops before its next effect."""
        self.demand_todo(todo_id)
        services.cancel_todo(todo_id, actor=self.actor, reason=self.valid(Reason).get("reason", ""))
        return self.detail(todo_id)


class TakeTodo(TodoView):
    scopes: ClassVar = {"POST": Scope.OPERATE}

    @extend_schema(operation_id="todos_take", request=Seen, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, todo_id: UUID) -> Response:
        """Do it yourself, by hand: it is `in_progress`, `taker` says with whom, and no tool runs for it.

        For what waits for a yes (which it says), is approved and not begun, or needs attention. 409 for anything else, and
        while it isn't known whether something of it happened.
        """
        self.demand_todo(todo_id)
        data = self.valid(Seen)
        by_hand.take_todo(
            todo_id,
            version=data.get("version"),
            content_hash=data.get("content_hash"),
            actor=self.actor,
            member=self.caller.member,
            key=self.caller.key,
        )
        return self.detail(todo_id)


class CompleteTodo(TodoView):
    scopes: ClassVar = {"POST": Scope.OPERATE}

    @extend_schema(operation_id="todos_complete", request=Note, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, todo_id: UUID) -> Response:
        """What somebody took on is done: `completed`. What was promised by it is kept."""
        self.demand_todo(todo_id)
        by_hand.complete_todo(todo_id, actor=self.actor, note=self.valid(Note).get("note", ""))
        return self.detail(todo_id)


class FailTodo(TodoView):
    scopes: ClassVar = {"POST": Scope.OPERATE}

    @extend_schema(operation_id="todos_fail", request=Failure, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, todo_id: UUID) -> Response:
        """What somebody took on couldn't be done: `failed`. What was promised by it is broken."""
        self.demand_todo(todo_id)
        by_hand.fail_todo(todo_id, actor=self.actor, reason=self.valid(Failure)["reason"])
        return self.detail(todo_id)


class ReviewTodoAgain(TodoView):
    scopes: ClassVar = {"POST": Scope.OPERATE}

    @extend_schema(operation_id="todos_review_again", request=Ticks, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, todo_id: UUID) -> Response:
        """Bring a todo that failed, needs attention or was taken on back to review. `repeats` are effects to do once more."""
        self.demand_todo(todo_id)
        services.review_again(todo_id, actor=self.actor, repeats=self.valid(Ticks).get("repeats", ()))
        return self.detail(todo_id)


class StandingRules(TodoView):
    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.CONFIGURE}

    @extend_schema(operation_id="standing_rules_list", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:
        """The project's standing rules, also those that were ended, newest first."""
        return self.page(StandingRule.objects.filter(project=self.project), rule_payload)

    @extend_schema(operation_id="standing_rules_create", request=RuleInput, responses={201: OpenApiTypes.OBJECT})
    def post(self, request: Request) -> Response:
        """Always allow a tool with these arguments, within these limits."""
        return Response(rule_payload(rules.keep_rule(self.draft())), status=201)

    def draft(self) -> StandingRule:
        data = self.valid(RuleInput)
        kind = types.find_type(self.project, data.pop("type")) if data.get("type") else None
        return rules.draft_rule(self.project, created_by=self.maker_id, **{**data, "type": kind})


class StandingRulePreview(StandingRules):
    scopes: ClassVar = {"POST": Scope.CONFIGURE}
    http_method_names = ["post"]

    @extend_schema(operation_id="standing_rules_preview", request=RuleInput, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request) -> Response:
        """What a rule would have let through of the last 30 days, before it is made."""
        past = rules.would_have(self.draft())
        shown = [todo_payload(todo) for todo in past.let_through]
        return Response({"considered": past.considered, "results": shown, "next": None})


class StandingRuleDetail(TodoView):
    scopes: ClassVar = {"DELETE": Scope.CONFIGURE}

    @extend_schema(operation_id="standing_rules_end", responses=OpenApiTypes.OBJECT)
    def delete(self, request: Request, rule_id: UUID) -> Response:
        """End a rule. It stays in the list, for the history."""
        return Response(rule_payload(rules.end_rule(self.project, rule_id, by=self.maker_id)))


def _givers(approval: Approval) -> tuple[UUID | None, ...]:
    """The members or the key that the approval is from."""
    return approval.approved_by, approval.key_id, approval.second_by


def _sentence(approval: Approval, *, is_news: bool) -> str:
    said = f"{'Approved' if is_news else 'Already approved'} by {approval.approver} at {approval.created_at:%H:%M} UTC"
    if not approval.is_complete:
        return f"{said}; a second person has to approve it too."
    return f"{said}; somebody has to take it on, because no tool does it." if approval.is_by_hand else f"{said}."


def _answer_payload(answer: services.Answer) -> dict[str, Any]:
    return {
        "todo": str(answer.todo_id),
        "approval": approval_payload(answer.approval) if answer.approval else None,
        "refused": answer.refused or None,
    }


def _one_of(value: str, values: Sequence[str], *, field: str) -> str:
    if value not in values:
        raise ApiError(f"invalid_{field}", f"{field} must be one of: {', '.join(values)}.", field=field)
    return value


def _uuid(value: str, *, field: str) -> UUID:
    try:
        return UUID(value)
    except ValueError as error:
        raise ApiError(f"invalid_{field}", f"{field} must be an id, as the API gives it.", field=field) from error
