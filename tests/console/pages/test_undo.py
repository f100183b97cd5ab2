"""Undo in the notice of an action: for whoever acted, for a short time."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from django.utils import timezone

from console import undo
from conversations.models import Conversation
from projects.knowledge.services import Writer, write_article
from projects.knowledge.text import ArticleText
from projects.models import ApiKey, Article, Member, Role
from projects.models.article import ArticleWord
from projects.models.attribute import Attribute, AttributeType
from projects.records.attributes import set_attribute
from tests.conftest import Tenant, member_of
from tests.console.pages.conftest import browser, talk
from todos.approvals import undo_rejection
from todos.content.lifecycle import AGENT
from todos.content.types import save_type
from todos.models import Todo, TodoEvent, TodoSource, TodoStatus, TodoType
from todos.services import make_todo
from tools.engine.custom import service as custom_tools
from tools.models import Escalation, EscalationState, Resource, Ticket, TicketPriority, TicketState
from tools.services.bookings.resources import create_resource
from tools.services.support.tickets import open_ticket

TOOL = {
    "description": "Tells a colleague.",
    "conditions": {"agentPromised": {"type": "boolean", "description": "The agent commits to it now."}},
    "useConversationHistory": False,
}
TOKEN = re.compile(r'name="token" value="([^"]+)"')


def pressed(tenant: Tenant, client: Client, path: str, body: dict[str, Any]) -> str:
    """The token in the notice of an action."""
    page = client.post(f"/p/{tenant.project.slug}/{path}", body, follow=True)
    found = TOKEN.search(page.content.decode())
    assert found is not None
    return found[1]


def take_back(tenant: Tenant, client: Client, token: str) -> Any:
    return client.post(f"/p/{tenant.project.slug}/undo", {"token": token}, follow=True)


@pytest.fixture
def todo(tenant: Tenant) -> Todo:
    with tenant.tx():
        return make_todo(tenant.project, description="Ask the chef.", source=TodoSource.PERSON, actor=AGENT)


def status(tenant: Tenant, todo: Todo) -> str:
    with tenant.tx():
        return str(Todo.objects.get(pk=todo.pk).status)


def reject(tenant: Tenant, client: Client, todo: Todo) -> str:
    return pressed(tenant, client, f"todos/{todo.pk}", {"do": "reject", "version": 1})


def test_several_rejected_todos_return_to_review(owner: Client, tenant: Tenant, todo: Todo) -> None:
    """One that changed since is left as it is."""
    with tenant.tx():
        other = make_todo(tenant.project, description="Ask the cook.", source=TodoSource.PERSON, actor=AGENT)
    body = {"do": "reject", "choice": [f"{one.pk}:1:x" for one in (todo, other)]}
    token = pressed(tenant, owner, "todos", body)
    with tenant.tx():
        Todo.objects.filter(pk=other.pk).update(status=TodoStatus.PENDING_REVIEW)
    assert b"1 todo is back in review." in take_back(tenant, owner, token).content
    assert status(tenant, todo) == TodoStatus.PENDING_REVIEW


def test_a_rejected_todo_returns_to_review(owner: Client, tenant: Tenant, todo: Todo) -> None:
    token = reject(tenant, owner, todo)
    assert status(tenant, todo) == TodoStatus.REJECTED
    assert b"Back in review." in take_back(tenant, owner, token).content
    assert status(tenant, todo) == TodoStatus.PENDING_REVIEW


def test_an_undo_works_once(owner: Client, tenant: Tenant, todo: Todo) -> None:
    token = reject(tenant, owner, todo)
    take_back(tenant, owner, token)
    page = take_back(tenant, owner, token)
    assert b'data-s="bad"' in page.content
    with tenant.tx():
        assert TodoEvent.objects.filter(todo=todo, what="rejection_undone").count() == 1


def test_a_rejection_is_final_after_the_undo_period(
    owner: Client, tenant: Tenant, todo: Todo, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = reject(tenant, owner, todo)
    monkeypatch.setattr(undo_rejection, "UNDO_PERIOD", timedelta(0))
    assert "too late" in take_back(tenant, owner, token).content.decode()
    assert status(tenant, todo) == TodoStatus.REJECTED


def test_an_old_token_undoes_nothing(
    owner: Client, tenant: Tenant, todo: Todo, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = reject(tenant, owner, todo)
    monkeypatch.setattr(undo, "UNDO_PERIOD", timedelta(0))
    assert str(undo.TOO_LATE) in take_back(tenant, owner, token).content.decode()
    assert status(tenant, todo) == TodoStatus.REJECTED


def test_a_colleague_cannot_undo_it(owner: Client, tenant: Tenant, todo: Todo) -> None:
    token = reject(tenant, owner, todo)
    colleague = browser(member_of(tenant, Role.OPERATOR))
    assert take_back(tenant, colleague, token).status_code == 404
    assert status(tenant, todo) == TodoStatus.REJECTED


def test_a_resolved_request_is_open_again(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "A person, please")
    with tenant.tx():
        asked = Escalation.objects.create(
            project=tenant.project,
            conversation_id=row.pk,
            reason="The wedding.",
            state=EscalationState.WAITING,
            requested_at=timezone.now(),
        )
    token = pressed(tenant, owner, f"inbox/{row.pk}", {"do": "resolve"})
    take_back(tenant, owner, token)
    with tenant.tx():
        asked.refresh_from_db()
    assert (asked.state, asked.resolved_at) == (EscalationState.WAITING, None)


def test_a_cleared_flag_is_set_again(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "This is wrong", flag="Quality 2 of 10: rude")
    token = pressed(tenant, owner, f"inbox/{row.pk}", {"do": "unflag"})
    take_back(tenant, owner, token)
    with tenant.tx():
        assert Conversation.objects.get(pk=row.pk).flag == "Quality 2 of 10: rude"


def test_a_closed_ticket_is_open_again_and_keeps_a_later_change(owner: Client, tenant: Tenant) -> None:
    with tenant.tx():
        ticket = open_ticket(tenant.project.pk, subject="A fault", body="The lamp is broken.")
    token = pressed(tenant, owner, f"inbox/tickets/{ticket.pk}", {"state": "closed", "priority": "high"})
    with tenant.tx():
        Ticket.objects.filter(pk=ticket.pk).update(priority=TicketPriority.URGENT)
    take_back(tenant, owner, token)
    with tenant.tx():
        ticket.refresh_from_db()
    assert (ticket.state, ticket.closed_at, ticket.priority) == (TicketState.OPEN, None, TicketPriority.URGENT)


def test_a_deleted_article_is_stored_again_as_it_was(owner: Client, tenant: Tenant) -> None:
    with tenant.tx():
        text = ArticleText("Parking", "Where to park", "Behind the house, beside the chestnut.")
        article = write_article(tenant.project, text, by=Writer(tenant.owner), is_published=True)
    token = pressed(tenant, owner, f"knowledge/a/{article.slug}", {"do": "delete"})
    take_back(tenant, owner, token)
    with tenant.tx():
        again = Article.objects.get(slug=article.slug)
        assert (again.pk, again.body, again.version, again.is_published) == (article.pk, text.body, 1, True)
        assert ArticleWord.objects.filter(article=again, word__startswith="chestnut").exists()


def test_a_removed_tool_returns_with_its_secrets(owner: Client, tenant: Tenant) -> None:
    action = {"type": "send_webhook", "options": {"url": "https://example.com/hook"}}
    with tenant.tx():
        saved = custom_tools.save(tenant.project, name="notify_crew", document={**TOOL, "action": action})
        secrets = saved.tool.secrets
    token = pressed(tenant, owner, "tools/notify_crew", {"do": "remove"})
    take_back(tenant, owner, token)
    with tenant.tx():
        again = custom_tools.get(tenant.project, "notify_crew")
        assert (again.secrets, bool(secrets)) == (secrets, True)


def test_a_removed_todo_type_returns_unless_its_name_is_taken(owner: Client, tenant: Tenant) -> None:
    with tenant.tx():
        kind = save_type(tenant.project, {"name": "Letters", "description": "Something to write."})
    body = {"do": "remove", "id": str(kind.pk)}
    take_back(tenant, owner, pressed(tenant, owner, "agent/todos", body))
    assert not type_of(tenant, kind.pk).is_removed
    token = pressed(tenant, owner, "agent/todos", body)
    with tenant.tx():
        save_type(tenant.project, {"name": "letters", "description": "Another."})
    take_back(tenant, owner, token)
    assert type_of(tenant, kind.pk).is_removed


def type_of(tenant: Tenant, type_id: UUID) -> TodoType:
    with tenant.tx():
        return TodoType.objects.get(pk=type_id)


def test_a_removed_resource_returns_as_it_was(owner: Client, tenant: Tenant) -> None:
    with tenant.tx():
        table = create_resource(tenant.project, name="Table 99", kind="table", capacity=7, slot_minutes=45)
    token = pressed(tenant, owner, f"resources/{table.pk}/remove", {})
    take_back(tenant, owner, token)
    with tenant.tx():
        again = Resource.objects.get(project=tenant.project, name="Table 99")
        assert (again.capacity, again.slot_minutes, again.is_active) == (7, 45, True)


def test_an_unset_attribute_is_set_again(owner: Client, tenant: Tenant) -> None:
    with tenant.tx():
        set_attribute(tenant.project, "till_key", "12", type=AttributeType.STRING)
    token = pressed(tenant, owner, "agent/attributes", {"unset": "till_key"})
    with tenant.tx():
        assert not Attribute.objects.filter(key="till_key").exists()
    take_back(tenant, owner, token)
    with tenant.tx():
        assert Attribute.objects.get(key="till_key").value == "12"


def test_a_revoked_key_works_again(owner: Client, tenant: Tenant, client: Client) -> None:
    with tenant.tx():
        key = ApiKey.objects.get(project=tenant.project)
    token = pressed(tenant, owner, f"keys/{key.pk}/revoke", {})
    assert client.get("/api/v1/tools", headers=tenant.headers).status_code == 401
    take_back(tenant, owner, token)
    assert client.get("/api/v1/tools", headers=tenant.headers).status_code == 200


def test_only_the_newest_deletion_keeps_what_was_deleted(owner: Client, tenant: Tenant) -> None:
    with tenant.tx():
        tables = [
            create_resource(tenant.project, name=name, kind="table", capacity=2, slot_minutes=60)
            for name in ("A9", "B9")
        ]
    first, _ = (pressed(tenant, owner, f"resources/{table.pk}/remove", {}) for table in tables)
    assert str(undo.TOO_LATE) in take_back(tenant, owner, first).content.decode()


def test_an_operator_undoes_no_deletion(tenant: Tenant) -> None:
    """Whoever lost the right meanwhile can't use the token."""
    admin = member_of(tenant, Role.ADMIN)
    with tenant.tx():
        table = create_resource(tenant.project, name="C9", kind="table", capacity=2, slot_minutes=60)
    client = browser(admin)
    token = pressed(tenant, client, f"resources/{table.pk}/remove", {})
    with tenant.tx():
        Member.objects.filter(user=admin).update(role=Role.OPERATOR)
    take_back(tenant, client, token)
    with tenant.tx():
        assert not Resource.objects.filter(name="C9").exists()
