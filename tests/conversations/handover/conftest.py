from __future__ import annotations

from typing import Any

import pytest

from projects.models import User
from tests.conversations.tool_runs.conftest import turns as turns
from tests.conversations.tool_runs.turns import Turns


@pytest.fixture
def lucia(operator: User) -> User:
    """An operator; customers see the first name."""
    operator.first_name, operator.last_name = "Lucia", "Marchetti"
    operator.save()
    return operator


@pytest.fixture
def help_center(turns: Turns) -> Turns:
    turns.configure(vertical="help_center")
    return turns


def offer(turns: Turns, reason: str = "The wedding") -> dict[str, Any]:
    """Let the agent offer a person, and return the block."""
    turns.calls_tool("escalate_to_human", {"reason": reason})
    turns.says("There is a button below.")
    return turns.block(turns.say("I would like to talk to a person."))
