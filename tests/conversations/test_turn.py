"""One turn through real workers: the reply, the flows that follow, and their results."""

from __future__ import annotations

from itertools import combinations

import pytest

from conversations.followups.system_events import post_event
from conversations.models import Event, Message
from conversations.turns.services import give_fields
from jobs.models import ModelCall
from tests.conversations.conftest import begin
from tests.conversations.pipeline.conftest import configure
from tests.crashes.invariants import check, settle
from tests.processes import until

pytestmark = pytest.mark.standing_worker

LANES = ("observer", "thoughts", "tool_caller")


def names(talk) -> list[str]:
    with talk.tenant.tx():
        return list(Event.objects.filter(conversation=talk.conversation).values_list("idn", flat=True))


def job(turn: dict, lane: str) -> dict:
    [found] = [job for job in turn["jobs"] if job["lane"] == lane]
    return found


@pytest.mark.requirement("T03")
def test_a_message_gets_a_reply(talk, worker, model):
    """The reply is stored with the prompt that made it."""
    model.script("reply", text="Good evening!")
    turn = talk.exchange("Hello")
    assert (turn["status"], turn["reply"]["content"]) == ("done", "Good evening!")
    [call] = [call for call in turn["model_calls"] if call["skill"] == "reply"]
    with talk.tenant.tx():
        sent = ModelCall.objects.get(pk=call["id"]).messages
    assert sent == [one for request in model.requests("reply") for one in request["messages"]]


@pytest.mark.requirement("T02")
def test_conversation_started_comes_before_the_first_message(talk, worker):
    talk.exchange("Hello")
    talk.exchange("Still there?")
    assert names(talk)[:2] == ["conversation_started", "user_message"]
    assert names(talk).count("conversation_started") == 1
    with talk.tenant.tx():
        assert Event.objects.get(conversation=talk.conversation, seq=1).payload == {"channel": "chat"}


@pytest.mark.requirement("T02")
@pytest.mark.parametrize("idn", ["urgent_message", "convoagent_activate_waiting_mode"])
def test_any_first_event_starts_the_conversation_once(idn, talk):
    """Events from outside too."""
    with talk.tenant.tx():
        post_event(talk.conversation, idn, {"text": "The table is free."})
    talk.say("Hello")
    assert names(talk)[0] == "conversation_started"
    assert names(talk).index("user_message") > 1
    assert names(talk).count("conversation_started") == 1


@pytest.mark.requirement("N01", "T09")
def test_one_reply_starts_each_flow_once(talk, worker):
    turn = talk.exchange("Hello")
    assert sorted(job["lane"] for job in turn["jobs"] if job["lane"] in LANES) == sorted(LANES)
    assert names(talk).count("broadcast_analyze_conversation") == 1


@pytest.mark.requirement("N02")
def test_the_three_flows_overlap(talk, worker, model):
    for skill in ("observer", "thoughts", "detect"):
        model.script(skill, times=0, ttft_ms=400)
    turn = talk.exchange("Hello")
    for one, other in combinations(LANES, 2):
        assert job(turn, one)["started_at"] < job(turn, other)["finished_at"]
        assert job(turn, other)["started_at"] < job(turn, one)["finished_at"]


def test_a_turn_without_tools_makes_one_model_call_for_its_reply(talk, worker, model):
    """No other model call comes before it."""
    talk.exchange("What are your opening hours?")
    assert model.requests()[0]["skill"] == "reply"


@pytest.mark.requirement("N06")
def test_the_two_detections_run_side_by_side(talk, worker, model):
    """Two tag groups, each tool in one of them."""
    model.script("detect", times=0, ttft_ms=300)
    talk.exchange("Hello")
    first, second = model.requests("detect")
    assert second["arrived"] < first["ended"]


@pytest.mark.requirement("N07", "N08")
def test_detection_without_history_sees_only_the_latest_answer(talk, worker, model):
    model.script("reply", text="The kitchen closes at eleven.")
    talk.exchange("When does the kitchen close, by the way?")
    prompts = ["".join(message["content"] for message in request["messages"]) for request in model.requests("detect")]
    assert sorted("by the way" in prompt for prompt in prompts) == [False, True]
    assert all("The kitchen closes at eleven." in prompt for prompt in prompts)


@pytest.mark.requirement("T11", "T17")
def test_the_observer_stores_facts_with_their_quotes(talk, worker, model):
    turn = talk.exchange("I'm Giulia Ferri, my number is +39 347 555 0142 and my mail is giulia@example.com")
    observed = {fact["field"]: fact for fact in turn["observed"]}
    assert observed["phone"]["value"] == "+393475550142"
    assert observed["email"]["value"] == "giulia@example.com"
    assert "Giulia Ferri" in observed["name"]["value"]
    assert "347 555 0142" in observed["phone"]["quote"]


def test_a_weaker_reading_never_replaces_a_given_field(tenant, worker, model, processes):
    talk = begin(tenant)
    with tenant.tx():
        give_fields(talk.reload().persona, {"name": "Giulia Ferri"})
    talk.exchange("Hello, I'm Marco")
    with tenant.tx():
        assert talk.reload().persona.fields.get(key="name").value == "Giulia Ferri"


@pytest.mark.requirement("T06", "T20")
def test_directives_reach_the_next_prompt(talk, worker, model):
    """As CurrentTaskAnalysis, from an earlier turn."""
    first = talk.exchange("I'd like to book a table")
    talk.exchange("For Friday")
    prompts = [request["messages"][-1]["content"] for request in model.requests("reply")]
    assert "<CurrentTaskAnalysis" not in prompts[0]
    assert first["directives_written"]["step"] in prompts[1]


def test_a_reply_records_the_freshness_of_its_directives(talk, worker):
    assert talk.exchange("Hello")["freshness"] == "none"
    assert talk.exchange("A table for two")["freshness"] == "fresh"


@pytest.mark.requirement("T25")
def test_late_directives_leave_the_next_reply_stale(talk, worker, model):
    """A reply uses the directives current at its start."""
    talk.exchange("Hello")
    model.script("thoughts", times=1, ttft_ms=3000)
    second = talk.say("A table for two")
    talk.until_turn(second, lambda turn: turn["status"] == "done")
    third = talk.say("On Friday")
    assert talk.until_turn(third, lambda turn: turn["status"] == "done")["freshness"] == "stale"


@pytest.mark.requirement("N39", "N44")
def test_a_promise_fires_its_tool_once(talk, worker, model):
    """One fired verdict, one effect, one system event with the tool's name."""
    model.script("reply", text="I'll send you an SMS with the reservation details.")
    turn = talk.exchange("Can you text me the details? I am on +39 347 555 0142.")
    fired = [verdict["tool"] for verdict in turn["verdicts"] if verdict["fired"]]
    assert fired == ["send_sms_tool"]
    assert [(effect["tool"], effect["state"]) for effect in turn["effects"]] == [("send_sms_tool", "done")]
    assert names(talk).count("send_sms_tool") == 1


@pytest.mark.requirement("N34", "N35", "N36", "N37", "N38")
@pytest.mark.parametrize(
    ("answer", "rule"),
    [
        pytest.param("I'm still sending the SMS.", "in_progress", id="in_progress"),
        pytest.param("I've sent you the SMS.", "completed", id="completed"),
        pytest.param("I need to ask your name, and then I'll send you an SMS.", "future_step", id="future_step"),
        pytest.param("I can send you an SMS, would you like that?", "offer", id="offer"),
        pytest.param("You will receive an SMS from the bank.", "subject", id="subject"),
        pytest.param("I won't send you an SMS.", "negation", id="negation"),
    ],
)
def test_a_non_promise_fires_nothing(answer, rule, talk, worker, model):
    """The verdict carries the rule that held it back. Claims too, if the reply isn't checked."""
    configure(talk.tenant, truthful_status=False)
    model.script("reply", text=answer)
    turn = talk.exchange("And then?")
    assert turn["effects"] == []
    verdicts = {verdict["tool"]: verdict for verdict in turn["verdicts"]}
    assert verdicts["send_sms_tool"]["rule"] == rule


@pytest.mark.requirement("N13")
def test_tools_called_marks_only_the_turns_that_fired(talk, worker, model):
    model.script("reply", text="Good evening!")
    assert talk.exchange("Hello")["tools_called"] is False
    model.script("reply", text="I'll send you an SMS with the details.")
    assert talk.exchange("Please text me")["tools_called"] is True


def test_malformed_verdicts_run_nothing(talk, worker, model):
    """Only a JSON `true` counts, not a string."""
    model.script("reply", text="I'll send you an SMS.")
    wrong = {
        "quote": "I'll send",
        "tool": "send_sms_tool",
        "conditions": [{"name": "agentPromised", "met": "true"}],
        "rule": None,
    }
    model.script("detect", times=0, json={"verdicts": [wrong]})
    turn = talk.say("Text me")
    talk.until_turn(turn, lambda now: job_failed(now, "tool_caller"))
    assert talk.turn(turn)["effects"] == []


def job_failed(turn: dict, lane: str) -> bool:
    return any(job["lane"] == lane and job["state"] == "failed" for job in turn["jobs"])


@pytest.mark.requirement("N17")
def test_a_missing_condition_counts_as_not_met(talk, worker, model):
    """All conditions must be true."""
    model.script("reply", text="I'll send you an SMS.")
    half = {
        "quote": "I'll send you an SMS",
        "tool": "send_sms_tool",
        "conditions": [{"name": "agentPromised", "met": True}],
        "rule": None,
    }
    model.script("detect", times=0, json={"verdicts": [half]})
    [verdict] = talk.exchange("Text me")["verdicts"]
    assert (verdict["fired"], verdict["rule"]) == (False, "condition")


def test_a_newer_message_supersedes_the_reply(talk, worker, model):
    """The partial reply is withdrawn, and one reply answers both messages."""
    model.script("reply", times=1, text="one two three four five six seven eight", gap_ms=300)
    first = talk.say("Do you have a table?")
    until(lambda: model.requests("reply"), what="the first reply's call")
    second = talk.say("For four, on Friday")
    settle(talk.tenant)
    old, new = talk.turn(first), talk.turn(second)
    assert (old["status"], old["superseded_by"], old["reply"]) == ("superseded", str(second.pk), None)
    assert new["status"] == "done"
    merged = model.requests("reply")[-1]["messages"][-1]["content"]
    assert "Do you have a table?" in merged
    assert "For four, on Friday" in merged
    check(talk.tenant)


def test_a_superseded_call_is_canceled_at_once(talk, worker, model):
    """Even on a stalled stream: the model sees the client disconnect long before any deadline."""
    model.script("reply", times=1, fault="stall", after_tokens=2)
    talk.say("Hello?")
    until(lambda: model.requests("reply"), what="the stalled call")
    talk.say("Are you there?")
    until(lambda: any(request["cancelled"] for request in model.requests("reply")), seconds=5, what="the cancellation")
    settle(talk.tenant)
    with talk.tenant.tx():
        assert Message.objects.filter(role="agent").count() == 1


@pytest.mark.requirement("T13")
def test_superseded_thoughts_write_nothing(talk, worker, model):
    """The newer turn's directives stay."""
    model.script("thoughts", times=1, ttft_ms=5000)
    first = talk.say("Hello")
    talk.until_turn(first, lambda turn: turn["status"] == "done")
    second = talk.exchange("A table for two")
    [old] = [job for job in talk.turn(first)["jobs"] if job["lane"] == "thoughts"]
    assert old["state"] == "superseded"
    assert talk.turn(first)["directives_written"] is None
    assert talk.reload().directives_turn == second["seq"]
