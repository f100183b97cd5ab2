"""Standing rules: "always allow this tool with these arguments, within these limits".

A rule approves only todos with a frozen tool and arguments that need no second approver. It is valid while its creator
may still create it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.db.models.functions import Now
from django.http import Http404
from django.utils.translation import gettext

from projects.api.parsers import check_value
from projects.common.api_error import Conflict, Unprocessable
from projects.models import Project
from projects.models.organization import lock_project
from todos.approvals.permissions import needs_second, rule_may_approve
from todos.content.plans import require_tool
from todos.content.snapshot import compiled_tools
from todos.models import Approval, StandingRule, Todo, TodoType

DAY = timedelta(days=1)
PREVIEW_PERIOD = timedelta(days=30)
MOST_PREVIEWED = 500
MOST_PER_DAY = 1_000
MOST_RULES = 100
LIMITS = "equals, one_of, at_most or anything"


@dataclass(frozen=True)
class RulePreview:
    """The past todos that a rule would have approved, newest first, and the number of todos examined."""

    let_through: list[Todo]
    considered: int


def find_rule(todo: Todo, content: Mapping[str, Any]) -> StandingRule | None:
    """The rule that approves this content, or None. The rule is locked for the transaction, so that its daily limit
    holds.
    """
    if content["tool"] is None or needs_second(todo):
        return None
    fitting = Q(project=todo.project_id, tool=content["tool"], ended_at=None)
    rows = StandingRule.objects.filter(fitting, Q(type=None) | Q(type=todo.type_id))
    for rule in rows.order_by("created_at"):
        if (
            permits(rule.allowed, content["arguments"] or {})
            and rule_may_approve(rule, todo)
            and _is_below_daily_limit(rule)
        ):
            return rule
    return None


def preview_rule(rule: StandingRule) -> RulePreview:
    """The todos of the last 30 days that a rule, saved or not, would have approved."""
    rows = Todo.objects.select_related("type", "promise").filter(project=rule.project_id, tool=rule.tool)
    past = list(rows.filter(created_at__gt=Now() - PREVIEW_PERIOD).order_by("-created_at")[:MOST_PREVIEWED])
    let_through = [
        todo
        for todo in past
        if rule.type_id in (None, todo.type_id)
        and not needs_second(todo)
        and permits(rule.allowed, todo.arguments or {})
    ]
    return RulePreview(let_through, considered=len(past))


def draft_rule(
    project: Project,
    *,
    tool: str,
    allowed: Mapping[str, Any],
    created_by: UUID,
    type: TodoType | None = None,
    most_per_day: int = 20,
) -> StandingRule:
    """Build a rule without saving it. Raises ApiError that names the field."""
    require_tool(tool, compiled_tools(project))
    if type is not None and tool not in type.tools:
        raise Unprocessable(
            "invalid_tool",
            gettext("%(tool)s isn't one of the tools of %(name)s.") % {"tool": tool, "name": type.name},
            field="tool",
        )
    check_value({"allowed": dict(allowed)})
    for name, limit in allowed.items():
        if problem := _limit_problem(limit):
            raise Unprocessable("invalid_allowed", f"allowed.{name} {problem}", field=f"allowed.{name}")
    if not 1 <= most_per_day <= MOST_PER_DAY:
        message = gettext("most_per_day must be between 1 and %(most_per_day)s.") % {
            "most_per_day": format(MOST_PER_DAY, ",")
        }
        raise Unprocessable("invalid_most_per_day", message, field="most_per_day")
    return StandingRule(
        project=project, type=type, tool=tool, allowed=dict(allowed), most_per_day=most_per_day, created_by=created_by
    )


def create_rule(rule: StandingRule) -> StandingRule:
    """Save a drafted rule, which makes it effective. Raises ApiError if the project has too many."""
    lock_project(rule.project_id)
    if StandingRule.objects.filter(project=rule.project_id, ended_at=None).count() >= MOST_RULES:
        raise Conflict(
            gettext("A project can have at most %(most_rules)s standing rules. End one first.")
            % {"most_rules": MOST_RULES},
            code="too_many",
        )
    rule.save(force_insert=True)
    return rule


def end_rule(project: Project, rule_id: UUID, *, by: UUID) -> StandingRule:
    """End a rule; todos it approved that haven't started return to review. Ending it again changes nothing. Raises
    Http404.
    """
    StandingRule.objects.filter(project=project, pk=rule_id, ended_at=None).update(ended_at=Now(), ended_by=by)
    rule = StandingRule.objects.select_related("type").filter(project=project, pk=rule_id).first()
    if rule is None:
        raise Http404
    return rule


def permits(allowed: Mapping[str, Any], arguments: Mapping[str, Any]) -> bool:
    """True if every argument is within its limit and every limited argument is present. Nested arguments use dotted
    names.
    """
    found = dict(_flatten(allowed, arguments))
    missing = [name for name, limit in allowed.items() if name not in found and limit != {"anything": True}]
    return not missing and all(name in allowed and _is_within(value, allowed[name]) for name, value in found.items())


def _flatten(allowed: Mapping[str, Any], arguments: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The arguments by the names that the rule uses; objects it doesn't name are flattened to dotted names."""
    for name, value in arguments.items():
        path = f"{prefix}{name}"
        if path not in allowed and isinstance(value, Mapping) and value:
            yield from _flatten(allowed, value, f"{path}.")
        else:
            yield path, value


def _is_within(value: Any, limit: Mapping[str, Any]) -> bool:
    [(kind, bound)] = limit.items()
    if kind == "equals":
        return _is_same(value, bound)
    if kind == "one_of":
        return any(_is_same(value, one) for one in bound)
    # Negative amounts count by their absolute value.
    return kind == "anything" or (_is_number(value) and abs(value) <= bound)


def _is_same(value: Any, other: Any) -> bool:
    """True if both are equal as JSON, where true is not 1 at any depth."""
    return json.dumps(value, sort_keys=True) == json.dumps(other, sort_keys=True)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _limit_problem(limit: Any) -> str:
    if not isinstance(limit, dict) or len(limit) != 1:
        return gettext("must be an object with one of %(limits)s.") % {"limits": LIMITS}
    [(kind, bound)] = limit.items()
    if kind == "one_of" and not (isinstance(bound, list) and bound):
        return gettext("one_of must be a list of values.")
    if kind == "at_most" and not _is_number(bound):
        return gettext("at_most must be a number.")
    if kind == "anything" and bound is not True:
        return gettext("anything must be true.")
    return (
        ""
        if kind in ("equals", "one_of", "at_most", "anything")
        else (gettext("must hold one of %(limits)s.") % {"limits": LIMITS})
    )


def _is_below_daily_limit(rule: StandingRule) -> bool:
    """True if the rule may approve one more todo today. Locks it, so that two at once don't both take the last place."""
    if not StandingRule.objects.select_for_update(no_key=True).filter(pk=rule.pk, ended_at=None).exists():
        return False
    used = Approval.objects.filter(rule=rule, created_at__gt=Now() - DAY).count()
    return used < rule.most_per_day
