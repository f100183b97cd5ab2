"""The reply's prompt: its labelled sections, the variant of the hour, and the stable part byte by byte."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from conversations.hours import working_status
from projects.agent import AgentConfig
from tests.pipeline.conftest import begin, configure, last_prompt, prompts_of
from tools.models import Effect

pytestmark = pytest.mark.standing_worker

MONDAY = datetime(2026, 11, 16, 12, tzinfo=UTC)
HOURS = {"hours": {"mon": [["09:00", "18:00"]], "sun": [["01:30", "04:00"]]}, "holidays": ["2026-12-25"]}


def test_two_turns_of_a_conversation_have_the_same_stable_prompt(talk, worker, model) -> None:
    """Byte by byte, with everything that changed between them: facts, directives, actions."""
    for words in ("I'm Giulia, a table for Friday please", "+39 347 555 0142", "At seven, please text me"):
        talk.exchange(words)
    stable = {request["messages"][0]["content"] for request in model.requests("reply")}
    assert len(stable) == 1


def test_two_conversations_of_a_project_and_channel_have_the_same_stable_prompt(tenant) -> None:
    one, other = begin(tenant), begin(tenant, external_id="another")
    first = prompts_of(one, one.say("Hello, I'm Giulia"), at=MONDAY)
    second = prompts_of(other, other.say("Do you have vegan dishes?"), at=MONDAY)
    assert first[0].encode() == second[0].encode()


def test_the_stable_prompt_comes_first_and_what_changes_last(talk, worker, model) -> None:
    talk.exchange("Hello")
    talk.exchange("A table for two")
    first, *middle, last = model.requests("reply")[-1]["messages"]
    assert first["role"] == "system"
    assert [message["role"] for message in middle] == ["user", "assistant"]
    assert "<Now>" in last["content"]
    assert "<Now>" not in first["content"]


@pytest.mark.parametrize("section", ["BusinessContext", "Scenarios", "Procedures"])
def test_the_business_s_own_words_are_labelled_sections(section, talk) -> None:
    """T04"""
    stable = prompts_of(talk, talk.say("Hello"))[0]
    assert f"<{section}>" in stable
    assert f"</{section}>" in stable


def test_scenarios_have_numbered_steps(talk) -> None:
    """T04"""
    stable = prompts_of(talk, talk.say("Hello"))[0]
    assert "Scenario 1: Book a table\n1.1 Ask for a phone number" in stable


def test_a_pending_action_is_shown(talk) -> None:
    """T07"""
    turn = talk.say("Hello")
    with talk.tenant.tx():
        Effect.objects.create(
            project_id=talk.tenant.project.pk,
            conversation_id=talk.conversation.pk,
            turn_id=turn.pk,
            effect_key="k",
            tool="check_availability_tool",
            kind="availability",
            delivery="once",
            definition={},
        )
    assert "<ActionStates>\n- check_availability_tool: pending" in prompts_of(talk, turn)[-1]


def test_there_is_no_section_of_knowledge_when_it_is_off(talk) -> None:
    """T08"""
    assert not any("Knowledge" in prompt for prompt in prompts_of(talk, talk.say("Hello")))


@pytest.mark.parametrize(
    ("at", "variant"),
    [
        (datetime(2026, 11, 16, 16, 59, tzinfo=UTC), "working"),
        (datetime(2026, 11, 16, 17, 0, tzinfo=UTC), "non_working"),
        (datetime(2026, 7, 13, 15, 59, tzinfo=UTC), "working"),
        (datetime(2026, 7, 13, 16, 0, tzinfo=UTC), "non_working"),
    ],
)
def test_the_intents_switch_at_closing_time_where_the_business_is(at, variant, tenant) -> None:
    """T05: 18:00 in Rome, an hour earlier by the world's clock in summer."""
    config = configure(tenant, **HOURS)
    talk = begin(tenant)
    stable = prompts_of(talk, talk.say("Hello"), at=at)[0]
    assert f'<Intents hours="{variant}">' in stable
    assert f"- {config.intents[0].name}: {getattr(config.intents[0], f'{variant}_hours')}" in stable


@pytest.mark.parametrize(
    ("at", "is_open"),
    [
        # 29 March 2026: 02:00 to 03:00 doesn't exist in Rome.
        (datetime(2026, 3, 29, 0, 29, tzinfo=UTC), False),
        (datetime(2026, 3, 29, 0, 30, tzinfo=UTC), True),
        (datetime(2026, 3, 29, 1, 59, tzinfo=UTC), True),
        (datetime(2026, 3, 29, 2, 0, tzinfo=UTC), False),
        # 25 October 2026: 02:00 to 03:00 comes twice.
        (datetime(2026, 10, 24, 23, 29, tzinfo=UTC), False),
        (datetime(2026, 10, 24, 23, 30, tzinfo=UTC), True),
        (datetime(2026, 10, 25, 2, 59, tzinfo=UTC), True),
        (datetime(2026, 10, 25, 3, 0, tzinfo=UTC), False),
    ],
)
def test_hours_hold_on_the_days_the_clocks_change(at, is_open) -> None:
    """T05: open from 01:30 to 04:00 on Sundays."""
    assert working_status(rome(), at=at).is_open is is_open


def test_a_holiday_is_closed_and_says_so() -> None:
    """T05, T18"""
    status = working_status(rome(hours={"fri": [("09:00", "18:00")]}), at=datetime(2026, 12, 25, 11, tzinfo=UTC))
    assert (status.is_open, status.reason) == (False, "2026-12-25 is a holiday")


def rome(**changes) -> AgentConfig:
    return AgentConfig(agent_name="A", business_name="B", timezone="Europe/Rome", **{**HOURS, **changes})


def test_thoughts_see_all_that_the_agent_has_to_follow(talk, worker, model) -> None:
    """T14: the full supervisor context, as it is stored with the call."""
    talk.exchange("I'm Giulia, do you have a table?")
    talk.exchange("On Friday at seven")
    stable = model.requests("thoughts")[-1]["messages"][0]["content"]
    volatile = last_prompt(model, "thoughts")
    assert all(f"<{tag}" in stable for tag in ("BusinessContext", "Scenarios", "Procedures", "Intents"))
    assert all(f"<{tag}" in volatile for tag in ("KnownFacts", "ActionStates", "PreviousDirectives", "Conversation"))


def test_the_supervisor_s_context_is_stored_with_its_call(talk, worker, api) -> None:
    """T14"""
    turn = talk.exchange("Do you have a table?")
    [call] = [call for call in turn["model_calls"] if call["skill"] == "thoughts"]
    stored = api.get(f"/api/v1/model-calls/{call['id']}").json()
    assert "<Scenarios>" in stored["messages"][0]["content"]
    assert "Do you have a table?" in stored["messages"][1]["content"]
