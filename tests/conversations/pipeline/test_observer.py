"""The observer's results for a turn, and recovery from low scores."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest
from django.utils import timezone

from conversations.models import Event, Turn
from tests.conversations.pipeline.conftest import begin, configure, last_prompt
from tests.crashes.invariants import settle

pytestmark = pytest.mark.standing_worker

SCORED = {"facts": [], "quality": {"reason": "The customer had to ask three times.", "score": 3}}


def observed(field: str, value: str) -> dict:
    return {"facts": [{"quote": "x", "field": field, "value": value, "confidence": "stated"}], "quality": None}


@pytest.mark.requirement("T18")
def test_a_turn_records_that_the_business_was_open_and_why(tenant, worker) -> None:
    configure(tenant, hours={}, holidays=[])
    talk = begin(tenant)
    assert talk.exchange("Hello")["working_hours"] == {"open": True, "reason": "no working hours are set"}


@pytest.mark.requirement("T18")
def test_a_turn_records_why_the_business_was_closed(tenant, worker, api) -> None:
    """Readable over the API too."""
    around = [f"{timezone.now() + timedelta(days=days):%Y-%m-%d}" for days in (-1, 0, 1)]
    configure(tenant, hours={"mon": [["09:00", "18:00"]]}, holidays=around)
    talk = begin(tenant)
    turn = talk.exchange("Hello")
    assert turn["working_hours"]["open"] is False
    assert turn["working_hours"]["reason"] in {f"{day} is a holiday" for day in around}
    shown = api.get(f"/api/v1/conversations/{talk.conversation.pk}/turns/{turn['id']}").json()
    assert shown["working_hours"] == turn["working_hours"]


@pytest.mark.parametrize("value", ["x" * 10_000, "Giu\u202elia", "Giu\u0007lia"])
def test_an_invalid_observation_is_shown_as_refused(value, talk, worker, model) -> None:
    model.script("observer", json=observed("name", value))
    turn = talk.exchange("Hello")
    [refused] = turn["refused"]
    assert refused["field"] == "name"
    assert refused["reason"]
    assert len(refused["value"]) <= 80
    assert refused["value"].isprintable()
    assert turn["observed"] == []


def test_an_unknown_field_is_refused_whatever_its_name(talk, worker, model) -> None:
    model.script("observer", json=observed("na\u202eme\u0007", "Giulia"))
    [refused] = talk.exchange("Hello")["refused"]
    assert refused["field"] == "na�me�"
    assert "not a field of this project" in refused["reason"]


@pytest.mark.requirement("T11", "T17")
def test_an_observed_field_names_its_message_and_quote(talk, worker) -> None:
    turn = talk.exchange("My number is +39 347 555 0142")
    with talk.tenant.tx():
        field = talk.reload().persona.fields.get(key="phone")
    assert (str(field.turn_id), str(field.message_id)) == (turn["id"], turn["message"])
    assert "347 555 0142" in field.quote


@pytest.mark.requirement("T12")
@pytest.mark.parametrize(("channel", "is_scored"), [("phone", True), ("webcall", True), ("chat", False)])
def test_quality_is_scored_on_voice_channels(channel, is_scored, tenant, worker) -> None:
    quality = begin(tenant, channel=channel).exchange("Hello, are you open on Friday?")["quality"]
    assert bool(quality) is is_scored
    assert quality is None or (1 <= quality["score"] <= 10 and quality["reason"])


@pytest.mark.requirement("T12")
def test_other_channels_are_scored_by_setting(tenant, worker) -> None:
    configure(tenant, score_quality_on=["chat"])
    assert begin(tenant).exchange("Hello")["quality"]["score"] > 3


@pytest.mark.requirement("T12")
def test_scoring_one_channel_scores_no_other(tenant, worker) -> None:
    configure(tenant, score_quality_on=["whatsapp"])
    assert begin(tenant).exchange("Hello")["quality"] is None


def test_an_unrequested_score_is_not_stored(talk, worker, model) -> None:
    model.script("observer", json=SCORED)
    assert talk.exchange("Hello")["quality"] is None
    assert talk.reload().recovery == ""


@pytest.mark.requirement("T19")
@pytest.mark.parametrize(("score", "recovers"), [(3, True), (4, False)])
def test_three_triggers_recovery_and_four_does_not(score, recovers, tenant, worker, model) -> None:
    """An instruction in the next reply's prompt and a flag for staff."""
    configure(tenant, enabled_tools=[])
    talk = begin(tenant, channel="phone")
    model.script("observer", json={**SCORED, "quality": {**SCORED["quality"], "score": score}})
    talk.exchange("Hello")
    assert bool(talk.reload().flag) is recovers
    talk.exchange("Are you there?")
    assert ("<Recovery>" in last_prompt(model, "reply")) is recovers
    with tenant.tx():
        assert Event.objects.filter(idn="quality_low").exists() is recovers


@pytest.mark.requirement("T19")
def test_a_low_scores_reason_reaches_the_next_reply_and_staff(tenant, worker, model, api) -> None:
    """The reason is stored with the turn, and shown in the prompt, the flag and the API."""
    configure(tenant, enabled_tools=[])
    talk = begin(tenant, channel="phone")
    reason = SCORED["quality"]["reason"]
    on_lines = {"score": 3, "reason": reason.replace(" ", "\n", 2)}
    model.script("observer", times=1, json={**SCORED, "quality": on_lines})
    assert talk.exchange("Hello")["quality"] == {"score": 3, "reason": reason}
    shown = api.get(f"/api/v1/conversations/{talk.conversation.pk}").json()
    assert (shown["recovery"], shown["flag"]) == (reason, f"Quality 3 of 10: {reason}")
    model.script("observer", times=1, json={"facts": [], "quality": None})
    talk.exchange("Are you there?")
    assert f"<Recovery>\nThe conversation goes badly: {reason}\n" in last_prompt(model, "reply")
    assert talk.reload().recovery == reason, "a turn that nobody scored is no better one"


@pytest.mark.requirement("T19")
def test_recovery_ends_with_a_better_score(tenant, worker, model) -> None:
    talk = begin(tenant, channel="phone")
    model.script("observer", json=SCORED)
    talk.exchange("Hello")
    assert talk.reload().recovery
    talk.exchange("A table for two, please")
    assert talk.reload().recovery == ""
    assert talk.conversation.flag


def test_the_offline_agent_apologizes_after_a_low_score(tenant, worker, model) -> None:
    talk = begin(tenant, channel="phone")
    talk.exchange("I want a table")
    talk.exchange("This is useless, you are not listening. Ridiculous.")
    with tenant.tx():
        assert Turn.objects.get(seq=2).quality_score <= 3
    assert "sorry" in talk.exchange("So do you have a table on Friday?")["reply"]["content"]


@pytest.mark.requirement("T10", "T16")
def test_two_quick_turns_are_observed_in_order_and_none_is_dropped(tenant, worker, model) -> None:
    """The observer and the tool caller finish one turn before they start the next."""
    talk = begin(tenant)
    for skill in ("observer", "detect"):
        model.script(skill, times=0, ttft_ms=400)
    turns = []
    for words in ("I'm Giulia", "My mail is giulia@example.com", "On Friday"):
        turns.append(talk.say(words))
        talk.until_turn(turns[-1], lambda turn: turn["status"] == "done")
    settle(tenant)
    for lane in ("observer", "tool_caller"):
        jobs = [job for turn in turns for job in talk.turn(turn)["jobs"] if job["lane"] == lane]
        assert [job["state"] for job in jobs] == ["done"] * 3
        assert all(one["finished_at"] <= next_one["started_at"] for one, next_one in pairwise(jobs)), lane
