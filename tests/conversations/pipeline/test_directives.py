"""KEY DIRECTIVES: their author, their format and their conversation."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from conversations.common.prompt_shapes import DirectivesView, Fact
from conversations.context.turn_context import context_after
from conversations.flows import thoughts
from conversations.live.event_log import open_log
from conversations.models import Conversation, Directives, MessageRole, Origin
from conversations.prompts.observer import Quality
from conversations.prompts.session import SessionContext, update_text
from conversations.prompts.thoughts import KeyDirectives
from conversations.turns.services import give_fields
from tests.conversations.pipeline.conftest import Talk, begin, job_of, last_prompt, prompts_of
from tests.conversations.waiting.conftest import answered
from tests.reference_cycles import reference_cycles

ROOT = Path(__file__).resolve().parents[3]
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
FULL: dict[str, Any] = {
    "instructions": ["Ask for the day.", "Offer Friday."],
    "to_collect": ["date", "time"],
    "known": [{"field": "party_size", "value": "6"}, {"field": "wish", "value": "a quiet table"}],
    "tools_pending": ["check_availability_tool"],
    "avoid": ["Promise a table.", "Ask for the name again."],
}
PROMPTED = """<CurrentTaskAnalysis version="3">
scenario: 1 Booking
step: 1.1 Ask for the day
goal of the next reply: Know the day.
1. Ask for the day.
2. Offer Friday.
known: party_size: 6
known: wish: a quiet table
still to collect: date, time
tools pending: check_availability_tool
do not: Promise a table.
do not: Ask for the name again.
</CurrentTaskAnalysis>"""


def test_only_the_thoughts_flow_writes_directives() -> None:
    """Both the rows and the pointer to the current ones. Rows never change."""
    writers = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "conversations").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if is_written(node)
    }
    assert writers == {"conversations/flows/thoughts.py"}


def is_written(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) in ("Directives", "Directives.objects.create")
    is_set = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    return is_set and ast.unparse(node).endswith((".directives", ".directives_turn", ".directives_id"))


@pytest.mark.requirement("T15")
@pytest.mark.parametrize("missing", WRITTEN)
def test_directives_are_a_typed_object_with_every_field(missing: str) -> None:
    assert KeyDirectives.model_validate(WRITTEN).model_dump() == WRITTEN
    with pytest.raises(ValidationError, match=missing):
        KeyDirectives.model_validate({key: value for key, value in WRITTEN.items() if key != missing})


@pytest.mark.requirement("T13")
def test_thoughts_of_an_older_turn_never_replace_newer_ones(talk: Talk) -> None:
    """For example when staff rerun a failed job later. Newer directives get the next version."""
    first, second, third = (answered(talk, words) for words in ("Hello", "A table", "On Friday"))
    for turn, goal in ((second, "Know the day."), (first, "Greet."), (third, "Know the time.")):
        written = KeyDirectives.model_validate({**WRITTEN, "goal": goal})
        with talk.tenant.tx():
            context = context_after(job_of(turn))
            with open_log(talk.conversation.pk) as log:
                thoughts._write(log, job_of(turn, lane="thoughts"), context, written, [])
    with talk.tenant.tx():
        rows = Directives.objects.order_by("version").values_list("version", "turn__seq", "document__goal")
        assert list(rows) == [(1, 2, "Know the day."), (2, 3, "Know the time.")]
    assert talk.reload().directives.turn_id == third.pk


def test_replies_and_thoughts_leave_no_reference_cycles(talk: Talk) -> None:
    """Only a garbage collection would free them, which stops every thread of a worker."""
    written, turn = KeyDirectives.model_validate(WRITTEN), answered(talk)
    with talk.tenant.tx():
        context = context_after(job_of(turn))
    with reference_cycles() as left:
        with talk.tenant.tx(), open_log(talk.conversation.pk) as log:
            later = log.add_turn(Origin.URGENT)
            later.reply = log.add_message(MessageRole.AGENT, "Hello!", turn=later, idn="agent_message")
            thoughts._write(log, job_of(turn, lane="thoughts"), context, written, [])
        del log, later
    assert not left.keys() & {"Conversation", "Directives", "Message", "Turn"}


def prompt_after(talk: Talk, **written: Any) -> str:
    """The volatile prompt of a reply that follows directives."""
    turn = answered(talk)
    with talk.tenant.tx():
        document = KeyDirectives.model_validate({**WRITTEN, **written}).model_dump(mode="json")
        directives = Directives.objects.create(conversation=talk.conversation, turn=turn, version=3, document=document)
        Conversation.objects.filter(pk=talk.conversation.pk).update(directives=directives, directives_turn=turn.seq)
    return prompts_of(talk, talk.say("And now?"))[-1]


@pytest.mark.requirement("T15", "T20")
def test_the_next_prompt_holds_every_part_of_the_directives(talk: Talk) -> None:
    """Scenario and step first, then the instructions in order."""
    assert PROMPTED in prompt_after(talk, **FULL)


@pytest.mark.requirement("T28")
def test_voice_updates_word_directives_like_the_prompt() -> None:
    """An update has the text of the next prompt."""
    known = [Fact(**fact) for fact in FULL["known"]]
    view = DirectivesView(version=3, **{**WRITTEN, **FULL, "known": known})
    assert update_text(SessionContext(directives=view)) == PROMPTED


def test_directives_omit_facts_that_are_known_by_now(talk: Talk) -> None:
    """The customer's own value for the same field is newer."""
    with talk.tenant.tx():
        give_fields(talk.reload().persona, {"name": "Giulia Ferri"})
    prompt = prompt_after(talk, known=[{"field": "name", "value": "Marco"}, {"field": "date", "value": "Friday"}])
    assert "known: date: Friday" in prompt
    assert "Marco" not in prompt


@pytest.mark.requirement("T19")
@pytest.mark.parametrize("score", [0, 11, 3.5, "good"])
def test_a_quality_score_is_a_whole_number_from_one_to_ten(score: object) -> None:
    with pytest.raises(ValidationError):
        Quality.model_validate({"score": score, "reason": "because"})


@pytest.mark.requirement("T20")
def test_each_conversation_of_a_customer_has_its_own_directives(tenant, worker, model) -> None:
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
