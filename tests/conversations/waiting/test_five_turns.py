"""The reference example of five turns, with real workers, the booking book and the offline model."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conversations.waiting.conftest import TOOL, outcomes
from tests.crashes.invariants import settle
from tools.models import Effect

SAYS = (
    "Hello, I'd like to book a table for four on Friday",
    "Around 7 would be perfect",
    "+39 347 555 0142",
    "Giulia Ferri",
)


@pytest.mark.requirement("T26")
def test_the_five_turns_of_the_reference_example(talk, worker) -> None:
    """Routing, the phone number at 1.1, the name at 1.2, the trigger phrase with waiting mode, and the result."""
    greeted, asked_phone, asked_name, checks = (talk.exchange(words) for words in SAYS)
    settle(talk.tenant)
    told = newest(talk)
    assert [observed(turn) for turn in (greeted, asked_name, checks)] == ["en", "+393475550142", "Giulia Ferri"]
    assert [leads_to(turn) for turn in (greeted, asked_phone)] == ["1.1", "1.2"]
    assert "phone" in asked_phone["reply"]["content"]
    assert "name" in asked_name["reply"]["content"]
    assert "Let me check availability for Friday at 7 PM" in checks["reply"]["content"]
    assert [verdict["tool"] for verdict in checks["verdicts"] if verdict["fired"]] == [TOOL]
    assert waiting_was_on(talk)
    assert outcomes(talk) == ["result"]
    assert told["origin"] == "urgent"
    assert result_of(talk) in str(told["directives_written"])


def observed(turn: dict[str, Any]) -> str:
    """The observed fact of the row."""
    facts = {fact["field"]: fact["value"] for fact in turn["observed"]}
    return next(str(facts[name]) for name in ("language", "phone", "name") if name in facts)


def leads_to(turn: dict[str, Any]) -> str:
    return str(turn["directives_written"]["step"].split(",")[0])


def newest(talk) -> dict[str, Any]:
    with talk.tenant.tx():
        last = talk.conversation.turns.latest("seq")
    return dict(talk.turn(last))


def waiting_was_on(talk) -> bool:
    with talk.tenant.tx():
        return bool(talk.conversation.events.filter(idn="convoagent_activate_waiting_mode").exists())


def result_of(talk) -> str:
    with talk.tenant.tx():
        return str(Effect.objects.get(tool=TOOL).told)
