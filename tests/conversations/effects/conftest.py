from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from conversations.common.place import place_in
from conversations.live.event_log import open_log
from conversations.models import Conversation, Event, Message, MessageRole, Turn, TurnStatus
from jobs.enqueue import enqueue
from jobs.models import Job, State
from projects.records.attributes import set_attribute
from tests.conftest import Tenant
from tests.conversations.conftest import Talk, begin, talk, worker
from tests.conversations.effects.target import Target, target_server
from tests.lane_runs import run_lanes
from tests.processes import ScriptedModel
from tools.engine.catalogue import compile_tools
from tools.engine.custom.service import save
from tools.engine.execution.plan import plan_commitments
from tools.engine.ledger import job_for
from tools.engine.promises import PromiseSource, open_promises
from tools.engine.verdicts import Judgement
from tools.models import Effect

__all__ = ["begin", "talk", "worker"]

PHONE = "+393475550142"


@pytest.fixture
def target() -> Iterator[Target]:
    with target_server() as server:
        yield server


def webhook(url: str, *, after_actions: list[Any] | None = None, **options: Any) -> dict[str, Any]:
    """The definition of a custom tool that notifies a crew."""
    return {
        "description": "Notifies the delivery crew about the customer's problem.",
        "conditions": {
            "agentPromised": {"type": "boolean", "description": "The agent commits to notify the delivery crew now."}
        },
        "useConversationHistory": False,
        "action": {"type": "send_webhook", "options": {"url": url, **options}},
        "after_actions": after_actions or [],
    }


@dataclass
class Bench:
    """One conversation whose tools are planned and executed in this process, by the lane's own code."""

    tenant: Tenant
    talk: Talk

    @property
    def conversation(self) -> Conversation:
        return self.talk.conversation

    def tool(self, name: str, definition: dict[str, Any]) -> str:
        with self.tenant.tx():
            saved = save(self.tenant.project, name=name, document=definition)
        return saved.signing_secret or ""

    def switch_on(self, *keys: str) -> None:
        with self.tenant.tx():
            for key in keys:
                set_attribute(self.tenant.project, f"project_attributes_setting_{key}", True)

    def says(self, words: str, role: MessageRole = MessageRole.USER) -> None:
        with self.tenant.tx(), open_log(self.conversation.pk) as log:
            log.add_message(role, words, turn=None, idn="test")

    def plan(self, *names: str, quote: str = "I'll notify the crew.", hears: str = "") -> list[Effect]:
        """Add a turn: the customer's message, the agent's promise, and the fired tools' effects."""
        if hears:
            self.says(hears)
        with self.tenant.tx():
            with open_log(self.conversation.pk) as log:
                turn = log.add_turn()
                reply = log.add_message(MessageRole.AGENT, quote, turn=turn, idn="agent_message")
            Turn.objects.filter(pk=turn.pk).update(status=TurnStatus.DONE, reply=Message.objects.get(pk=reply.pk))
            compiled = {tool.name: tool for tool in compile_tools(self.tenant.project, channel="chat")}
            judgements = [
                Judgement(tool=compiled[name], fired=True, rule="", reason="", quote=quote, conditions={})
                for name in names
            ]
            conversation = Conversation.objects.get(pk=self.conversation.pk)
            place = place_in(conversation, config=None, contact=None, turn_id=turn.pk)
            effects = plan_commitments(judgements, place)
            source = PromiseSource(
                project_id=self.tenant.project.pk,
                conversation_id=self.conversation.pk,
                turn_id=turn.pk,
                message_id=reply.pk,
                at=reply.created_at,
            )
            open_promises(effects, source=source)
            enqueue([job_for(effect) for effect in effects])
        return effects

    def run(self, lane: str = "effect", *, hurry: bool = True) -> None:
        """Run a lane's jobs until none is due; `hurry` also runs the effects' that are scheduled for later."""
        run_lanes(lane, before_claim=self._hurry if hurry else None)

    def _hurry(self) -> None:
        with self.tenant.tx():
            waiting = Job.objects.filter(lane="effect", state=State.QUEUED).exclude(key__contains=":callback:")
            waiting.update(run_after="2020-01-01T00:00:00Z")

    def effect(self, effect: Effect) -> Effect:
        with self.tenant.tx():
            return Effect.objects.prefetch_related("after_actions").get(pk=effect.pk)

    def execute(self, *names: str, hurry: bool = True, **more: Any) -> Effect:
        """Plan one effect, run it, and return its current state."""
        [effect] = self.plan(*names, **more)
        self.run(hurry=hurry)
        return self.effect(effect)

    def events(self, idn: str) -> list[dict[str, Any]]:
        with self.tenant.tx():
            rows = Event.objects.filter(conversation=self.conversation, idn=idn)
            return [{**event.payload, "connector": event.connector} for event in rows]

    def urgent(self) -> list[str]:
        """Urgent messages sent to the agent."""
        return [event["text"] for event in self.events("urgent_message")]


@pytest.fixture
def bench(tenant: Tenant, talk: Talk, model: ScriptedModel, settings: Any) -> Bench:
    settings.OPENAI_BASE_URL = model.base_url
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    return Bench(tenant=tenant, talk=talk)
