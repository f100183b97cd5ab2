"""What the observer keeps with the turn, and the recovery from a conversation that goes badly."""

from __future__ import annotations

import pytest

from conversations.models import Event, Turn
from tests.pipeline.conftest import begin, configure, last_prompt

pytestmark = pytest.mark.standing_worker

SCORED = {"facts": [], "quality": {"reason": "The customer had to ask three times.", "score": 3}}


def observed(field: str, value: str) -> dict:
    return {"facts": [{"quote": "x", "field": field, "value": value, "confidence": "stated"}], "quality": None}


def test_a_turn_says_whether_the_business_was_open_and_why(tenant, worker) -> None:
    """T18"""
    configure(tenant, hours={}, holidays=[])
    talk = begin(tenant)
    assert talk.exchange("Hello")["working_hours"] == {"open": True, "reason": "no working hours are set"}


@pytest.mark.parametrize("value", ["x" * 10_000, "Giu\u202elia", "Giu\u0007lia"])
def test_a_reading_that_can_not_be_kept_is_shown_as_refused(value, talk, worker, model) -> None:
    model.script("observer", json=observed("name", value))
    turn = talk.exchange("Hello")
    [refused] = turn["refused"]
    assert refused["field"] == "name"
    assert refused["reason"]
    assert len(refused["value"]) <= 80
    assert refused["value"].isprintable()
    assert turn["observed"] == []


def test_a_field_nobody_asked_for_is_refused_whatever_its_name_holds(talk, worker, model) -> None:
    model.script("observer", json=observed("na\u202eme\u0007", "Giulia"))
    [refused] = talk.exchange("Hello")["refused"]
    assert refused["field"] == "na�me�"
    assert "not a field of this project" in refused["reason"]


def test_an_observed_field_names_its_message_and_its_words(talk, worker) -> None:
    """T11, T17: provenance."""
    turn = talk.exchange("My number is +39 347 555 0142")
    with talk.tenant.tx():
        field = talk.reload().persona.fields.get(key="phone")
    assert (str(field.turn_id), str(field.message_id)) == (turn["id"], turn["message"])
    assert "347 555 0142" in field.quote


@pytest.mark.parametrize(("channel", "is_scored"), [("phone", True), ("webcall", True), ("chat", False)])
def test_quality_is_scored_on_voice_channels(channel, is_scored, tenant, worker) -> None:
    """T12"""
    quality = begin(tenant, channel=channel).exchange("Hello, are you open on Friday?")["quality"]
    assert bool(quality) is is_scored
    assert quality is None or (1 <= quality["score"] <= 10 and quality["reason"])


def test_other_channels_are_scored_by_setting(tenant, worker) -> None:
    """T12"""
    configure(tenant, score_quality_on=["chat"])
    assert begin(tenant).exchange("Hello")["quality"]["score"] > 3


def test_a_score_nobody_asked_for_is_not_kept(talk, worker, model) -> None:
    model.script("observer", json=SCORED)
    assert talk.exchange("Hello")["quality"] is None
    assert talk.reload().recovery == ""


@pytest.mark.parametrize(("score", "recovers"), [(3, True), (4, False)])
def test_three_triggers_recovery_and_four_does_not(score, recovers, tenant, worker, model) -> None:
    """T19: an instruction in the next reply's prompt, a flag to staff."""
    configure(tenant, enabled_tools=[])
    talk = begin(tenant, channel="phone")
    model.script("observer", json={**SCORED, "quality": {**SCORED["quality"], "score": score}})
    talk.exchange("Hello")
    assert (f"Quality {score} of 10" in talk.reload().flag) is recovers
    talk.exchange("Are you there?")
    assert ("<Recovery>" in last_prompt(model, "reply")) is recovers
    with tenant.tx():
        assert Event.objects.filter(idn="quality_low").exists() is recovers


def test_recovery_ends_with_a_better_score(tenant, worker, model) -> None:
    """T19"""
    talk = begin(tenant, channel="phone")
    model.script("observer", json=SCORED)
    talk.exchange("Hello")
    assert talk.reload().recovery
    talk.exchange("A table for two, please")
    assert talk.reload().recovery == ""
    assert talk.conversation.flag


def test_the_offline_agent_owns_a_conversation_that_goes_badly(tenant, worker, model) -> None:
    talk = begin(tenant, channel="phone")
    talk.exchange("I want a table")
    talk.exchange("This is useless, you are not listening. Ridiculous.")
    with tenant.tx():
        assert Turn.objects.get(seq=2).quality_score <= 3
    assert "sorry" in talk.exchange("So do you have a table on Friday?")["reply"]["content"]
