"""Types of todos: validation, changes and removal."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import Http404

from projects.agents.services import create_project
from projects.agents.templates_catalogue import Locale, business_templates, start_business
from projects.common.api_error import ApiError
from projects.models import Member, Project
from tenancy.scope import tenant_tx
from tests.conftest import Tenant
from tests.todos.conftest import REFUND, Desk
from todos.approvals.validity import InvalidApproval
from todos.content import types
from todos.models import TodoType

BAD: list[tuple[dict[str, Any], str]] = [
    ({"name": "  "}, "name is empty."),
    ({"name": "x" * 81}, "name has 81 characters; the limit is 80."),
    ({"description": "\u200b"}, "description is empty."),
    ({"tools": ["refund_tol"]}, "tools contains 'refund_tol', which is not a tool. Did you mean refund_tool?"),
    ({"tools": [REFUND, REFUND]}, "tools contains refund_tool twice."),
    ({"tools": ["transfer_call_tool"]}, "tools contains transfer_call_tool, which works only in conversations."),
    ({"approver_role": "viewer"}, "approver_role must be one of: operator, admin, owner."),
    ({"expires_after_hours": 0}, "expires_after_hours must be between 1 and 8,760."),
    ({"second_approver": "above"}, "limit_argument is required: the argument to compare with the limit."),
    (
        {"second_approver": "above", "limit_argument": "amount"},
        "limit_value is required: above it, two people have to approve.",
    ),
    (
        {"second_approver": "above", "limit_argument": "amount", "limit_value": float("nan")},
        "limit_value must be a number from 0 to 100,000,000,000.",
    ),
    ({"recipients": ["the crew"]}, 'recipients: "the crew" is not an e-mail address.'),
    ({"is_removed": True}, "is_removed cannot be set."),
]


def test_invalid_types_are_refused_with_a_reason(desk: Desk) -> None:
    for fields, said in BAD:
        with pytest.raises(ApiError) as refused:
            desk.type(**fields)
        assert refused.value.message == said


def test_names_are_unique(desk: Desk) -> None:
    desk.type()
    with pytest.raises(ApiError, match="A type named refund already exists"):
        desk.type(name="refund")


def test_the_name_of_a_removed_type_can_be_reused(desk: Desk) -> None:
    first = desk.type()
    desk.do(types.remove_type, desk.tenant.project, first.pk)
    assert desk.type().pk != first.pk
    with pytest.raises(Http404):
        desk.do(types.get_type, desk.tenant.project, first.pk)


def test_a_type_is_changed_field_by_field(desk: Desk) -> None:
    kind = desk.type()
    changed = desk.do(types.save_type, desk.tenant.project, {"approver_role": "admin"}, type_id=kind.pk)
    assert (changed.name, changed.tools, changed.approver_role) == ("Refund", [REFUND], "admin")


def test_a_type_is_found_by_name_and_by_id(desk: Desk) -> None:
    kind = desk.type()
    with desk.tenant.tx():
        assert {types.find_type(desk.tenant.project, wanted).pk for wanted in ("Refund", str(kind.pk))} == {kind.pk}
        with pytest.raises(ApiError, match=r"Available types: .*Refund"):
            types.find_type(desk.tenant.project, "Refunds")


def test_a_type_of_another_project_is_not_found(desk: Desk, tenant: Tenant) -> None:
    kind = desk.type()
    with tenant.tx():
        other: Project = create_project("Other", config=tenant.project.agent_version.config)
        with pytest.raises(Http404):
            types.get_type(other, kind.pk)


@pytest.mark.requirement("L09", "L21")
def test_types_can_have_tools_that_need_no_conversation(desk: Desk) -> None:
    offered = desk.do(types.task_tools, desk.tenant.project)
    assert {REFUND, "send_email", "send_email_to_caller"} <= set(offered)
    assert "transfer_call_tool" not in offered


@pytest.mark.requirement("L11")
def test_a_types_recipients_are_part_of_the_approved_content(desk: Desk, owner: Member) -> None:
    kind = desk.type(name="Team", tools=["send_email"], recipients=["crew@example.com"])
    todo = desk.refund(type=kind, tool="", arguments=None)
    desk.approve(todo, owner)
    desk.do(types.save_type, desk.tenant.project, {"recipients": ["eve@example.com"]}, type_id=kind.pk)
    with pytest.raises(InvalidApproval) as void:
        desk.check(todo)
    assert void.value.changed == ["recipients"]


@pytest.mark.requirement("L11")
def test_a_new_projects_types_write_to_its_owner(tenant: Tenant) -> None:
    for starter in business_templates().values():
        project = start_business("Da Rosa", starter=starter, owner=tenant.owner, locale=Locale("Europe/Rome", "IT"))
        with tenant_tx(project.organization_id):
            assert TodoType.objects.get(name="Message to the team").recipients == [tenant.owner.email]
