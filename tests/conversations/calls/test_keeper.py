"""A call kept by a real worker, with the offline provider over real sockets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conversations.followups.proactive import say_proactively
from conversations.live.event_log import open_log
from conversations.models import Conversation, Event, TurnCall
from projects.models.attribute_catalogue import SETTING
from projects.records.attributes import set_attribute
from tests.conversations.calls.conftest import KITCHEN, Line
from tests.processes import ForkServer, until

pytestmark = pytest.mark.standing_worker


@pytest.fixture(autouse=True)
def _worker(processes: ForkServer) -> None:
    processes.standing_worker()


@pytest.mark.requirement("L02", "L08", "L17")
def test_a_call_is_answered_by_the_whole_agent(line: Line) -> None:
    """With its instructions, its tools and its voice; it speaks first."""
    line.ring({"say": "Da Nello, good evening!"})
    call = line.until_state("live")
    line.until_said(("agent", "Da Nello, good evening!"))
    session = line.at_provider()["session"]
    assert "Nello" in session["instructions"]
    assert "end_call" in [tool["name"] for tool in session["tools"]]
    assert "Do NOT wait" in session["instructions"]
    assert all(set(tool) == {"type", "name", "description", "parameters"} for tool in session["tools"])
    assert session["audio"]["output"]["voice"] == "marin"
    assert call.answered_at is not None


@pytest.mark.requirement("T01", "T02")
def test_what_was_said_is_the_transcript(line: Line) -> None:
    line.ring({"say": "Good evening!"})
    line.until_said(("agent", "Good evening!"))
    line.say("Have you a table on Friday?", {"say": "For how many?"})
    line.until_said(("agent", "For how many?"))
    assert line.transcript() == [
        ("agent", "Good evening!"),
        ("user", "Have you a table on Friday?"),
        ("agent", "For how many?"),
    ]
    with line.tenant.tx():
        names = list(Event.objects.order_by("seq").values_list("idn", flat=True))
    assert names[0] == "conversation_started"
    assert names.count("conversation_started") == names.count("user_message") == 1


def test_the_models_tokens_are_counted_by_kind(line: Line) -> None:
    line.ring({"say": "Good evening!"})
    line.until_said(("agent", "Good evening!"))
    line.say("A table?", {"say": "Yes."})
    line.until_said(("agent", "Yes."))
    used = {"audio_in": 200, "text_in": 200, "cached_in": 100, "audio_out": 17, "text_out": 20}
    used |= {"cached_audio_in": 0, "cost": None}
    until(lambda: line.api.get("/api/v1/calls").json()["results"][0]["usage"] == used, what=f"{line.call().usage}")


def test_what_the_caller_did_not_hear_was_not_said(line: Line) -> None:
    """They interrupted the agent after two seconds."""
    line.ring({"say": "We have a table at seven, and another one at half past nine.", "interrupted_ms": 2000})
    line.until_said(("agent", "We have a table at seven, and —"))


def test_a_function_call_is_run_and_answered_once(line: Line) -> None:
    """However often the provider repeats its event."""
    line.ring({"say": "Good evening!"})
    line.until_said(("agent", "Good evening!"))
    call = {"call": "search_knowledge", "call_id": "call_k", "arguments": {"query": "dogs"}, "repeated": True}
    line.say("Are dogs allowed?", call, {"say": "I don't know."})
    line.until_said(("agent", "I don't know."))
    at_provider = line.at_provider()
    assert list(at_provider["outputs"]) == ["call_k"]
    assert [one["call"] for one in line.events("live_tool_call")] == ["call_k"]
    with line.tenant.tx():
        assert TurnCall.objects.get().result == at_provider["outputs"]["call_k"]


@pytest.mark.requirement("L03", "L19")
@pytest.mark.parametrize("step", [{"call": "open_the_safe"}, {"call": "search_knowledge", "raw": "{cut"}])
def test_a_wrong_call_is_answered_with_an_error(line: Line, step: dict[str, Any]) -> None:
    """The call goes on."""
    line.ring({"say": "Good evening!"})
    line.until_said(("agent", "Good evening!"))
    line.say("Please?", {**step, "call_id": "call_w"}, {"say": "Sorry."})
    line.until_said(("agent", "Sorry."))
    assert line.at_provider()["outputs"]["call_w"].startswith("Error")
    assert line.call().state == "live"


@pytest.mark.requirement("L07", "F18")
def test_a_transfer_is_a_refer_to_its_number(line: Line) -> None:
    line.ring({"say": "Good evening!"})
    line.until_said(("agent", "Good evening!"))
    line.say(
        "The kitchen, yes.", {"say": "One moment.", "call": "transfer_call", "arguments": {"phone_number": KITCHEN}}
    )
    call = line.until_state("transferred")
    assert line.at_provider()["verbs"][-1] == {"verb": "refer", "target_uri": f"tel:{KITCHEN}"}
    assert call.transferred_to == KITCHEN
    assert ("agent", "One moment.") in line.transcript()


def test_a_caller_who_hangs_up_during_a_transfer_is_gone(line: Line) -> None:
    line.ring({"say": "Good evening!"})
    line.until_said(("agent", "Good evening!"))
    line.provider.door("faults", {"refer": 404})
    line.say("The kitchen!", {"say": "One moment.", "call": "transfer_call", "arguments": {"phone_number": KITCHEN}})
    call = line.until_state("ended")
    assert (call.reason, call.transferred_to, call.conversation.flag) == ("", "", "")


@pytest.mark.requirement("L07")
def test_a_number_outside_the_list_is_never_dialed(line: Line) -> None:
    line.ring({"say": "Good evening!"})
    line.until_said(("agent", "Good evening!"))
    step = {"call": "transfer_call", "call_id": "call_t", "arguments": {"phone_number": "+19005550100"}}
    line.say("Transfer me!", step, {"say": "I can't do that."})
    line.until_said(("agent", "I can't do that."))
    assert line.verbs() == ["accept"]
    assert line.at_provider()["outputs"]["call_t"].startswith("Error")


@pytest.mark.requirement("L04", "F18")
def test_the_end_is_a_hangup_after_the_last_word(line: Line) -> None:
    line.ring({"say": "Good evening!"})
    line.until_said(("agent", "Good evening!"))
    line.say("Bye.", {"say": "Goodbye!", "call": "end_call"})
    call = line.until_state("ended")
    assert line.verbs() == ["accept", "hangup"]
    assert line.transcript()[-1] == ("agent", "Goodbye!")
    assert call.ended_at is not None
    with line.tenant.tx():
        assert Conversation.objects.get(pk=call.conversation_id).status == "ended"


@pytest.mark.requirement("F19", "F11")
def test_a_flagged_caller_is_hung_up_on_at_once(line: Line) -> None:
    """In the middle of a sentence."""
    line.ring({"say": "Good evening!"})
    line.until_said(("agent", "Good evening!"))
    step = {"say": "That", "keeps_playing": True, "call": "flag_caller", "arguments": {"reason": "Threats."}}
    line.say("I'll find you.", step)
    call = line.until_state("ended")
    assert line.verbs()[-1] == "hangup"
    with line.tenant.tx():
        persona = Conversation.objects.select_related("persona").get(pk=call.conversation_id).persona
    assert (persona.flagged, persona.flag_reason) == (True, "Threats.")


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_rejects_the_channel(line: Line, status: int) -> None:
    """Until staff connects it again."""
    line.provider.door("faults", {"accept": status})
    line.ring({"say": "Good evening!"})
    line.until_state("failed")
    assert line.api.get("/api/v1/channels/openai_sip").json()["state"] == "rejected"
    line.connect()
    assert line.api.get("/api/v1/channels/openai_sip").json()["state"] == "connected"


def test_a_caller_who_hangs_up_ends_the_call(line: Line) -> None:
    line.ring({"say": "Good evening!"})
    line.until_said(("agent", "Good evening!"))
    line.provider.door(f"calls/{line.call_id}/hangup", {})
    assert line.until_state("ended").conversation.status == "ended"


@pytest.mark.requirement("T28")
def test_an_urgent_message_reaches_the_session_and_is_told(line: Line) -> None:
    line.ring({"say": "Good evening!"}, {"say": "Friday is free."})
    line.until_said(("agent", "Good evening!"))
    with line.tenant.tx(), open_log(line.call().conversation_id) as log:
        say_proactively(log, "Friday at seven is free.", {})
    line.until_said(("agent", "Friday is free."))
    assert any("- Friday at seven is free." in told for told in line.at_provider()["told"])


@pytest.mark.requirement("T28")
def test_nothing_is_told_while_the_caller_speaks(line: Line) -> None:
    line.ring({"say": "Good evening!"})
    line.until_said(("agent", "Good evening!"))
    line.provider.door(f"calls/{line.call_id}/speak", {})
    until(lambda: line.events("voice_reported")[-1]["type"] == "speech_started", what="the report")
    with line.tenant.tx(), open_log(line.call().conversation_id) as log:
        say_proactively(log, "Friday at seven is free.", {})
    assert not any("Friday at seven" in told for told in line.at_provider()["told"])
    line.provider.door(f"calls/{line.call_id}/emit", {"type": "input_audio_buffer.speech_stopped", "item_id": "x"})
    until(lambda: any("Friday at seven" in told for told in line.at_provider()["told"]), what="the message")


def test_staff_ends_a_live_call(line: Line) -> None:
    line.ring({"say": "Good evening!"})
    call = line.until_state("live")
    line.until_said(("agent", "Good evening!"))
    assert line.api.post(f"/api/v1/calls/{call.pk}/end").status_code == 200
    line.until_state("ended")
    assert line.verbs()[-1] == "hangup"
    assert line.api.post(f"/api/v1/calls/{call.pk}/end").status_code == 409


def test_staff_takes_a_live_call_over(line: Line) -> None:
    """It is transferred to their number."""
    line.ring({"say": "Good evening!"})
    call = line.until_state("live")
    line.until_said(("agent", "Good evening!"))
    body = json.dumps({"number": "06 5550 1199"})
    answer = line.api.post(f"/api/v1/calls/{call.pk}/transfer", body, content_type="application/json")
    assert answer.status_code == 200
    assert line.until_state("transferred").transferred_to == "+390655501199"


# Calls that the agent doesn't take


def test_outside_of_its_hours_a_call_goes_to_the_fallback_number(line: Line) -> None:
    close(line)
    with line.tenant.tx():
        set_attribute(line.tenant.project, f"{SETTING}voice_fallback_number", KITCHEN)
    line.ring()
    call = line.until_state("transferred")
    assert (call.transferred_to, call.reason) == (KITCHEN, "The business is closed.")
    assert line.transcript() == []


def test_without_a_fallback_number_a_call_is_rejected(line: Line) -> None:
    close(line)
    line.ring()
    assert line.until_state("rejected").reason == "The business is closed."
    assert line.at_provider()["verbs"] == [{"verb": "reject", "status_code": 486}]


def close(line: Line) -> None:
    """Close the business today, and have it answer only while it is open."""
    from projects.agents.services import save_agent
    from projects.models import Project

    line.connect(outside_hours="fallback")
    with line.tenant.tx():
        project = Project.objects.select_related("agent_version").get(pk=line.tenant.project.pk)
        assert project.agent_version is not None
        config = project.agent_version.config
        never = {"mon": []}
        save_agent(project, config=config.model_copy(update={"hours": never}), author=line.tenant.owner)


# The provider fails


def test_a_provider_that_fails_once_is_asked_again(line: Line) -> None:
    line.provider.door("faults", {"accept": 503})
    line.ring({"say": "Good evening!"})
    line.until_said(("agent", "Good evening!"))


def test_a_refused_call_fails_with_the_reason(line: Line) -> None:
    line.provider.door("faults", {"accept": 403})
    line.ring()
    assert "403" in line.until_state("failed").reason


def test_a_caller_who_left_before_the_answer_ends_the_call(line: Line) -> None:
    """The provider doesn't know the call any more."""
    line.script()
    line.provider.door(f"calls/{line.call_id}/hangup", {})
    line.deliver(*line.webhook())
    assert "before the call was answered" in line.until_state("ended").reason
