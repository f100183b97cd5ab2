"""API views of standing rules."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from projects.api.pagination import PAGED
from projects.api.typed_responses import Created, Page, TypedResponse
from projects.models.key import Scope
from todos.api.forms import RuleInput
from todos.api.presenters import rule_payload, todo_payload
from todos.api.view import TodoView
from todos.approvals import standing_rules
from todos.content import types
from todos.models import StandingRule
from todos.payloads import PastPayload, StandingRulePayload


class RuleView(TodoView):
    """A view whose request body describes a new rule."""

    def draft(self) -> StandingRule:
        data = self.valid(RuleInput)
        todo_type = types.find_type(self.project, data.pop("type")) if data.get("type") else None
        return standing_rules.draft_rule(self.project, created_by=self.caller_id, **{**data, "type": todo_type})


class StandingRules(RuleView):
    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.CONFIGURE}
    queries: ClassVar = {"GET": PAGED}

    @extend_schema(operation_id="standing_rules_list")
    def get(self, request: Request) -> TypedResponse[Page[StandingRulePayload]]:
        """Returns a list of the project's standing rules, including ended ones, newest first."""
        return self.page(StandingRule.objects.filter(project=self.project), rule_payload)

    @extend_schema(operation_id="standing_rules_create", request=RuleInput)
    def post(self, request: Request) -> Created[StandingRulePayload]:
        """Creates a standing rule that approves a tool's calls within the given limits."""
        return Created(rule_payload(standing_rules.create_rule(self.draft())))


class StandingRulePreview(RuleView):
    scopes: ClassVar = {"POST": Scope.CONFIGURE}

    @extend_schema(operation_id="standing_rules_preview", request=RuleInput)
    def post(self, request: Request) -> TypedResponse[PastPayload]:
        """Previews a standing rule: returns the todos of the last 30 days that it would have approved. Nothing is
        saved.
        """
        past = standing_rules.preview_rule(self.draft())
        shown = [todo_payload(todo) for todo in past.let_through]
        return TypedResponse({"considered": past.considered, "results": shown, "next": None})


class StandingRuleDetail(TodoView):
    scopes: ClassVar = {"DELETE": Scope.CONFIGURE}

    @extend_schema(operation_id="standing_rules_end")
    def delete(self, request: Request, rule_id: UUID) -> TypedResponse[StandingRulePayload]:
        """Ends a standing rule. The rule stays in the list."""
        return TypedResponse(rule_payload(standing_rules.end_rule(self.project, rule_id, by=self.caller_id)))
