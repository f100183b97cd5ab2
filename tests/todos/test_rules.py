"""Standing rules: matching, limits, permissions and previews."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from django.http import Http404

from projects.agents.services import create_key, create_project
from projects.common.api_error import ApiError
from projects.models import ApiKey, Member, Role
from projects.models.key import Scope
from tests.todos.conftest import REFUND, Desk
from tests.todos.races import together
from todos.approvals import standing_rules
from todos.approvals.validity import InvalidApproval
from todos.models import Approval, StandingRule

UP_TO_50 = {"body.amount": {"at_most": 50}}

# A rule's limits, the arguments, and True if it allows them.
CASES: list[tuple[dict[str, Any], dict[str, Any], bool]] = [
    ({"amount": {"at_most": 50}}, {"amount": 50}, True),
    ({"amount": {"at_most": 50}}, {"amount": 50.01}, False),
    ({"amount": {"at_most": 50}}, {"amount": -50}, True),
    ({"amount": {"at_most": 50}}, {"amount": -5000}, False),
    ({"amount": {"at_most": 50}}, {"amount": "50"}, False),
    ({"amount": {"at_most": 50}}, {"amount": True}, False),
    ({"amount": {"at_most": 50}}, {"amount": None}, False),
    ({"amount": {"at_most": 50}}, {}, False),
    ({"amount": {"at_most": 50}}, {"amount": 5, "to": "eve"}, False),
    ({"amount": {"at_most": 50}, "to": {"anything": True}}, {"amount": 5, "to": "eve"}, True),
    ({"amount": {"at_most": 50}, "to": {"anything": True}}, {"amount": 5}, True),
    ({"to": {"equals": "ada"}}, {"to": "ada"}, True),
    ({"to": {"equals": "ada"}}, {"to": "Ada"}, False),
    ({"n": {"equals": 1}}, {"n": True}, False),
    ({"n": {"equals": [1]}}, {"n": [True]}, False),
    ({"to": {"one_of": ["ada", "bob"]}}, {"to": "bob"}, True),
    ({"to": {"one_of": ["ada", "bob"]}}, {"to": ["bob"]}, False),
    ({"body.amount": {"at_most": 50}}, {"body": {"amount": 5}}, True),
    ({"body.amount": {"at_most": 50}}, {"body": {"amount": 5, "to": "eve"}}, False),
    ({"body.amount": {"at_most": 50}}, {"body": {"amount": 5}, "query": {"to": "eve"}}, False),
    ({"body": {"anything": True}}, {"body": {"amount": 820}}, True),
    ({}, {}, True),
    ({}, {"amount": 1}, False),
    ({}, {"body": {}}, False),
]


@pytest.mark.parametrize(("allowed", "arguments", "lets_through"), CASES)
def test_a_rule_allows_only_listed_arguments(
    allowed: dict[str, Any], arguments: dict[str, Any], lets_through: bool
) -> None:
    assert standing_rules.permits(allowed, arguments) is lets_through


def rule(desk: Desk, maker: Member, allowed: dict[str, Any] | None = None, **details: Any) -> StandingRule:
    with desk.tenant.tx():
        project, limits = desk.tenant.project, allowed or UP_TO_50
        return standing_rules.create_rule(
            standing_rules.draft_rule(project, tool=REFUND, allowed=limits, created_by=maker.pk, **details)
        )


def test_a_rule_approves_at_once(desk: Desk, owner: Member) -> None:
    standing = rule(desk, owner)
    todo = desk.refund(50)
    assert (desk.now(todo).status, len(desk.jobs())) == ("approved", 1)
    approval = desk.check(todo)
    assert (approval.rule_id, approval.approved_by, approval.approver) == (
        standing.pk,
        None,
        "the rule for refund_tool",
    )


def test_todos_outside_the_rule_wait_for_a_person(desk: Desk, owner: Member) -> None:
    rule(desk, owner)
    assert desk.refund(82).status == "pending_review"


def test_an_edited_todo_waits_for_a_person(desk: Desk, owner: Member) -> None:
    rule(desk, owner)
    assert desk.edit(desk.refund(50), arguments={"body": {"amount": 49}}).status == "pending_review"


def test_rules_do_not_approve_todos_without_frozen_arguments(desk: Desk, owner: Member) -> None:
    rule(desk, owner, {"body": {"anything": True}})
    assert desk.refund(type=desk.type(), tool="", arguments=None).status == "pending_review"


def test_rules_do_not_replace_a_second_approver(desk: Desk, owner: Member) -> None:
    rule(desk, owner)
    assert desk.refund(5, type=desk.type(second_approver="always")).status == "pending_review"


def test_a_rule_of_a_type_applies_to_that_type_only(desk: Desk, owner: Member) -> None:
    kind = desk.type()
    rule(desk, owner, type=kind)
    assert [desk.refund(5, type=one).status for one in (kind, desk.type(name="Other"), None)] == [
        "approved",
        "pending_review",
        "pending_review",
    ]


def test_a_rule_has_a_daily_limit(desk: Desk, owner: Member) -> None:
    rule(desk, owner, most_per_day=2)
    assert [desk.refund(5).status for _ in range(3)] == ["approved", "approved", "pending_review"]


def test_the_daily_limit_resets(desk: Desk, owner: Member) -> None:
    rule(desk, owner, most_per_day=1)
    assert [desk.refund(5).status for _ in range(2)] == ["approved", "pending_review"]
    with desk.tenant.tx():
        Approval.objects.update(created_at=Now() - timedelta(hours=25))
    assert desk.refund(5).status == "approved"


def test_a_rule_applies_to_its_own_tool_and_project(desk: Desk, owner: Member) -> None:
    """Only its project can end it."""
    allowed = {"body": {"anything": True}, "body.amount": {"anything": True}}
    with desk.tenant.tx():
        project = desk.tenant.project
        other = create_project("Other", config=project.agent_version.config)
        made = [
            StandingRule.objects.create(project=where, tool=tool, allowed=allowed, created_by=owner.pk)
            for where, tool in ((project, "send_email"), (other, REFUND))
        ]
    assert desk.refund(5).status == "pending_review"
    with pytest.raises(Http404):
        desk.do(standing_rules.end_rule, project, made[1].pk, by=owner.pk)
    with desk.tenant.tx():
        assert StandingRule.objects.get(pk=made[1].pk).ended_at is None


def test_concurrent_todos_share_the_last_place_of_a_day(desk: Desk, owner: Member) -> None:
    rule(desk, owner, most_per_day=1)
    with ThreadPoolExecutor(4) as pool:
        todos = together(pool, [lambda: desk.refund(5)] * 4)
    assert sorted(desk.now(todo).status for todo in todos) == ["approved"] + ["pending_review"] * 3


def test_ending_a_rule_voids_its_unused_approvals(desk: Desk, owner: Member) -> None:
    standing, todo = rule(desk, owner), desk.refund(5)
    desk.do(standing_rules.end_rule, desk.tenant.project, standing.pk, by=owner.pk)
    assert desk.refund(5).status == "pending_review"
    with pytest.raises(InvalidApproval, match="The rule that approved this is no longer valid"):
        desk.check(todo)


def test_a_rule_is_valid_while_its_creator_may_create_it(desk: Desk) -> None:
    maker = desk.join(Role.ADMIN, "admin")
    rule(desk, maker)
    desk.leave(maker)
    assert desk.refund(5).status == "pending_review"


def test_a_rule_cannot_exceed_its_creators_permissions(desk: Desk, owner: Member) -> None:
    maker = desk.join(Role.ADMIN, "admin")
    rule(desk, maker)
    assert [desk.refund(5, type=desk.type(name=role, approver_role=role)).status for role in ("admin", "owner")] == [
        "approved",
        "pending_review",
    ]
    with desk.tenant.tx():
        Member.objects.filter(pk=maker.pk).update(role=Role.OPERATOR)
    assert desk.refund(5).status == "pending_review"


@pytest.mark.parametrize("lost", [{"revoked_at": Now()}, {"scopes": [Scope.OPERATE]}, {"scopes": [Scope.CONFIGURE]}])
def test_a_rule_created_by_a_key_is_valid_while_the_key_is(desk: Desk, lost: dict[str, Any]) -> None:
    with desk.tenant.tx():
        key = create_key(desk.tenant.project, name="shop", scopes=[Scope.OPERATE, Scope.CONFIGURE]).key
        project = desk.tenant.project
        standing_rules.create_rule(standing_rules.draft_rule(project, tool=REFUND, allowed=UP_TO_50, created_by=key.pk))
    assert desk.refund(5).status == "approved"
    with desk.tenant.tx():
        ApiKey.objects.filter(pk=key.pk).update(**lost)
    assert desk.refund(6).status == "pending_review"


def test_a_preview_lists_the_todos_a_rule_would_have_approved(desk: Desk, owner: Member) -> None:
    for amount in (5, 50, 82, 820):
        desk.refund(amount)
    one, two = desk.refund(6, type=desk.type()), desk.refund(7, type=desk.type(name="Two", second_approver="always"))
    with desk.tenant.tx():
        draft = standing_rules.draft_rule(desk.tenant.project, tool=REFUND, allowed=UP_TO_50, created_by=owner.pk)
        past = standing_rules.preview_rule(draft)
        draft.type = one.type
        of_type = standing_rules.preview_rule(draft)
    assert past.considered == 6
    assert [todo.arguments for todo in past.let_through] == [{"body": {"amount": amount}} for amount in (6, 50, 5)]
    assert ([todo.pk for todo in of_type.let_through], two.status) == ([one.pk], "pending_review")


BAD: list[tuple[dict[str, Any], str]] = [
    ({"tool": "no_such_tool"}, "There is no tool 'no_such_tool'."),
    ({"tool": "send_emial"}, "There is no tool 'send_emial'. Did you mean 'send_email'"),
    ({"allowed": {"a": 1}}, "allowed.a must be an object with one of equals, one_of, at_most or anything."),
    ({"allowed": {"a": {"at_most": "50"}}}, "allowed.a at_most must be a number."),
    ({"allowed": {"a": {"at_most": float("inf")}}}, "allowed.a.at_most must be a number between -1.8e308 and 1.8e308."),
    ({"allowed": {"a": {"one_of": []}}}, "allowed.a one_of must be a list of values."),
    ({"allowed": {"a": {"anything": False}}}, "allowed.a anything must be true."),
    ({"allowed": {"a": {"at_least": 1}}}, "allowed.a must hold one of equals, one_of, at_most or anything."),
    ({"most_per_day": 0}, "most_per_day must be between 1 and 1,000."),
]


def test_an_invalid_rule_is_refused(desk: Desk, owner: Member) -> None:
    for fields, said in BAD:
        standard: dict[str, Any] = {"tool": REFUND, "allowed": UP_TO_50, "created_by": owner.pk}
        with pytest.raises(ApiError) as refused:
            desk.do(standing_rules.draft_rule, desk.tenant.project, **{**standard, **fields})
        assert refused.value.message.startswith(said)
