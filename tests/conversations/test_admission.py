"""Quotas at the door: turns a minute, open conversations and storage, of a project and of its organization."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.test import Client

from conversations.models import Conversation
from conversations.turns.admission import count_open
from conversations.turns.services import start_conversation
from projects.models.attribute_catalogue import OPEN_LIMIT, STORAGE_LIMIT, TURN_LIMIT
from projects.records.attributes import set_attribute
from tests.conftest import Tenant
from tests.conversations.conftest import Talk, begin
from tests.conversations.widget.conftest import Visitor, placed, visit, visitor  # noqa: F401 - fixtures
from tools.engine.limits.changes import forget, set_organization_limit
from tools.models import Limit, LimitAlert

STARTED = {"channel": "chat", "persona": {"external_id": "new-guest"}}


@pytest.fixture(autouse=True)
def unchecked() -> Iterator[None]:
    forget()
    yield
    forget()


def limited(tenant: Tenant, key: str, most: int) -> None:
    with tenant.tx():
        set_attribute(tenant.project, key, most)
    forget()


def limit_organization(tenant: Tenant, limit: Limit, most: int) -> None:
    with tenant.tx():
        set_organization_limit(tenant.project, limit, most, by=tenant.owner)


def say(api: Client, talk: Talk) -> Any:
    url = f"/api/v1/conversations/{talk.conversation.pk}/messages"
    return api.post(url, {"content": "Hello"}, content_type="application/json")


def start(api: Client) -> Any:
    return api.post("/api/v1/conversations", STARTED, content_type="application/json")


def alerts(tenant: Tenant) -> list[tuple[str, bool, bool]]:
    with tenant.tx():
        rows = LimitAlert.objects.order_by("created_at")
        return list(rows.values_list("limit", "of_organization", "is_reached"))


# Turns a minute


def test_a_program_that_says_too_much_is_told_when_to_try_again(talk: Talk, api: Client) -> None:
    limited(talk.tenant, TURN_LIMIT, 2)
    answers = [say(api, talk) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [202, 202, 429]
    assert answers[2].json()["error"]["code"] == "turn_limit_reached"
    assert "Try again in" in answers[2].json()["error"]["message"]
    assert 0 < int(answers[2]["Retry-After"]) <= 30


def test_a_refused_message_is_not_stored(talk: Talk, api: Client) -> None:
    limited(talk.tenant, TURN_LIMIT, 0)
    assert say(api, talk).status_code == 429
    assert talk.reload().last_message == 0


def test_a_message_as_an_event_counts_as_a_turn(talk: Talk, api: Client) -> None:
    limited(talk.tenant, TURN_LIMIT, 0)
    url = f"/api/v1/conversations/{talk.conversation.pk}/events"
    body = {"idn": "user_message", "payload": {"text": "Hello"}}
    assert api.post(url, body, content_type="application/json").status_code == 429


def test_a_visitor_is_told_in_a_sentence(visitor: Visitor) -> None:  # noqa: F811
    limited(visitor.placed.tenant, TURN_LIMIT, 1)
    answers = [visitor.say("Hello"), visitor.say("Hello?")]
    assert [answer.status_code for answer in answers] == [202, 429]
    assert answers[1].json()["error"]["code"] == "turn_limit_reached"
    assert answers[1]["Access-Control-Expose-Headers"] == "Retry-After"


def test_the_projects_of_an_organization_share_its_turns(talk: Talk, api: Client) -> None:
    limit_organization(talk.tenant, Limit.TURNS, 1)
    answers = [say(api, talk) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202, 429]
    assert "This organization answers" in answers[1].json()["error"]["message"]


def test_staff_is_told_once_of_a_minute_that_is_nearly_full_and_of_one_that_is(talk: Talk, api: Client) -> None:
    limited(talk.tenant, TURN_LIMIT, 5)
    for _ in range(7):
        say(api, talk)
    assert alerts(talk.tenant) == [("turns", False, False), ("turns", False, True)]


def test_without_a_limit_no_turn_is_refused_and_no_statement_is_added(
    talk: Talk, api: Client, django_assert_num_queries: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conversations.turns.admission.take_tokens", None)
    assert say(api, talk).status_code == 202
    monkeypatch.setattr("tools.engine.limits.quotas._read", None)
    assert say(api, talk).status_code == 202


# Open conversations


def test_a_project_with_its_most_conversations_starts_no_other(tenant: Tenant, api: Client) -> None:
    limited(tenant, OPEN_LIMIT, 1)
    begin(tenant)
    refused = start(api)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "open_conversations_reached")
    assert "This project has 1 open conversations, which is its limit." in refused.json()["error"]["message"]


def test_a_visitor_reads_why_no_conversation_begins(visitor: Visitor) -> None:  # noqa: F811
    limited(visitor.placed.tenant, OPEN_LIMIT, 0)
    assert "which is its limit" in visitor.say("Hello").json()["error"]["message"]


@pytest.mark.parametrize(
    "over",
    [
        {"status": "ended"},
        {"closed_at": F("created_at")},
        {"updated_at": F("updated_at") - timedelta(hours=25)},
        {"metadata": {"playground": True}},
    ],
    ids=["ended", "closed", "silent", "test"],
)
def test_a_conversation_that_is_over_is_not_open(over: dict[str, Any], tenant: Tenant) -> None:
    begin(tenant)
    with tenant.tx():
        before = count_open(tenant.project.pk)
        Conversation.objects.update(**over)
        assert (before, count_open(tenant.project.pk)) == (1, 0)


def test_a_test_conversation_begins_anyway(tenant: Tenant) -> None:
    limited(tenant, OPEN_LIMIT, 0)
    with tenant.tx():
        assert start_conversation(
            tenant.project, channel="chat", external_id="staff", known={}, metadata={"playground": True}
        )


def test_staff_is_told_of_conversations_that_nearly_reach_the_limit(tenant: Tenant) -> None:
    limited(tenant, OPEN_LIMIT, 5)
    for number in range(5):
        begin(tenant, external_id=f"guest-{number}")
    assert alerts(tenant) == [("open_conversations", False, False), ("open_conversations", False, True)]


def test_another_organizations_conversations_do_not_count(tenant: Tenant, stranger: Tenant) -> None:
    begin(stranger)
    with tenant.tx():
        assert count_open(None) == 0


# Storage


def write(api: Client, body: str) -> Any:
    return api.post("/api/v1/knowledge", {"title": "Hours", "body": body}, content_type="application/json")


def test_what_does_not_fit_is_not_stored(tenant: Tenant, api: Client) -> None:
    limited(tenant, STORAGE_LIMIT, 0)
    refused = write(api, "From noon")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "storage_full")
    assert "This project stores 0.0 of at most 0 MB." in refused.json()["error"]["message"]


def test_an_article_that_gets_shorter_is_stored_although_the_storage_is_full(tenant: Tenant, api: Client) -> None:
    slug = write(api, "From noon until midnight").json()["slug"]
    limited(tenant, STORAGE_LIMIT, 0)
    sizes = [
        api.put(f"/api/v1/knowledge/{slug}", {"title": "Hours", "body": body}, content_type="application/json")
        for body in ("From noon", "From noon until long after midnight")
    ]
    assert [answer.status_code for answer in sizes] == [200, 409]


def test_the_page_of_an_article_says_that_the_storage_is_full(tenant: Tenant, client: Client) -> None:
    limited(tenant, STORAGE_LIMIT, 0)
    client.force_login(tenant.owner)
    page = client.post(
        f"/p/{tenant.project.slug}/knowledge/new", {"title": "Hours", "excerpt": "", "body": "From noon"}
    )
    assert "at most 0 MB" in page.content.decode()


def test_the_projects_of_an_organization_share_its_storage(tenant: Tenant, api: Client) -> None:
    limit_organization(tenant, Limit.STORAGE, 0)
    assert "This organization stores" in write(api, "From noon").json()["error"]["message"]
