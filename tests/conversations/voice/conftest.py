from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest
from django.test import Client

from conversations.models import Conversation, Event, Turn, VoiceSession
from conversations.voice.updates import cursor_for, due_after
from tests.conftest import Tenant
from tests.conversations.tool_runs.conftest import turns
from tests.conversations.tool_runs.turns import Turns

__all__ = ["turns"]


@dataclass
class Voice:
    """The voice bridge of one call."""

    turns: Turns
    numbers: count[int] = field(default_factory=lambda: count(1))

    @property
    def tenant(self) -> Tenant:
        return self.turns.tenant

    @property
    def conversation(self) -> Conversation:
        return self.turns.conversation

    def post(self, *reports: dict[str, Any]) -> Any:
        path = f"/api/v1/conversations/{self.conversation.pk}/session/reports"
        body = json.dumps({"reports": reports})
        return Client(headers=self.tenant.headers).post(path, body, content_type="application/json")

    def report(self, type: str, **more: Any) -> dict[str, Any]:
        """Send one report with an id of its own."""
        response = self.post({"id": f"item {next(self.numbers)}", "type": type, **more})
        assert response.status_code == 202, response.content
        return dict(response.json())

    def exchange(self, caller: str, agent: str) -> Turn:
        """The caller says something, and the voice model answers."""
        self.report("speech_started")
        self.report("speech_stopped")
        self.report("caller_said", text=caller)
        [turn] = self.report("agent_said", text=agent)["turns"]
        with self.tenant.tx():
            return Turn.objects.select_related("message", "reply", "directives_used").get(pk=turn["id"])

    def think(self, **directives: Any) -> None:
        """Run thoughts with these directives as the result."""
        self.turns.model.script("thoughts", json={**DIRECTIVES, **directives})
        self.turns.run("thoughts")

    def due(self, after: int | None = None) -> list[dict[str, Any]]:
        """The updates a stream sends now, after this one."""
        with self.tenant.tx():
            place = cursor_for(Conversation.objects.get(pk=self.conversation.pk), after)
        frames = due_after(place, place.after).frames
        return [_read(frame.encode().decode()) for frame in frames]

    def session(self) -> VoiceSession:
        with self.tenant.tx():
            return VoiceSession.objects.select_related("given_directives").get(conversation=self.conversation)

    def events(self, idn: str) -> list[dict[str, Any]]:
        with self.tenant.tx():
            rows = Event.objects.filter(conversation=self.conversation, idn=idn).order_by("seq")
            return [event.payload for event in rows]


DIRECTIVES: dict[str, Any] = {
    "scenario": "1",
    "step": "1.1",
    "goal": "Ask for the day.",
    "instructions": ["Ask for the day."],
    "to_collect": ["day"],
    "known": [],
    "tools_pending": [],
    "avoid": [],
}


def _read(frame: str) -> dict[str, Any]:
    fields = dict(line.split(": ", 1) for line in frame.strip().split("\n"))
    return {"event": fields["event"], "id": int(fields["id"]), **json.loads(fields["data"])}


@pytest.fixture
def voice(turns: Turns) -> Voice:
    """A call with a voice session in which nothing has been said yet."""
    return Voice(turns.on("phone", external_id="caller", phone="+393331234567"))
