"""KEY DIRECTIVES: who writes them, in which form, for which conversation."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from pydantic import ValidationError

from conversations.models import Directives
from conversations.skills.observer import Quality
from conversations.skills.thoughts import KeyDirectives
from tests.pipeline.conftest import begin, last_prompt

ROOT = Path(__file__).resolve().parent.parent.parent
WRITTEN = {
    "scenario": "1 Booking",
    "step": "1.1 Ask for the day",
    "goal": "Know the day.",
    "instructions": ["Ask for the day."],
    "to_collect": ["date"],
    "known": [],
    "tools_pending": [],
    "avoid": [],
}


def test_nothing_but_the_thoughts_flow_writes_directives() -> None:
    """D5"""
    writers = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "conversations").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("Directives", "Directives.objects.create")
    }
    assert writers == {"conversations/flows/thoughts.py"}


@pytest.mark.parametrize("missing", WRITTEN)
def test_directives_are_a_typed_object_with_every_field(missing: str) -> None:
    """D11"""
    assert KeyDirectives.model_validate(WRITTEN).model_dump() == WRITTEN
    with pytest.raises(ValidationError, match=missing):
        KeyDirectives.model_validate({key: value for key, value in WRITTEN.items() if key != missing})


@pytest.mark.parametrize("score", [0, 11, 3.5, "good"])
def test_a_quality_score_is_a_whole_number_from_one_to_ten(score: object) -> None:
    """D12"""
    with pytest.raises(ValidationError):
        Quality.model_validate({"score": score, "reason": "because"})


def test_two_conversations_of_one_customer_have_directives_of_their_own(tenant, worker, model) -> None:
    """D22"""
    booking, complaint = begin(tenant), begin(tenant)
    assert booking.conversation.persona_id == complaint.conversation.persona_id
    model.script("thoughts", json={**WRITTEN, "goal": "Know the day."})
    booking.exchange("I'd like to book a table")
    model.script("thoughts", json={**WRITTEN, "goal": "Put it right."})
    complaint.exchange("My soup was cold")
    with tenant.tx():
        assert Directives.objects.count() == 2
    booking.exchange("On Friday")
    prompt = last_prompt(model, "reply")
    assert "Know the day." in prompt
    assert "Put it right." not in prompt
