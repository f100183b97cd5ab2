"""Kept cases: the service and the API."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from tests.conftest import Tenant
from tools.evaluation.kept import WrongCase, keep_case, kept_cases

CASES = "/api/v1/evaluation-cases"
SMS = "send_sms_tool"
BODY: dict[str, Any] = {
    "name": "text",
    "answer": "I'll text you the address.",
    "conversation": [{"role": "customer", "content": "Where are you?"}],
    "expected": {SMS: "fired"},
}


def post(api: Client, **changes: Any) -> Any:
    return api.post(CASES, {**BODY, **changes}, content_type="application/json")


def test_a_kept_case_is_listed(api: Client) -> None:
    kept = post(api)
    assert kept.status_code == 201
    assert api.get(CASES).json()["results"] == [kept.json()]
    assert {key: kept.json()[key] for key in BODY} == BODY
    assert kept.json()["channel"] == "chat"


def test_a_kept_case_can_be_deleted(api: Client) -> None:
    case = post(api).json()["id"]
    assert api.delete(f"{CASES}/{case}").status_code == 204
    assert api.get(CASES).json()["results"] == []


def test_another_tenants_case_is_not_found(api: Client, stranger: Tenant) -> None:
    case = post(api).json()["id"]
    assert Client(headers=stranger.headers).delete(f"{CASES}/{case}").status_code == 404


@pytest.mark.parametrize(
    ("changes", "field", "status"),
    [
        ({"expected": {SMS: "maybe"}}, "expected.send_sms_tool", 400),
        ({"expected": {"no_such_tool": "fired"}}, "expected", 422),
        ({"answer": " "}, "answer", 400),
        ({"conversation": [{"role": "nobody", "content": "Hi"}]}, "conversation.0.role", 400),
        ({"wrong": 1}, "wrong", 400),
    ],
)
def test_an_invalid_case_is_refused(api: Client, changes: dict[str, Any], field: str, status: int) -> None:
    refused = post(api, **changes)
    assert refused.status_code == status
    assert refused.json()["error"]["field"] == field


def test_a_kept_case_keeps_its_labels(tenant: Tenant) -> None:
    with tenant.tx():
        keep_case(tenant.project, channel="phone", author=tenant.owner, **BODY)
        [case] = kept_cases(tenant.project)
    assert (case.answer, case.expects_to_fire, case.channel) == (BODY["answer"], {SMS}, "phone")
    assert [said.content for said in case.conversation] == ["Where are you?"]


def test_a_message_without_a_valid_role_is_refused(tenant: Tenant) -> None:
    with tenant.tx(), pytest.raises(WrongCase) as refused:
        keep_case(tenant.project, channel="chat", **{**BODY, "conversation": [{"role": "nobody", "content": "Hi"}]})
    assert refused.value.field == "conversation"


def test_deleting_an_unknown_case_returns_false(api: Client) -> None:
    assert api.delete(f"{CASES}/{UUID(int=0)}").status_code == 404
