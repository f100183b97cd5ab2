"""AnalyzeConversation: its nine steps in order, and their stored results."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conversations.followups.follow_ups import next_follow_up
from conversations.live.event_log import open_log
from conversations.models import Summary, Turn
from jobs.models import Job
from projects.records.attributes import set_attribute
from tests.conversations.promises.conftest import ASKS_UNSERVED, LINK, PROMISE, SMS, Desk, begin, fired
from tools.engine.analysis.conflicts import identify_conflicts
from tools.engine.analysis.steps import candidates, compiled_object, contested_of
from tools.engine.builtin_tool import define
from tools.engine.business_state import BusinessState
from tools.engine.catalogue import merge_tools
from tools.engine.definition import ToolDefinition
from tools.engine.skills.detect import (
    AS_ABOVE,
    ConditionReading,
    Detection,
    Exchange,
    Rule,
    ToolReading,
    TranscriptLine,
    tool_lines,
)
from tools.engine.verdicts import FIRES, REASONS, Judgement, judge

NAMES = [
    "Compile tools",
    "Group tools",
    "Evaluate tools without history",
    "Evaluate tools with history",
    "Identify conflicts",
    "Resolve conflicts",
    "Execute tools",
    "Update follow-up timer",
    "Set conversation state",
]
GROUPS = ["compilation"] * 2 + ["detection"] * 2 + ["conflict"] * 2 + ["execution"] * 3


@pytest.mark.requirement("N03", "N04")
def test_the_trace_lists_the_nine_steps_by_name_and_group(desk: Desk) -> None:
    steps = desk.analyse(PROMISE)["analysis"]
    assert [step["number"] for step in steps] == list(range(1, 10))
    assert [step["name"] for step in steps] == NAMES
    assert [step["group"] for step in steps] == GROUPS


@pytest.mark.requirement("N04", "N13")
def test_a_turn_without_tools_also_has_all_nine_steps(desk: Desk) -> None:
    turn = desk.analyse("We open at noon.")
    assert [step["name"] for step in turn["analysis"]] == NAMES
    assert turn["tools_called"] is False
    assert desk.steps(turn)[9] == {"tools_called": False, "waiting": False}


@pytest.mark.requirement("N05")
def test_the_trace_keeps_the_compiled_built_in_and_custom_tools(desk: Desk) -> None:
    desk.tool("notify_crew")
    tools = desk.steps(desk.analyse(PROMISE))[1]["tools"]
    assert {name: tools[name]["origin"] for name in (SMS, "notify_crew")} == {SMS: "built-in", "notify_crew": "custom"}
    assert tools[SMS]["definition"]["conflictPolicy"] == {"tag": "sms"}


@pytest.mark.requirement("N06")
def test_each_offered_tool_is_in_exactly_one_group(desk: Desk) -> None:
    desk.tool("notify_crew", useConversationHistory=True)
    steps = desk.steps(desk.analyse(PROMISE))
    offered = {name for name, tool in steps[1]["tools"].items() if not tool["why_not"]}
    without, with_history = set(steps[2]["without_history"]), set(steps[2]["with_history"])
    assert without | with_history == offered
    assert "notify_crew" in with_history
    assert not without & with_history


@pytest.mark.requirement("N07")
def test_a_tool_without_history_is_judged_by_the_latest_answer_alone(desk: Desk) -> None:
    desk.analyse(PROMISE, hears="The blue door, please")
    [call] = [request for request in desk.model.requests("detect") if SMS in request["messages"][0]["content"]]
    assert "blue door" not in "".join(message["content"] for message in call["messages"])
    assert f"<LatestConvoAgentAnswer>\n{PROMISE}" in call["messages"][1]["content"]


@pytest.mark.requirement("N08")
def test_a_tool_with_history_is_judged_by_the_whole_conversation(desk: Desk) -> None:
    desk.tool("notify_crew", useConversationHistory=True)
    desk.analyse(PROMISE, hears="The blue door, please")
    calls = [request["messages"] for request in desk.model.requests("detect")]
    [prompt] = [user["content"] for system, user in calls if "## notify_crew" in system["content"]]
    assert "<Conversation>\ncustomer: The blue door, please\nagent: I'll send you" in prompt


@pytest.mark.requirement("N06")
def test_an_empty_group_costs_no_model_call(desk: Desk) -> None:
    switch_off(desk, "booking", "booking_cancellation")
    turn = desk.analyse(PROMISE)
    assert len(desk.model.requests("detect")) == 1
    assert desk.steps(turn)[4] == {"asked": False}


def switch_off(desk: Desk, *gates: str) -> None:
    with desk.tenant.tx():
        for gate in gates:
            set_attribute(desk.tenant.project, f"project_attributes_setting_{gate}_enabled", False)


@pytest.mark.requirement("N09")
def test_selected_tools_are_grouped_by_their_tag(desk: Desk) -> None:
    desk.tool("notify_crew")
    desk.reads(SMS, "notify_crew")
    assert desk.steps(desk.analyse(PROMISE))[5]["tags"] == {"sms": [SMS]}


@pytest.mark.requirement("N10")
def test_a_tag_with_one_candidate_needs_no_ranking(desk: Desk) -> None:
    desk.reads(SMS)
    turn = desk.analyse(PROMISE)
    assert desk.steps(turn)[6]["winners"] == {"sms": SMS}
    assert desk.model.requests("rerank") == []


@pytest.mark.requirement("N11", "N13", "N39")
def test_each_selected_tool_has_one_effect(desk: Desk) -> None:
    turn = desk.analyse(PROMISE)
    assert fired(turn) == [SMS]
    [effect] = turn["effects"]
    assert [one["effect"] for one in desk.steps(turn)[7]["effects"]] == [effect["id"]]
    assert turn["tools_called"] is True
    assert desk.steps(turn)[9]["tools_called"] is True
    with desk.tenant.tx():
        [planned] = desk.talk.conversation.events.filter(idn="effect_planned")
    assert planned.payload["id"] == effect["id"]


@pytest.mark.requirement("N13", "T27")
def test_the_trace_marks_tools_whose_result_is_awaited(desk: Desk) -> None:
    desk.reads("check_availability_tool", quote="Let me check availability")
    turn = desk.analyse("Let me check availability for Friday at 7 PM.")
    steps = desk.steps(turn)
    assert [one["waited_for"] for one in steps[7]["effects"]] == [True]
    assert steps[9] == {"tools_called": True, "waiting": True}


@pytest.mark.requirement("N12")
def test_a_call_is_followed_up_sooner_than_a_chat(desk: Desk) -> None:
    seconds = {}
    for channel in ("phone", "chat"):
        desk.talk = begin(desk.tenant, channel=channel)
        turn = desk.reply("We open at noon.")
        set_timer(desk, turn)
        desk.run("tool_caller")
        seconds[channel] = desk.steps(desk.talk.turn(turn))[8]["seconds"]
    assert 0 < seconds["phone"] < seconds["chat"]


@pytest.mark.requirement("N12")
def test_a_goodbye_clears_the_follow_up_timer(desk: Desk) -> None:
    """In the commit that fires it."""
    turn = desk.reply("Goodbye!")
    set_timer(desk, turn)
    assert desk.talk.reload().follow_up_at is not None
    desk.reads("end_conversation_tool", quote="Goodbye!")
    desk.run("tool_caller")
    assert fired(desk.talk.turn(turn)) == ["end_conversation_tool"]
    assert desk.steps(desk.talk.turn(turn))[8]["follow_up_at"] is None
    assert desk.talk.reload().follow_up_at is None


def set_timer(desk: Desk, turn: Turn) -> None:
    """Set the timer as the reply's commit does."""
    with desk.tenant.tx(), open_log(desk.talk.conversation.pk) as log:
        config = desk.tenant.project.agent_version.config.model_copy(update={"quiet_hours": None})
        log.conversation.follow_up_at = next_follow_up(log, config, after=turn)


@pytest.mark.requirement("N14", "N27")
@pytest.mark.parametrize(("channel", "evaluated_as", "offered"), [("webcall", "phone", True), ("chat", "chat", False)])
def test_a_webcall_is_evaluated_as_a_phone_call(desk: Desk, channel: str, evaluated_as: str, offered: bool) -> None:
    desk.talk = begin(desk.tenant, channel=channel)
    held = desk.steps(desk.analyse(PROMISE))[1]
    assert (held["channel"], held["evaluated_as"]) == (channel, evaluated_as)
    assert (held["tools"]["transfer_call_tool"]["why_not"] == "") is offered


def test_an_analysis_is_not_repeated(desk: Desk) -> None:
    desk.reads(SMS, times=0)
    turn = desk.reply(PROMISE)
    desk.run("tool_caller")
    calls = len(desk.model.requests("detect"))
    again(desk, turn)
    assert len(desk.effects()) == 1
    assert len(desk.model.requests("detect")) == calls


def again(desk: Desk, turn: Turn) -> None:
    with desk.tenant.tx():
        Job.objects.filter(lane="tool_caller", ordinal=turn.seq).update(state="queued", attempts=0)
    desk.run("tool_caller")


@pytest.mark.requirement("N17")
@pytest.mark.parametrize("value", ["true", 1, None])
def test_only_a_json_true_meets_a_condition(desk: Desk, value: object) -> None:
    """Any other value makes the answer unusable, and nothing runs."""
    wrong = [{"name": "agentPromised", "met": value}, {"name": "notRelatedToExistingBooking", "met": True}]
    desk.reads(SMS, times=0, conditions=wrong)
    desk.analyse(PROMISE)
    assert desk.effects() == []


@pytest.mark.requirement("N17")
def test_an_unread_condition_is_not_met(desk: Desk) -> None:
    desk.reads(SMS, conditions=[{"name": "agentPromised", "met": True}])
    [verdict] = desk.analyse(PROMISE)["verdicts"]
    assert (verdict["fired"], verdict["rule"]) == (False, "condition")
    assert verdict["conditions"] == {"agentPromised": True, "notRelatedToExistingBooking": False}


@pytest.mark.requirement("N17")
def test_a_condition_read_both_ways_is_not_met(desk: Desk) -> None:
    both = [{"name": "agentPromised", "met": met} for met in (False, True)]
    desk.reads(SMS, conditions=[*both, {"name": "notRelatedToExistingBooking", "met": True}])
    assert fired(desk.analyse(PROMISE)) == []


@pytest.mark.requirement("N22")
def test_a_tool_that_was_not_offered_never_fires(desk: Desk) -> None:
    """It exists, but is switched off."""
    desk.reads(LINK, times=0)
    switch_off(desk, "booking_manage_url")
    assert desk.analyse(PROMISE)["verdicts"] == []


# Judging needs no database: these are the tools as defined in code.
TOOLS = {tool.name: tool for tool in merge_tools(BusinessState(channel="phone"), [])}


def reading(name: str, *, quote: str = PROMISE, rule: Rule | None = None) -> ToolReading:
    met = [ConditionReading(name=condition, met=True) for condition in TOOLS[name].definition.conditions]
    return ToolReading(quote=quote, tool=name, conditions=met, rule=rule)


def said(*answers: str) -> Exchange:
    """The agent's messages; the last one is judged."""
    return Exchange(answer=answers[-1], lines=[TranscriptLine("agent", answer) for answer in answers])


def judged(*readings: ToolReading, exchange: Exchange | None = None) -> list[Judgement]:
    return judge([Detection(verdicts=list(readings))], tools=list(TOOLS.values()), exchange=exchange or said(PROMISE))


@pytest.mark.requirement("N33")
@pytest.mark.parametrize(
    ("answer", "fires"),
    [
        ("Is there anything else?", False),
        (f"Yes: {PROMISE.upper()}", True),
        ("A text with the details follows.", False),
    ],
)
def test_only_the_latest_answer_makes_promises(answer: str, fires: bool) -> None:
    """A model that quotes an earlier message triggers nothing a second time."""
    [one] = judged(reading(SMS), exchange=said(PROMISE, answer))
    assert (one.fired, one.rule) == (fires, "" if fires else "in_progress")


@pytest.mark.requirement("N11", "N39")
@pytest.mark.parametrize("rules", [(None, Rule.OFFER), (Rule.OFFER, None), (None, None)])
def test_a_tool_detected_twice_fires_once(rules: tuple[Rule | None, Rule | None]) -> None:
    """Offered in one sentence and promised in another, in either order."""
    assert [one.fired for one in judged(*(reading(SMS, rule=rule) for rule in rules))] == [True]


def test_verdicts_are_ordered_by_their_quotes() -> None:
    """Effects are planned in the order of the promises."""
    text, goodbye = "I'll text you now", "Goodbye!"
    readings = [reading("end_conversation_tool", quote=goodbye), reading(SMS, quote=text)]
    found = judged(*readings, exchange=said(f"{text}. {goodbye}"))
    assert [one.tool.name for one in found] == [SMS, "end_conversation_tool"]


@pytest.mark.requirement("N09", "N40")
def test_an_offer_does_not_compete_with_a_promise() -> None:
    """No ranking could let it win."""
    found = identify_conflicts(judged(reading(SMS), reading(LINK, rule=Rule.OFFER)))
    assert (found.contested, found.tags) == ({}, {"sms": [SMS]})


@pytest.mark.requirement("N10", "N43")
def test_contested_tools_are_restored_from_the_trace() -> None:
    """By whichever worker resumes it."""
    tools = [replace(TOOLS[name], version=7) for name in (SMS, LINK)]
    left = identify_conflicts(
        judge([Detection(verdicts=list(map(reading, (SMS, LINK))))], tools=tools, exchange=said(PROMISE))
    )
    assert contested_of(candidates(left.contested), compiled_object(tools)) == left.contested


@pytest.mark.requirement("N34", "N38")
@pytest.mark.parametrize("rule", list(Rule))
def test_a_verdict_names_the_rule_that_held_the_tool_back(rule: Rule) -> None:
    [found] = judged(reading(SMS, rule=rule))
    assert (found.fired, found.rule, found.reason) == (False, rule, REASONS[rule])
    assert found.reason != FIRES


@pytest.mark.requirement("N06", "N07")
def test_a_detection_decides_about_its_own_tools_alone(desk: Desk) -> None:
    """The detection without history cannot fire a tool that needs the whole conversation."""
    other = {"tool": "create_booking_tool", "quote": PROMISE, "rule": None}
    met = [{"name": name, "met": True} for name in TOOLS["create_booking_tool"].definition.conditions]
    told = {"verdicts": [{**other, "conditions": met}], "unserved": []}
    desk.model.script("detect", match=ASKS_UNSERVED, json=told)
    assert fired(desk.analyse("We open at noon.")) == []


@pytest.mark.requirement("N07", "N08")
def test_only_a_tool_with_history_is_given_earlier_messages(desk: Desk) -> None:
    """The summary represents the rest of a long conversation."""
    before = "The guest is allergic to lupins."
    with desk.tenant.tx():
        conversation = desk.talk.reload()
        conversation.summary = Summary.objects.create(conversation=conversation, until_seq=0, text=before)
        conversation.save(update_fields=["summary"])
    desk.analyse(PROMISE)
    prompts = ["".join(message["content"] for message in call["messages"]) for call in desk.model.requests("detect")]
    assert sorted((before in prompt, f"## {SMS}" in prompt) for prompt in prompts) == [(False, True), (True, False)]


@pytest.mark.requirement("N33")
def test_conditions_of_one_name_are_listed_separately_where_they_differ() -> None:
    first, second, third = (
        replace(TOOLS[SMS], definition=condition_of(text)) for text in ("Texts.", "Calls.", "Calls.")
    )
    told = [line.conditions[0].description for line in tool_lines([first, second, third])]
    assert told == ["Texts.", "Calls.", AS_ABOVE]


def condition_of(text: str) -> ToolDefinition:
    return define("A tool.", conditions={"agentPromised": text})
