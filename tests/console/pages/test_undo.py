"""Undo in the notice of an action: for whoever acted, for a short time."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from console import undo
from conversations.models import Conversation, Event
from projects.models import Role
from tests.conftest import Tenant, member_of
from tests.console.pages.conftest import browser, talk
from todos.approvals import undo_rejection
from todos.content.lifecycle import AGENT
from todos.models import Todo, TodoEvent, TodoSource, TodoStatus
from todos.services import make_todo
from tools.models import Escalation, EscalationState, Ticket, TicketPriority, TicketState
from tools.services.support.tickets import open_ticket

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


def test_a_closed_conversation_is_open_again_once(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "This is wrong", flag="Quality 2 of 10: rude")
    token = pressed(tenant, owner, f"inbox/{row.pk}", {"do": "close"})
    for _ in range(2):
        take_back(tenant, owner, token)
    with tenant.tx():
        row.refresh_from_db()
        reopened = Event.objects.filter(conversation=row, idn="inbox_reopened").count()
    assert (row.closed_at, row.flag, reopened) == (None, "Quality 2 of 10: rude", 1)


def test_a_refused_undo_stays_on_its_page(owner: Client, tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that comes too late, too."""
    row = talk(tenant, "This is wrong")
    closed = owner.post(f"/p/{tenant.project.slug}/inbox/{row.pk}?view=all", {"do": "close"}, follow=True)
    [form] = re.findall(r'action="([^"]+/undo)"(.*?)</form>', closed.content.decode(), re.DOTALL)
    fields = {name: unescape(value) for name, value in re.findall(r'name="(token|back)" value="([^"]+)"', form[1])}
    reopened, refused = (owner.post(form[0], fields) for _ in range(2))
    assert reopened.headers["Location"] == f"/p/{tenant.project.slug}/inbox/{row.pk}"
    assert refused.headers["Location"] == f"/p/{tenant.project.slug}/inbox/{row.pk}?view=all"
    monkeypatch.setattr(undo, "UNDO_PERIOD", timedelta(0))
    assert owner.post(form[0], fields).headers["Location"] == refused.headers["Location"]
    elsewhere = owner.post(form[0], {**fields, "back": "https://evil.example/"})
    assert elsewhere.headers["Location"] == f"/p/{tenant.project.slug}/"


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
