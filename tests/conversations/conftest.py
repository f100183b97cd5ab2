from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from conversations.common.turn_detail import turn_payload
from conversations.models import Conversation, Turn
from conversations.turns.services import post_message, start_conversation
from tests.api.documented import deviations
from tests.conftest import Tenant
from tests.crashes.invariants import settle
from tests.processes import ForkServer, until


@dataclass
class Talk:
    """A conversation, from the customer's side."""

    tenant: Tenant
    conversation: Conversation

    def say(self, words: str) -> Turn:
        """Post a message without waiting."""
        with self.tenant.tx():
            return post_message(self.conversation.pk, words).turn

    def turn(self, turn: Turn) -> dict[str, Any]:
        with self.tenant.tx():
            found = Turn.objects.select_related("reply", "directives_used").get(pk=turn.pk)
            return turn_payload(found)

    def exchange(self, words: str) -> dict[str, Any]:
        """Post a message and wait for its reply and every flow after it. The turn is checked against the document."""
        turn = self.say(words)
        settle(self.tenant)
        found = self.turn(turn)
        assert not deviations("Turn", found)
        return found

    def until_turn(self, turn: Turn, holds: Callable[[dict[str, Any]], Any], *, seconds: float = 60) -> dict[str, Any]:
        """Wait until a condition holds for the turn."""
        until(lambda: holds(self.turn(turn)), seconds=seconds, what=f"what turn {turn.seq} should become")
        return self.turn(turn)

    def reload(self) -> Conversation:
        with self.tenant.tx():
            self.conversation = Conversation.objects.select_related("persona", "directives").get(
                pk=self.conversation.pk
            )
        return self.conversation


@pytest.fixture
def talk(tenant: Tenant) -> Talk:
    return begin(tenant)


def begin(tenant: Tenant, *, channel: str = "chat", external_id: str = "guest") -> Talk:
    with tenant.tx():
        conversation = start_conversation(
            tenant.project, channel=channel, external_id=external_id, known={}, metadata={}
        )
    return Talk(tenant=tenant, conversation=conversation)


@pytest.fixture
def worker(request: pytest.FixtureRequest, processes: ForkServer):
    """A worker process for all lanes. Consecutive tests marked `standing_worker` share one."""
    return processes.standing_worker() if request.node.get_closest_marker("standing_worker") else processes.worker()
