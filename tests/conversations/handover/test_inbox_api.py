"""The inbox through the API: assignment, tags, snooze, close, and one change on many conversations."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.test import Client
from django.utils import timezone

from conversations.handover.operators import take_over
from conversations.models import Conversation, Tag
from projects.models import User
from tests.conftest import Tenant
from tests.console.pages.conftest import talk

JSON = {"content_type": "application/json"}
BULK = "/api/v1/conversations/bulk"


def url(row: Conversation, verb: str) -> str:
    return f"/api/v1/conversations/{row.pk}/{verb}"


def add_tag(api: Client, name: str) -> dict[str, Any]:
    tag: dict[str, Any] = api.post("/api/v1/tags", {"name": name, "color": "act"}, **JSON).json()
    return tag


def test_a_conversation_is_assigned_by_address(tenant: Tenant, api: Client, operator: User) -> None:
    row = talk(tenant, "Hi")
    assigned = api.put(url(row, "assignee"), {"assignee": operator.email, "instead_of": None}, **JSON)
    assert assigned.json()["assignee"]["email"] == operator.email
    late = api.put(url(row, "assignee"), {"assignee": tenant.owner.email, "instead_of": None}, **JSON)
    assert (late.status_code, late.json()["error"]["code"]) == (409, "wrong_state")
    assert api.get(url(row, "inbox")).json()["assignee"]["email"] == operator.email


def test_a_viewer_is_assigned_nothing(tenant: Tenant, api: Client, viewer: User) -> None:
    refused = api.put(url(talk(tenant, "Hi"), "assignee"), {"assignee": viewer.email}, **JSON)
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "invalid_assignee")


def test_tags_of_the_projects_list_are_put_on_and_taken_off(tenant: Tenant, api: Client) -> None:
    row = talk(tenant, "Hi")
    vip, _ = add_tag(api, "VIP"), add_tag(api, "Late")
    tagged = api.post(url(row, "tags"), {"add": ["vip", "Late"]}, **JSON).json()
    assert [tag["name"] for tag in tagged["tags"]] == ["Late", "VIP"]
    left = api.post(url(row, "tags"), {"remove": ["Late"]}, **JSON).json()
    assert left["tags"] == [vip]
    unknown = api.post(url(row, "tags"), {"add": ["Nobody"]}, **JSON)
    assert (unknown.status_code, unknown.json()["error"]["field"]) == (422, "add")


def test_a_tag_is_renamed_and_deleted_everywhere(tenant: Tenant, api: Client) -> None:
    row, tag = talk(tenant, "Hi"), add_tag(api, "VIP")
    api.post(url(row, "tags"), {"add": ["VIP"]}, **JSON)
    api.patch(f"/api/v1/tags/{tag['id']}", {"name": "Guest of honor"}, **JSON)
    assert api.get(url(row, "inbox")).json()["tags"][0]["name"] == "Guest of honor"
    assert api.delete(f"/api/v1/tags/{tag['id']}").status_code == 204
    assert api.get(url(row, "inbox")).json()["tags"] == []


def test_a_tag_of_the_same_name_is_refused(api: Client) -> None:
    add_tag(api, "VIP")
    again = api.post("/api/v1/tags", {"name": " vip "}, **JSON)
    assert (again.status_code, again.json()["error"]["code"]) == (409, "tag_exists")


def test_a_snooze_is_set_and_ended(tenant: Tenant, api: Client) -> None:
    row, until = talk(tenant, "Hi"), timezone.now() + timedelta(days=1)
    assert api.put(url(row, "snooze"), {"until": until.isoformat(), "seen": 1}, **JSON).json()["snoozed_until"]
    assert api.delete(url(row, "snooze")).json()["snoozed_until"] is None
    past = api.put(url(row, "snooze"), {"until": "2020-01-01T00:00:00Z"}, **JSON)
    assert (past.status_code, past.json()["error"]["field"]) == (422, "until")


def test_closing_over_an_unseen_message_is_a_conflict(tenant: Tenant, api: Client) -> None:
    row = talk(tenant, "Hi", "Wait")
    assert api.post(url(row, "close"), {"seen": 1}, **JSON).status_code == 409
    assert api.post(url(row, "close"), {"seen": 2}, **JSON).json()["closed_at"]
    assert api.post(url(row, "reopen"), **JSON).json()["closed_at"] is None


def test_one_refusal_leaves_the_other_conversations_changed(tenant: Tenant, api: Client, operator: User) -> None:
    free, taken, closed = (talk(tenant, "Hi") for _ in range(3))
    with tenant.tx():
        take_over(taken.pk, by=operator)
    api.post(url(closed, "close"), **JSON)
    ids = [str(row.pk) for row in (free, taken, closed)]
    result = api.post(BULK, {"conversations": ids, "action": "close"}, **JSON).json()
    assert (result["changed"], result["unchanged"]) == (1, 1)
    assert [one["conversation"] for one in result["refused"]] == [str(taken.pk)]
    with tenant.tx():
        assert Conversation.objects.filter(closed_at__isnull=False).count() == 2


def test_many_are_assigned_tagged_and_snoozed(tenant: Tenant, api: Client, operator: User) -> None:
    ids = [str(talk(tenant, "Hi").pk) for _ in range(3)]
    add_tag(api, "VIP")
    until = (timezone.now() + timedelta(hours=4)).isoformat()
    for change in (
        {"action": "assign", "assignee": operator.email},
        {"action": "tag", "add": ["VIP"]},
        {"action": "snooze", "until": until},
    ):
        assert api.post(BULK, {"conversations": ids, **change}, **JSON).json()["changed"] == 3
    with tenant.tx():
        assert Conversation.objects.filter(assignee=operator, snoozed_until__isnull=False).count() == 3
        assert Tag.objects.get().uses.count() == 3


def test_another_tenants_conversation_is_refused_as_not_found(tenant: Tenant, api: Client, stranger: Tenant) -> None:
    theirs = talk(stranger, "Hi")
    result = api.post(BULK, {"conversations": [str(theirs.pk)], "action": "close"}, **JSON).json()
    assert [one["code"] for one in result["refused"]] == ["not_found"]
    with stranger.tx():
        assert Conversation.objects.get().closed_at is None


def test_more_than_two_hundred_at_once_are_refused(tenant: Tenant, api: Client) -> None:
    ids = [str(tenant.project.pk)] * 201
    refused = api.post(BULK, {"conversations": ids, "action": "close"}, **JSON)
    assert (refused.status_code, refused.json()["error"]["field"]) == (400, "conversations")


def test_an_action_needs_its_field(tenant: Tenant, api: Client) -> None:
    refused = api.post(BULK, {"conversations": [str(talk(tenant, "Hi").pk)], "action": "snooze"}, **JSON)
    assert (refused.status_code, refused.json()["error"]["field"]) == (422, "until")
