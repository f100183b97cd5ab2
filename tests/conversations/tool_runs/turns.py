"""Replies with tool calls, written in this process by the lane's own code and a scripted model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conversations.models import Conversation, Event, Message, Turn, TurnCall
from conversations.models.event import EventType
from conversations.turns.services import post_message, start_conversation
from jobs.models import ModelCall
from projects.agents.services import save_agent
from projects.models.agent_config import AgentConfig
from tests.conftest import Tenant
from tests.lane_runs import run_lanes
from tests.processes import ScriptedModel
from tools.models import Effect


@dataclass
class Turns:
    """One conversation with an agent that may call tools."""

    tenant: Tenant
    model: ScriptedModel
    conversation: Conversation

    def on(self, channel: str, *, external_id: str = "guest", **known: str) -> Turns:
        """A new conversation of the same project, on another channel or with another customer."""
        with self.tenant.tx():
            conversation = start_conversation(
                self.tenant.project, channel=channel, external_id=external_id, known=known, metadata={}
            )
        return Turns(self.tenant, self.model, conversation)

    def configure(self, **changes: Any) -> None:
        """Change the agent's settings."""
        with self.tenant.tx():
            project = self.tenant.project
            project.refresh_from_db()
            config = AgentConfig.model_validate({**project.agent_version.document, **changes})
            save_agent(project, config=config, author=self.tenant.owner)

    def calls_tool(self, name: str, arguments: Any = None, *, text: str = "", **more: Any) -> None:
        """Script the model's next answer: text and a tool call."""
        self.model.script("reply", tool_calls=[{"name": name, "arguments": arguments or {}}], text=text, **more)

    def says(self, text: str, **more: Any) -> None:
        """Script the model's next answer: text only."""
        self.model.script("reply", text=text, **more)

    def say(self, words: str = "Please help me.") -> Turn:
        """Post a message, run the reply's job to its end, and return the turn."""
        with self.tenant.tx():
            turn = post_message(self.conversation.pk, words).turn
        self.run()
        return self.now(turn)

    def run(self, lane: str = "reply") -> None:
        """Run every due job of a lane in this process."""
        run_lanes(lane)

    def now(self, turn: Turn) -> Turn:
        with self.tenant.tx():
            return Turn.objects.select_related("reply").get(pk=turn.pk)

    def calls(self, turn: Turn) -> list[TurnCall]:
        with self.tenant.tx():
            rows = TurnCall.objects.filter(step__turn=turn).select_related("effect", "step")
            return list(rows.order_by("step__number", "index"))

    def result(self, turn: Turn) -> str:
        """The result of the last call, as told to the model."""
        return self.calls(turn)[-1].result

    def block(self, turn: Turn) -> dict[str, Any]:
        """The last block of the reply."""
        assert turn.reply is not None
        return dict(turn.reply.blocks[-1])

    def effects(self, turn: Turn) -> list[Effect]:
        with self.tenant.tx():
            return list(Effect.objects.filter(turn_id=turn.pk).order_by("created_at"))

    def events(self, *types: EventType) -> list[Event]:
        with self.tenant.tx():
            return list(Event.objects.filter(conversation=self.conversation, type__in=types).order_by("seq"))

    def messages(self) -> list[Message]:
        with self.tenant.tx():
            return list(Message.objects.filter(conversation=self.conversation).order_by("seq"))

    def sent(self, turn: Turn) -> list[list[dict[str, Any]]]:
        """The messages of each model call of the turn's reply."""
        with self.tenant.tx():
            rows = ModelCall.objects.filter(turn_id=turn.pk, skill="reply").order_by("started_at")
            return [row.messages for row in rows]

    def asked(self) -> list[dict[str, Any]]:
        """The model's requests for replies, in order."""
        return self.model.requests("reply")
