"""Fixtures: approved todos, run by the lane's code in this process, with a scripted model and a recording target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from conversations.models import Conversation
from jobs.models import Job, State
from projects.connections.integration_types import KINDS
from projects.connections.integrations import SourceEdit, connect_source, disconnect_source
from projects.models import Member
from tests.conftest import Tenant
from tests.conversations.effects.target import Target, target_server
from tests.lane_runs import run_lanes
from tests.processes import ScriptedModel
from tests.todos.conftest import Desk
from tests.tools.messaging.mail_server import MailServer
from todos.content.lifecycle import Actor
from todos.models import Todo, TodoCall, TodoSource, TodoStep, TodoType
from todos.services import make_todo
from tools.engine.custom import service as custom_tools
from tools.models import Effect

WRITE = "Write to the caller that the lost scarf was found."
LETTER = {"subject": "Your scarf", "body": "We have found your scarf."}
NOTIFY = "notify_crew"


@pytest.fixture
def target() -> Iterator[Target]:
    with target_server() as server:
        yield server


def webhook(url: str, **options: Any) -> dict[str, Any]:
    """A custom tool of the tenant that notifies a crew."""
    body = {"type": "object", "properties": {"what": {"type": "string", "description": "What they are told"}}}
    after_actions = options.pop("after_actions", [])
    return {
        "description": "Tells the crew something.",
        "conditions": {"agentPromised": {"type": "boolean", "description": "The agent commits to tell the crew now."}},
        "useConversationHistory": False,
        "action": {"type": "send_webhook", "options": {"url": url, "body": body, **options}},
        "after_actions": after_actions,
    }


@dataclass(frozen=True)
class Runs(Desk):
    """Todos of one conversation, and their runs."""

    conversation: Conversation
    boss: Member
    model: ScriptedModel

    def kind(self, *tools: str, **fields: Any) -> TodoType:
        return self.type(name="Follow-up", description="Something is to be told.", tools=list(tools), **fields)

    def own_tool(self, url: str, *, name: str = NOTIFY, **options: Any) -> None:
        with self.tenant.tx():
            custom_tools.save(self.tenant.project, name=name, document=webhook(url, **options))

    def todo(self, kind: TodoType | None = None, **details: Any) -> Todo:
        """A todo about the conversation's customer."""
        standard = {
            "description": WRITE,
            "source": TodoSource.PERSON,
            "actor": Actor("Nello"),
            "type": kind,
            "conversation_id": self.conversation.pk,
            "persona_id": self.conversation.persona_id,
        }
        return self.do(make_todo, self.tenant.project, **{**standard, **details})

    def frozen(self, tool: str = "send_email_to_caller", arguments: dict[str, Any] = LETTER, **details: Any) -> Todo:
        return self.todo(tool=tool, arguments=arguments, **details)

    def approved(self, todo: Todo) -> Todo:
        self.approve(todo, self.boss)
        return self.now(todo)

    def calls_tool(self, name: str, arguments: Any = LETTER, **more: Any) -> None:
        """Script a step of the model that calls a tool."""
        self.model.script("execute", tool_calls=[{"name": name, "arguments": arguments}], **more)

    def says(self, text: str = "That is done.") -> None:
        """Script a step of the model that calls nothing."""
        self.model.script("execute", text=text)

    def execute(self, todo: Todo, *, hurry: bool = True) -> Todo:
        """Approve the todo, run it until it ends or waits, and return it."""
        return self.run(self.approved(todo), hurry=hurry)

    def run(self, todo: Todo, *, lane: str = "todo", hurry: bool = True) -> Todo:
        """Run every due job of the lane; with `hurry` also postponed ones, except for callbacks."""
        run_lanes(lane, before_claim=self.make_due if hurry else None)
        return self.now(todo)

    def hurry_callbacks(self) -> None:
        """Let an hour pass without a callback."""
        with self.tenant.tx():
            Job.objects.filter(key__contains=":callback:").update(run_after="2020-01-01T00:00:00Z")
            Effect.objects.filter(state="sending").update(
                accepted_at="2020-01-01T00:00:00Z", started_at="2020-01-01T00:00:00Z"
            )

    def make_due(self) -> None:
        """Make postponed jobs due, except for callbacks."""
        with self.tenant.tx():
            waiting = Job.objects.filter(lane="todo", state=State.QUEUED).exclude(key__contains=":callback:")
            waiting.update(run_after="2020-01-01T00:00:00Z")

    def steps(self, todo: Todo) -> list[TodoStep]:
        with self.tenant.tx():
            return list(
                TodoStep.objects.filter(todo=todo).order_by("approval__version", "number").prefetch_related("calls")
            )

    def calls(self, todo: Todo) -> list[TodoCall]:
        with self.tenant.tx():
            rows = TodoCall.objects.filter(step__todo=todo).select_related("effect", "step")
            return list(rows.order_by("step__approval__version", "step__number", "index"))

    def effects(self, todo: Todo) -> list[Effect]:
        return [call.effect for call in self.calls(todo) if call.effect is not None]

    def result(self, todo: Todo) -> str:
        """The result of the last call, as the model reads it."""
        return self.calls(todo)[-1].result


@pytest.fixture(scope="session")
def mail() -> Iterator[MailServer]:
    """A mail server that takes everything."""
    with MailServer() as server:
        yield server


def connect_mail(tenant: Tenant, server: MailServer) -> None:
    """Connect the project to the mail server. Without it, e-mails only reach the outbox."""
    document = {"host": "127.0.0.1", "port": server.port, "security": "none", "from_address": "hello@nello.example"}
    with tenant.tx():
        connect_source(tenant.project, KINDS["smtp"], SourceEdit(document, ""), by=tenant.owner)


def disconnect_mail(tenant: Tenant) -> None:
    with tenant.tx():
        disconnect_source(tenant.project, KINDS["smtp"], by=tenant.owner)


@pytest.fixture
def runs(desk: Desk, conversation: Conversation, model: ScriptedModel, settings: Any, mail: MailServer) -> Runs:
    settings.OPENAI_BASE_URL = model.base_url
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    connect_mail(desk.tenant, mail)
    return Runs(tenant=desk.tenant, conversation=conversation, boss=desk.owner, model=model)
