"""Internal notes: for colleagues only, with mentions that reach the mentioned member."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from conversations.handover.operators import take_over
from conversations.inbox.closing import close
from conversations.inbox.notes import add_note, read_mentions
from conversations.models import Conversation, Note
from notices.models import Notice, NoticeKind
from projects.models import User
from tests.conftest import Tenant
from tests.console.pages.conftest import browser, talk
from tests.conversations.tool_runs.turns import Turns

JSON = {"content_type": "application/json"}


def notes_url(row: Conversation) -> str:
    return f"/api/v1/conversations/{row.pk}/notes"


def write_note(
    tenant: Tenant, row: Conversation, content: str = "Look", *, by: User, mentioned: tuple[User, ...] = ()
) -> None:
    with tenant.tx():
        add_note(row.pk, content, by=by, mentioned=mentioned)


def mine(tenant: Tenant, user: User) -> list[Any]:
    """The rows of the member's own tab, whose count is the same."""
    page = browser(user).get(reverse("inbox", args=[tenant.project.slug]), {"view": "mine"})
    rows = list(page.context["rows"])
    assert page.context["tabs"]["mine"] == str(len(rows))
    return rows


def test_notes_are_listed_oldest_first_with_their_mentions(tenant: Tenant, api: Client, operator: User) -> None:
    row = talk(tenant, "Hi")
    first = api.post(notes_url(row), {"content": "He is a regular."}, **JSON)
    second = api.post(notes_url(row), {"content": "@you, call him?", "mentions": [operator.email.upper()]}, **JSON)
    assert (first.status_code, second.status_code) == (201, 201)
    results = api.get(notes_url(row)).json()["results"]
    assert results == [first.json(), second.json()]
    assert results[1]["mentions"] == [{"name": operator.name, "email": operator.email}]
    assert results[0]["author"] == tenant.owner.name


def test_a_note_that_mentions_nobody_and_says_nothing_is_refused(tenant: Tenant, api: Client) -> None:
    row = talk(tenant, "Hi")
    refused = api.post(notes_url(row), {"content": " @ "}, **JSON)
    assert (refused.status_code, refused.json()["error"]["field"]) == (422, "content")
    assert api.get(notes_url(row)).json()["results"] == []


def test_only_members_who_may_operate_are_mentioned(tenant: Tenant, api: Client, viewer: User) -> None:
    row = talk(tenant, "Hi")
    for email in (viewer.email, "stranger@example.com"):
        refused = api.post(notes_url(row), {"content": "@x", "mentions": [email]}, **JSON)
        assert (refused.status_code, refused.json()["error"]["field"]) == (422, "mentions")
    assert api.get(notes_url(row)).json()["results"] == []


def test_a_repeated_request_adds_one_note(tenant: Tenant, api: Client) -> None:
    row = talk(tenant, "Hi")
    for _ in range(2):
        api.post(notes_url(row), {"content": "Once"}, headers={"Idempotency-Key": "n1"}, **JSON)
    with tenant.tx():
        assert Note.objects.filter(conversation=row).count() == 1


def test_a_note_reaches_no_prompt_no_message_and_no_log_in_words(turns: Turns, api: Client) -> None:
    write_note(turns.tenant, turns.conversation, "canary: he never pays", by=turns.tenant.owner)
    turns.says("Hello!")
    turns.say("Hello")
    assert turns.model.requests()
    assert "canary" not in json.dumps(turns.model.requests())
    address = f"/api/v1/conversations/{turns.conversation.pk}"
    for part in ("messages", "log", "turns"):
        assert "canary" not in api.get(f"{address}/{part}").content.decode()
    assert "note_added" in api.get(f"{address}/log").content.decode()


def test_a_mentioned_member_has_the_conversation_in_her_list_until_she_read_it(tenant: Tenant, operator: User) -> None:
    row = talk(tenant, "Hi")
    write_note(tenant, row, by=tenant.owner, mentioned=(operator,))
    [listed] = mine(tenant, operator)
    assert (listed.id, [reason.words for reason in listed.reasons]) == (row.pk, ["Mentions you"])
    assert mine(tenant, tenant.owner) == []
    address = reverse("conversation", args=[tenant.project.slug, row.pk])
    page = browser(operator).get(address)
    assert page.context["mentioned_by"] == [tenant.owner.name]
    browser(operator).post(address, {"do": "read-mentions"})
    assert mine(tenant, operator) == []
    assert browser(operator).get(address).context["mentioned_by"] == []


def test_a_mention_in_a_closed_conversation_is_listed(tenant: Tenant, operator: User) -> None:
    row = talk(tenant, "Hi")
    with tenant.tx():
        close(row.pk, by=tenant.owner)
    write_note(tenant, row, by=tenant.owner, mentioned=(operator,))
    assert [listed.id for listed in mine(tenant, operator)] == [row.pk]


@pytest.mark.parametrize("path", ["notes/read", "notes", "operator-messages"])
def test_reading_a_note_or_writing_marks_the_mentions_as_read(
    tenant: Tenant, api: Client, operator: User, path: str
) -> None:
    """The key acts for the owner."""
    row = talk(tenant, "Hi")
    with tenant.tx():
        take_over(row.pk, by=tenant.owner)
        close(row.pk, by=tenant.owner) if path != "operator-messages" else None
    write_note(tenant, row, by=operator, mentioned=(tenant.owner,))
    body = {} if path == "notes/read" else {"content": "Done"}
    assert api.post(f"/api/v1/conversations/{row.pk}/{path}", body, **JSON).status_code < 300
    rows = mine(tenant, tenant.owner)
    assert [reason.words for row in rows for reason in row.reasons if reason.words == "Mentions you"] == []


def test_nobody_mentions_herself(tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    write_note(tenant, row, by=tenant.owner, mentioned=(tenant.owner,))
    assert mine(tenant, tenant.owner) == []


def test_a_mention_raises_one_notice_per_member_which_reading_settles(tenant: Tenant, operator: User) -> None:
    row = talk(tenant, "Hi")
    write_note(tenant, row, "Look", by=tenant.owner, mentioned=(operator, operator, tenant.owner))
    with tenant.tx():
        raised = Notice.objects.filter(kind=NoticeKind.MENTIONED)
        assert [(one.member.user_id, one.object_id) for one in raised] == [(operator.pk, row.pk)]
        read_mentions(row.pk, by=operator)
        assert raised.get().read_at is not None


def test_a_note_is_activity_of_staff_and_moves_no_row(tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    with tenant.tx():
        before = Conversation.objects.get(pk=row.pk).updated_at
    write_note(tenant, row, by=tenant.owner)
    with tenant.tx():
        assert Conversation.objects.get(pk=row.pk).updated_at == before
    page = browser(tenant.owner).get(reverse("conversation", args=[tenant.project.slug, row.pk]))
    assert [one.words for one in page.context["activity"]] == [f"{tenant.owner.name} wrote a note"]
