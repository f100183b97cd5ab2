from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from django.utils import timezone

from conversations.live.event_log import open_log
from conversations.models import Analysis, MessageRole, Turn, TurnStatus
from jobs.enqueue import JobRequest, enqueue
from jobs.models import Job, State
from projects.records.attributes import set_attribute
from tests.conftest import Tenant
from tests.conversations.conftest import Talk, begin, talk, worker
from tests.lane_runs import run_lanes
from tests.processes import ScriptedModel
from tools.engine.catalogue import compile_tools
from tools.engine.custom.service import save
from tools.engine.events.service import SubscriptionEdit, add_subscription
from tools.models import Effect, Promise, SubscriptionTarget

__all__ = ["begin", "talk", "worker"]

SMS, LINK = "send_sms_tool", "send_manage_booking_url_tool"
PROMISE = "I'll send you an SMS with the reservation details."
ASKS_UNSERVED = "`unserved` lists"
GATES = ("sms_send_information", "booking_manage_url", "booking_check_availability", "transfer_call")


@dataclass
class Desk:
    """One conversation whose replies are analyzed in this process, by the lanes' own code."""

    tenant: Tenant
    talk: Talk
    model: ScriptedModel

    def switch_on(self, *gates: str) -> None:
        with self.tenant.tx():
            for gate in gates:
                set_attribute(self.tenant.project, f"project_attributes_setting_{gate}_enabled", True)

    def tool(self, name: str, *, is_heard: bool = True, **definition: Any) -> None:
        """Add a custom tool to the project. Without an action it sends an event, which has a subscriber by default."""
        document = {
            "description": "Notifies the crew.",
            "conditions": {
                "agentPromised": {"type": "boolean", "description": "The agent commits to notify the crew."}
            },
            "useConversationHistory": False,
            **definition,
        }
        with self.tenant.tx():
            save(self.tenant.project, name=name, document=document)
            if is_heard:
                edit = SubscriptionEdit(target=SubscriptionTarget.STREAM, events=(name,))
                add_subscription(self.tenant.project, edit)

    def reply(self, text: str, *, hears: str = "Please do") -> Turn:
        """Add a turn with the customer's message and the agent's reply, and queue its tool caller."""
        turn = self.talk.say(hears)
        with self.tenant.tx(), open_log(self.talk.conversation.pk) as log:
            turn.reply = log.add_message(MessageRole.AGENT, text, turn=turn, idn="agent_message")
            turn.status, turn.started_at = TurnStatus.DONE, timezone.now()
            log.writes.update(turn, ("status", "reply", "started_at"))
            Job.objects.filter(subject_id=self.talk.conversation.pk).update(state=State.DONE)
            enqueue([self._job(turn)])
        return turn

    def analyse(self, text: str, *, hears: str = "Please do") -> dict[str, Any]:
        """Run the tool caller for a reply, and return its turn."""
        turn = self.reply(text, hears=hears)
        self.run("tool_caller")
        return self.talk.turn(turn)

    def run(self, *lanes: str) -> None:
        """Run the lanes' due jobs until none is left."""
        run_lanes(*lanes)

    def reads(self, *tools: str, times: int = 1, unserved: Any = (), **changes: Any) -> None:
        """Script the next detection: these tools, each with every condition met, or as `changes` say.

        Two detections run in parallel in no fixed order, so each step names the one it is for. With `times` 0 the
        script serves every detection.
        """
        with self.tenant.tx():
            compiled = {tool.name: tool.definition for tool in compile_tools(self.tenant.project, channel="phone")}
        for history in (False, True):
            names = [name for name in tools if compiled[name].use_conversation_history is history]
            if not names and (history or (tools and not unserved)):
                continue
            verdicts = [{**_reading(name, compiled[name].conditions), **changes} for name in names]
            told = {"verdicts": verdicts, "unserved": [] if history else list(unserved)}
            match = f"## {names[0]}\n" if names else ASKS_UNSERVED
            self.model.script("detect", times=times, match=match if times else "", json=told)

    def ranks(self, **relevance: int) -> None:
        """Script the next ranking."""
        ranking = [{"reason": "r", "tool": tool, "relevance": points} for tool, points in relevance.items()]
        self.model.script("rerank", json={"ranking": ranking})

    def steps(self, turn: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
        """The stored result of each step of the turn's analysis, by number."""
        return {step["number"]: step["held"] for step in turn["analysis"]}

    def promises(self) -> list[Promise]:
        with self.tenant.tx():
            return list(Promise.objects.order_by("created_at"))

    def effects(self) -> list[Effect]:
        with self.tenant.tx():
            return list(Effect.objects.order_by("created_at"))

    def analysis(self) -> Analysis:
        with self.tenant.tx():
            return Analysis.objects.get()

    def _job(self, turn: Turn) -> JobRequest:
        return JobRequest(
            lane="tool_caller",
            project_id=self.tenant.project.pk,
            subject_id=self.talk.conversation.pk,
            ordinal=turn.seq,
            key=f"tool_caller:{turn.pk}:test",
        )


@pytest.fixture
def desk(tenant: Tenant, talk: Talk, model: ScriptedModel, settings: Any) -> Desk:
    settings.OPENAI_BASE_URL = model.base_url
    desk = Desk(tenant=tenant, talk=talk, model=model)
    desk.switch_on(*GATES)
    return desk


def fired(turn: Mapping[str, Any]) -> list[str]:
    return [verdict["tool"] for verdict in turn["verdicts"] if verdict["fired"]]


def _reading(name: str, conditions: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "quote": PROMISE,
        "tool": name,
        "conditions": [{"name": condition, "met": True} for condition in conditions],
        "rule": None,
    }
