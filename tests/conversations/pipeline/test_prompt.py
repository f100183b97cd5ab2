"""The reply prompt: labeled sections, the variant for the hour, and a byte-identical stable part."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from conversations.common.business_hours import working_status
from conversations.common.channels import traits_of
from conversations.context.turn_context import context_after, context_before
from conversations.models import Conversation, Directives, PromptSection, Summary
from conversations.prompts import reply, thoughts
from conversations.turns.services import give_fields
from llm import prompts
from projects.models.agent_config import AgentConfig
from tests.conversations.pipeline.conftest import begin, configure, job_of, last_prompt, load_context, prompts_of
from tests.conversations.waiting.conftest import FREE, TOOL, answered, planned
from tools.models import Effect

pytestmark = pytest.mark.standing_worker

MONDAY = datetime(2026, 11, 16, 12, tzinfo=UTC)
NOTHING_TO_DO = {key: [] for key in ("instructions", "to_collect", "known", "tools_pending", "avoid")}
NEXT_STEP = {"scenario": "1, Book", "step": "1.2, Ask for the time", "goal": "Know the time."}
HOURS = {"hours": {"mon": [["09:00", "18:00"]], "sun": [["01:30", "04:00"]]}, "holidays": ["2026-12-25"]}


def test_two_turns_of_a_conversation_have_the_same_stable_prompt(talk, worker, model) -> None:
    """Byte for byte, although facts, directives and actions changed in between."""
    for words in ("I'm Giulia, a table for Friday please", "+39 347 555 0142", "At seven, please text me"):
        talk.exchange(words)
    stable = {request["messages"][0]["content"] for request in model.requests("reply")}
    assert len(stable) == 1


def test_two_conversations_of_a_project_and_channel_have_the_same_stable_prompt(tenant) -> None:
    one, other = begin(tenant), begin(tenant, external_id="another")
    first = prompts_of(one, one.say("Hello, I'm Giulia"), at=MONDAY)
    second = prompts_of(other, other.say("Do you have vegan dishes?"), at=MONDAY)
    assert first[0].encode() == second[0].encode()


def test_the_stable_prompt_is_the_same_in_every_process(tenant, monkeypatch) -> None:
    """Rendered anew an hour later for another customer, with directives and an action."""
    configure(tenant, **HOURS)
    one, other = begin(tenant), begin(tenant, external_id="another")
    first = prompts_of(one, one.say("Hello, I'm Giulia"), at=MONDAY)
    turn = answered(other)
    planned(other, turn)
    with tenant.tx():
        give_fields(other.reload().persona, {"name": "Marco"})
        standing = Directives.objects.create(
            conversation=other.conversation, turn=turn, version=1, document={**NOTHING_TO_DO, **NEXT_STEP}
        )
        Conversation.objects.filter(pk=other.conversation.pk).update(directives=standing, recovery="It drags on.")
    monkeypatch.setattr(prompts, "_systems", {})
    second = prompts_of(other, other.say("Do you have vegan dishes?"), at=MONDAY + timedelta(hours=1))
    assert first[0].encode() == second[0].encode()
    assert "Know the time." in second[-1]


def test_the_stable_prompt_comes_first_and_the_volatile_one_last(talk, worker, model) -> None:
    talk.exchange("Hello")
    talk.exchange("A table for two")
    first, *middle, last = model.requests("reply")[-1]["messages"]
    assert first["role"] == "system"
    assert [message["role"] for message in middle] == ["user", "assistant"]
    assert "<Now>" in last["content"]
    assert "<Now>" not in first["content"]


@pytest.mark.requirement("T04")
@pytest.mark.parametrize("section", ["BusinessContext", "Scenarios", "Procedures"])
def test_the_businesss_own_texts_are_labeled_sections(section, talk) -> None:
    stable = prompts_of(talk, talk.say("Hello"))[0]
    assert f"<{section}>" in stable
    assert f"</{section}>" in stable


@pytest.mark.requirement("T04")
def test_scenarios_have_numbered_steps(talk) -> None:
    stable = prompts_of(talk, talk.say("Hello"))[0]
    assert "Scenario 1: Book a table\n1.1 Ask for a phone number" in stable


@pytest.mark.requirement("T04")
def test_a_step_lists_the_tools_that_may_be_promised(talk) -> None:
    """By their names in ActionStates. Steps without tools say nothing of it, nor does a business without such steps."""
    configure(talk.tenant, scenarios=[{"title": "Talk", "steps": [{"text": "Say hello", "collects": [], "tools": []}]}])
    assert "Behind a step" not in prompts_of(talk, talk.say("Hello"))[0]
    step = {"text": "Book it", "collects": ["name"], "tools": ["create_booking_tool", "send_sms_tool"]}
    plain = {"text": "Say goodbye", "collects": [], "tools": []}
    configure(talk.tenant, scenarios=[{"title": "Book a table", "steps": [step, plain]}])
    stable = prompts_of(talk, talk.say("Hello"))[0]
    assert "1.1 Book it (may promise: create_booking_tool, send_sms_tool)\n1.2 Say goodbye\n</Scenarios>" in stable
    assert "Behind a step stands what may be promised in it; never say its name." in stable


@pytest.mark.requirement("T04")
def test_prompts_contain_every_scenario_step_and_procedure(talk) -> None:
    """Two scenarios and two procedures, complete in the agent's and the supervisor's prompt."""
    steps = [{"text": "Ask for the day."}, {"text": "Ask for the time."}, {"text": "Read it back."}]
    configure(
        talk.tenant,
        business_context="Nello cooks for twelve tables.",
        scenarios=[{"title": "Book", "steps": steps}, {"title": "Complain", "steps": [{"text": "Listen first."}]}],
        procedures=[{"title": "Dogs", "text": "On the terrace."}, {"title": "Cards", "text": "All are taken."}],
    )
    turn = talk.say("Hello")
    with talk.tenant.tx():
        supervisor = thoughts.build_request(context_before(job_of(turn))).messages[0]["content"]
    for stable in (prompts_of(talk, turn)[0], supervisor):
        assert "<BusinessContext>\nNello cooks for twelve tables.\n</BusinessContext>" in stable
        assert "Scenario 1: Book\n1.1 Ask for the day.\n1.2 Ask for the time.\n1.3 Read it back.\n" in stable
        assert "Scenario 2: Complain\n2.1 Listen first.\n" in stable
        assert "- Dogs: On the terrace.\n- Cards: All are taken.\n</Procedures>" in stable


@pytest.mark.requirement("T07")
def test_a_pending_action_is_shown(talk) -> None:
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


@pytest.mark.requirement("T07")
def test_the_ten_newest_actions_are_shown_in_order(talk) -> None:
    turn = answered(talk)
    for number in range(12):
        planned(talk, turn, tool=f"tool_{number}")
    shown = re.findall(r"^- tool_(\d+): pending$", prompts_of(talk, talk.say("And?"))[-1], re.MULTILINE)
    assert shown == [str(number) for number in range(2, 12)]


@pytest.mark.requirement("T08")
def test_no_knowledge_section_when_it_is_disabled(talk) -> None:
    assert not any("Knowledge" in prompt for prompt in prompts_of(talk, talk.say("Hello")))


@pytest.mark.requirement("T05")
@pytest.mark.parametrize(
    ("at", "variant"),
    [
        (datetime(2026, 11, 16, 16, 59, tzinfo=UTC), "working"),
        (datetime(2026, 11, 16, 17, 0, tzinfo=UTC), "non_working"),
        (datetime(2026, 7, 13, 15, 59, tzinfo=UTC), "working"),
        (datetime(2026, 7, 13, 16, 0, tzinfo=UTC), "non_working"),
    ],
)
def test_intents_switch_at_local_closing_time(at, variant, tenant) -> None:
    """18:00 in Rome, an hour earlier in UTC in summer."""
    config = configure(tenant, **HOURS)
    talk = begin(tenant)
    stable = prompts_of(talk, talk.say("Hello"), at=at)[0]
    assert f'<Intents hours="{variant}">' in stable
    assert f"- {config.intents[0].name}: {getattr(config.intents[0], f'{variant}_hours')}" in stable


@pytest.mark.requirement("T05")
def test_prompts_of_a_conversation_change_with_the_hour(tenant) -> None:
    """The cached stable prompt is kept per variant, for the agent and the supervisor."""
    configure(tenant, **HOURS)
    talk = begin(tenant)
    turn = talk.say("Hello")
    for hour, variant in ((12, "working"), (20, "non_working"), (12, "working")):
        context = load_context(talk, turn, at=MONDAY.replace(hour=hour))
        with tenant.tx():
            requests = reply.build_prompt(context).request, thoughts.build_request(context)
        intents = [f"- {intent.name}: {getattr(intent, f'{variant}_hours')}" for intent in context.config.intents]
        section = "\n".join([f'<Intents hours="{variant}">', *intents, "</Intents>"])
        assert all(section in request.messages[0]["content"] for request in requests)


def test_each_channel_of_a_project_has_its_own_rules(tenant) -> None:
    """The cache keeps channels apart."""
    rules = {channel: traits_of(channel).rules for channel in ("chat", "phone", "whatsapp")}
    for channel in rules:
        talk = begin(tenant, channel=channel)
        stable = prompts_of(talk, talk.say("Hello"), at=MONDAY)[0]
        assert {other for other, words in rules.items() if words in stable} == {channel}


@pytest.mark.requirement("T05")
def test_the_time_is_that_of_the_reply(talk) -> None:
    """A conversation that started before closing time continues after it."""
    with talk.tenant.tx():
        Conversation.objects.filter(pk=talk.conversation.pk).update(created_at=MONDAY - timedelta(days=700))
    assert timezone.now() - load_context(talk, talk.say("Hello")).at < timedelta(minutes=5)


@pytest.mark.requirement("T18")
def test_the_reply_prompt_has_the_time_and_why_it_is_closed(tenant) -> None:
    """The reason stored on the turn, in the project's time zone."""
    configure(tenant, **HOURS)
    talk = begin(tenant)
    volatile = prompts_of(talk, talk.say("Hello"), at=MONDAY.replace(hour=6))[-1]
    assert "<Now>Monday 16 November 2026, 07:00, closed: opens at 09:00 today</Now>" in volatile


@pytest.mark.requirement("T05")
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
def test_hours_are_right_on_days_of_a_clock_change(at, is_open) -> None:
    """Open from 01:30 to 04:00 on Sundays."""
    assert working_status(rome(), at=at).is_open is is_open


@pytest.mark.requirement("T05", "T18")
def test_a_holiday_is_closed_and_says_so() -> None:
    status = working_status(rome(hours={"fri": [("09:00", "18:00")]}), at=datetime(2026, 12, 25, 11, tzinfo=UTC))
    assert (status.is_open, status.reason) == (False, "2026-12-25 is a holiday")


@pytest.mark.requirement("T05", "T18")
def test_an_always_open_business_closes_on_holidays() -> None:
    """Like its booking book."""
    open_all_week = rome(hours={})
    noon = datetime(2026, 12, 24, 11, tzinfo=UTC)
    assert working_status(open_all_week, at=noon).line == "open: no working hours are set"
    assert working_status(open_all_week, at=noon + timedelta(days=1)).line == "closed: 2026-12-25 is a holiday"


@pytest.mark.requirement("T05", "T18")
@pytest.mark.parametrize(
    ("at", "reason"),
    [
        # Christmas begins and ends at midnight in Rome, an hour before the world's.
        (datetime(2026, 12, 24, 22, 59, tzinfo=UTC), "open from 18:00 to 24:00 today"),
        (datetime(2026, 12, 24, 23, 0, tzinfo=UTC), "2026-12-25 is a holiday"),
        (datetime(2026, 12, 25, 22, 59, tzinfo=UTC), "2026-12-25 is a holiday"),
        # The night that goes on past midnight is a span of its own day.
        (datetime(2026, 12, 25, 23, 0, tzinfo=UTC), "open from 00:00 to 02:00 today"),
        (datetime(2026, 12, 26, 1, 0, tzinfo=UTC), "opens at 12:00 today"),
        (datetime(2026, 12, 26, 12, 0, tzinfo=UTC), "open from 12:00 to 14:30 today"),
        (datetime(2026, 12, 26, 14, 0, tzinfo=UTC), "opens at 18:00 today"),
        (datetime(2026, 12, 26, 18, 0, tzinfo=UTC), "open from 18:00 to 23:00 today"),
        (datetime(2026, 12, 26, 22, 0, tzinfo=UTC), "closed for today"),
    ],
)
def test_days_start_at_local_midnight(at, reason) -> None:
    """For weekdays and holidays, with every span of a day."""
    week = {"thu": [("18:00", "24:00")], "sat": [("00:00", "02:00"), ("12:00", "14:30"), ("18:00", "23:00")]}
    status = working_status(rome(hours={**week, "fri": [("00:00", "24:00")]}), at=at)
    assert (status.is_open, status.reason) == (reason.startswith("open from"), reason)


@pytest.mark.requirement("T05")
@pytest.mark.parametrize(
    ("at", "reason"),
    [
        (datetime(2026, 12, 24, 22, 59, tzinfo=UTC), "open from 20:00 to 24:00 today"),
        (datetime(2026, 12, 24, 23, 30, tzinfo=UTC), "open from 00:00 to 02:00 today"),
        (datetime(2026, 12, 25, 1, 0, tzinfo=UTC), "2026-12-25 is a holiday"),
        (datetime(2026, 12, 25, 22, 59, tzinfo=UTC), "2026-12-25 is a holiday"),
        (datetime(2026, 12, 25, 23, 30, tzinfo=UTC), "opens at 20:00 today"),
        (datetime(2026, 12, 26, 23, 30, tzinfo=UTC), "open from 00:00 to 02:00 today"),
    ],
)
def test_an_overnight_span_belongs_to_the_day_it_started(at, reason) -> None:
    """It continues into a holiday until it ends, and none starts on a holiday."""
    nights = {day: [("00:00", "02:00"), ("20:00", "24:00")] for day in ("thu", "fri", "sat", "sun")}
    status = working_status(rome(hours=nights), at=at)
    assert (status.is_open, status.reason) == (reason.startswith("open from"), reason)


def rome(**changes) -> AgentConfig:
    return AgentConfig(agent_name="A", business_name="B", timezone="Europe/Rome", **{**HOURS, **changes})


@pytest.mark.requirement("T14")
def test_the_thoughts_prompt_has_all_of_the_agents_rules(talk, worker, model) -> None:
    """The full supervisor context, as stored with the call."""
    talk.exchange("I'm Giulia, do you have a table?")
    talk.exchange("On Friday at seven")
    stable = model.requests("thoughts")[-1]["messages"][0]["content"]
    volatile = last_prompt(model, "thoughts")
    assert all(f"<{tag}" in stable for tag in ("BusinessContext", "Scenarios", "Procedures", "Intents"))
    assert all(f"<{tag}" in volatile for tag in ("KnownFacts", "ActionStates", "PreviousDirectives", "Conversation"))


@pytest.mark.requirement("T14")
def test_the_supervisor_prompt_has_everything_that_guides_the_agent(talk) -> None:
    """Facts, actions and requests, the quality, and the transcript so far."""
    first = answered(talk, "Hello")
    effect = planned(talk, first)
    with talk.tenant.tx():
        Effect.objects.filter(pk=effect.pk).update(state="done", told=FREE, result={"free": True})
        PromptSection.objects.create(conversation=talk.conversation, name="Loyalty", content="A guest since 2019.")
        give_fields(talk.reload().persona, {"name": "Giulia Ferri"})
        standing = Directives.objects.create(
            conversation=talk.conversation, turn=first, version=3, document={**NOTHING_TO_DO, **NEXT_STEP}
        )
        summary = Summary.objects.create(conversation=talk.conversation, until_seq=2, text="She can't eat lupins.")
        Conversation.objects.update(recovery="Nobody listened.", directives=standing, summary=summary)
    turn = answered(talk, "And now?", "One moment.")
    with talk.tenant.tx():
        prompt = thoughts.build_request(context_after(job_of(turn))).messages[1]["content"]
    assert ", channel chat</Now>\n<KnownFacts>\nname: Giulia Ferri\n</KnownFacts>" in prompt
    assert f"<ActionStates>\n- {TOOL}: done, {FREE}\n</ActionStates>" in prompt
    assert '<Section name="Loyalty">\nA guest since 2019.\n</Section>' in prompt
    assert "<Recovery>\nNobody listened.\n</Recovery>" in prompt
    assert '<PreviousDirectives version="3">\nscenario: 1, Book\nstep: 1.2, Ask for the time\ngoal: Know' in prompt
    assert "<Summary>\nShe can't eat lupins.\n</Summary>" in prompt
    assert "<Conversation>\ncustomer: And now?\nagent: One moment.\n</Conversation>" in prompt


@pytest.mark.requirement("T14", "T15")
def test_the_supervisor_prompt_lists_what_each_step_collects(talk) -> None:
    """These are the fields a scenario still needs."""
    step = {"text": "Ask when.", "collects": ["date", "time"]}
    configure(talk.tenant, scenarios=[{"title": "Book", "steps": [step]}])
    context = load_context(talk, talk.say("Hello"))
    assert "1.1 Ask when. (collects: date, time)" in thoughts.build_request(context).messages[0]["content"]


@pytest.mark.requirement("T14")
def test_the_supervisor_prompt_is_stored_with_its_call(talk, worker, api) -> None:
    turn = talk.exchange("Do you have a table?")
    [call] = [call for call in turn["model_calls"] if call["skill"] == "thoughts"]
    stored = api.get(f"/api/v1/model-calls/{call['id']}").json()
    assert "<Scenarios>" in stored["messages"][0]["content"]
    assert "Do you have a table?" in stored["messages"][1]["content"]
