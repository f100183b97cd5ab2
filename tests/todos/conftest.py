"""Fixtures: a tenant with members of every role, and todos to approve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from conversations.models import Channel, Conversation
from conversations.turns.services import start_conversation
from jobs.models import Job
from projects.models import Member, Role, User
from tests.conftest import Tenant
from todos import services
from todos.approvals import validity
from todos.content import types
from todos.content.lifecycle import Actor
from todos.content.snapshot import content_of, hash_of, load_approval_context
from todos.content.versions import current_approval, load_todo
from todos.models import Approval, Todo, TodoSource, TodoType
from tools.engine.custom import service as custom_tools

REFUND = "refund_tool"
CUSTOMER = {"name": "Ada Lovelace", "phone": "+393331234567", "email": "ada@example.com"}


def refund_tool(**changes: Any) -> dict[str, Any]:
    """A custom tool of the tenant that refunds money through a webhook."""
    amount = {"type": "number", "description": "How much, in dollars"}
    order = {"type": "string", "description": "The order's number"}
    body = {"type": "object", "properties": {"amount": amount, "order": order}, "required": ["amount"]}
    return {
        "description": "Pays a customer back.",
        "conditions": {"agentPromised": {"type": "boolean", "description": "The agent commits to a refund now."}},
        "useConversationHistory": False,
        "action": {"type": "send_webhook", "options": {"url": "https://pay.example.com/refunds", "body": body}},
        **changes,
    }


@dataclass(frozen=True)
class Desk:
    """Operations on todos, each in its own transaction."""

    tenant: Tenant

    def do(self, verb: Callable[..., Any], *arguments: Any, **details: Any) -> Any:
        with self.tenant.tx():
            return verb(*arguments, **details)

    def member(self, user: User) -> Member:
        with self.tenant.tx():
            return Member.objects.select_related("user").get(user=user)

    @property
    def owner(self) -> Member:
        return self.member(self.tenant.owner)

    def join(self, role: Role, name: str) -> Member:
        """Add a member with this role."""
        user = User.objects.create_user(f"{name}@{self.tenant.organization.pk}.example", "correct horse battery")
        with self.tenant.tx():
            return Member.objects.select_related("user").get(pk=Member.objects.create(user=user, role=role).pk)

    def leave(self, member: Member) -> None:
        """Remove a member."""
        with self.tenant.tx():
            Member.objects.filter(pk=member.pk).delete()

    def type(self, **fields: Any) -> TodoType:
        standard = {"name": "Refund", "description": "The agent said that money is paid back.", "tools": [REFUND]}
        return self.do(types.save_type, self.tenant.project, {**standard, **fields})  # type: ignore[no-any-return]

    def refund(self, amount: Any = 82, **details: Any) -> Todo:
        """A todo with a frozen refund of this amount, so that no model is called."""
        plan = {"tool": REFUND, "arguments": {"body": {"amount": amount}}}
        standard = {"description": "Pay Ada back", "source": TodoSource.PERSON, "actor": Actor("Nello"), **plan}
        return self.do(services.make_todo, self.tenant.project, **{**standard, **details})  # type: ignore[no-any-return]

    def seen(self, todo: Todo) -> dict[str, Any]:
        """The current version and hash, as a page shows them."""
        with self.tenant.tx():
            now = services.get_todo(self.tenant.project, todo.pk)
            return {"version": now.version, "content_hash": hash_of(content_of(now))}

    def approve(self, todo: Todo, by: Member, **seen: Any) -> Approval:
        seen = seen or self.seen(todo)
        actor = Actor(by.user.name, by.pk)
        return self.do(services.approve_todo, todo.pk, **seen, actor=actor, member=by)  # type: ignore[no-any-return]

    def check(self, todo: Todo) -> Approval:
        """The valid approval of the todo's current content. Raises InvalidApproval."""
        with self.tenant.tx():
            now = load_todo(todo.pk)
            return validity.check(now, current_approval(now), context=load_approval_context(now))

    def edit(self, todo: Todo, version: int | None = None, **changes: Any) -> Todo:
        return self.do(services.edit_todo, todo.pk, changes, actor=Actor("Nello"), version=version)  # type: ignore[no-any-return]

    def now(self, todo: Todo) -> Todo:
        with self.tenant.tx():
            return services.get_todo(self.tenant.project, todo.pk)

    def jobs(self) -> list[Job]:
        """The jobs that run todos."""
        with self.tenant.tx():
            return list(Job.objects.filter(lane="todo").order_by("created_at"))

    def history(self, todo: Todo) -> list[str]:
        with self.tenant.tx():
            return [event.what for event in todo.history.all()]


@pytest.fixture
def desk(tenant: Tenant) -> Desk:
    """A tenant with a refund tool."""
    with tenant.tx():
        custom_tools.save(tenant.project, name=REFUND, document=refund_tool())
    return Desk(tenant)


@pytest.fixture
def owner(desk: Desk) -> Member:
    return desk.owner


@pytest.fixture
def clerk(desk: Desk) -> Member:
    """An operator."""
    return desk.join(Role.OPERATOR, "clerk")


@pytest.fixture
def conversation(tenant: Tenant) -> Conversation:
    """A conversation with a customer who has an e-mail address."""
    with tenant.tx():
        return start_conversation(
            tenant.project, channel=Channel.API, external_id="ada", known=dict(CUSTOMER), metadata={}
        )
