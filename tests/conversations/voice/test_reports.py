"""Reports of the voice bridge, and the turns they create."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from conversations.models import Conversation, ConversationStatus, Freshness, MessageRole, PersonaField, TurnStatus
from jobs.models import Job
from tests.conversations.voice.conftest import Voice
from tools.models import Effect, Promise


def test_reported_speech_is_in_the_transcript_in_order(voice: Voice) -> None:
    voice.report("agent_said", text="Trattoria Sole, good evening.")
    voice.report("caller_said", text="Good evening.")
    voice.report("caller_said", text="Is Friday free?")
    voice.report("agent_said", text="For how many?")
    said = [(message.seq, message.role, message.content) for message in voice.turns.messages()]
    assert said == [
        (1, MessageRole.AGENT, "Trattoria Sole, good evening."),
        (2, MessageRole.USER, "Good evening."),
        (3, MessageRole.USER, "Is Friday free?"),
        (4, MessageRole.AGENT, "For how many?"),
    ]


@pytest.mark.requirement("T09")
def test_a_spoken_answer_is_a_turn_with_the_callers_messages_before_it(voice: Voice) -> None:
    voice.report("caller_said", text="Good evening.")
    turn = voice.exchange("Is Friday free?", "For how many?")
    assert (turn.seq, turn.status, turn.message.content, turn.reply.content) == (
        1,
        TurnStatus.DONE,
        "Is Friday free?",
        "For how many?",
    )
    assert {message.turn_id for message in voice.turns.messages()} == {turn.pk}
    assert turn.working_hours["reason"]


@pytest.mark.requirement("T09")
def test_observer_thoughts_and_tool_caller_run_after_a_spoken_answer(voice: Voice) -> None:
    turn = voice.exchange("I'm Anna Rossi.", "Hello Anna.")
    assert voice.events("broadcast_analyze_conversation") == [{"turn": str(turn.pk)}]
    with voice.tenant.tx():
        jobs = Job.objects.filter(subject_id=voice.conversation.pk, ordinal=turn.seq)
        assert set(jobs.values_list("lane", flat=True)) == {"observer", "thoughts", "tool_caller"}
    voice.turns.run("observer")
    with voice.tenant.tx():
        known = PersonaField.objects.filter(persona_id=voice.conversation.persona_id)
        assert dict(known.values_list("key", "value"))["name"] == "Anna Rossi"


@pytest.mark.requirement("N01")
def test_a_spoken_promise_is_executed(voice: Voice) -> None:
    turn = voice.exchange("Can you text me the hours?", "Sure, I'll text you our opening hours right away.")
    voice.turns.run("tool_caller")
    with voice.tenant.tx():
        assert [effect.kind for effect in Effect.objects.filter(turn_id=turn.pk)] == ["sms"]
        assert Promise.objects.filter(turn_id=turn.pk).count() == 1


@pytest.mark.requirement("T28")
@pytest.mark.parametrize("is_applied", [True, False])
def test_a_spoken_answer_records_the_directives_it_followed(voice: Voice, is_applied: bool) -> None:
    """The directives the voice model was given; fresh if they are the newest."""
    voice.exchange("Is Friday free?", "For how many?")
    voice.think()
    if is_applied:
        voice.report("update_applied", seq=voice.due()[0]["seq"])
    turn = voice.exchange("Four.", "And your name?")
    used = turn.directives_used.version if turn.directives_used else None
    assert (used, turn.freshness) == ((1, Freshness.FRESH) if is_applied else (None, Freshness.NONE))


@pytest.mark.requirement("T28")
def test_an_answer_without_the_newest_directives_is_stale(voice: Voice) -> None:
    voice.exchange("Is Friday free?", "For how many?")
    voice.think()
    voice.report("update_applied", seq=voice.due()[0]["seq"])
    voice.exchange("Four.", "And your name?")
    assert voice.exchange("Anna.", "Thank you.").freshness == Freshness.STALE


def test_a_repeated_report_is_processed_once(voice: Voice) -> None:
    reports = [{"id": "a", "type": "caller_said", "text": "Hello"}, {"id": "b", "type": "agent_said", "text": "Hi."}]
    assert voice.post(*reports).json()["repeated"] == 0
    again = voice.post(*reports, {"id": "c", "type": "caller_said", "text": "Bye"}, {"id": "c", "type": "ended"})
    assert (again.json()["repeated"], again.json()["turns"]) == (3, [])
    assert [message.content for message in voice.turns.messages()] == ["Hello", "Hi.", "Bye"]


@pytest.mark.requirement("T11")
def test_an_ended_call_is_closed_and_its_last_words_are_observed(voice: Voice) -> None:
    voice.exchange("Is Friday free?", "For how many?")
    voice.report("caller_said", text="Forget it. I'm Anna Rossi, by the way.")
    voice.report("ended")
    with voice.tenant.tx():
        assert Conversation.objects.get(pk=voice.conversation.pk).status == ConversationStatus.ENDED
        assert Job.objects.filter(lane="observer", key__startswith="observer:message:").count() == 1


@pytest.mark.requirement("N01")
def test_an_answer_reported_after_the_call_still_counts(voice: Voice) -> None:
    """A transcript may arrive after the caller hung up."""
    voice.report("ended")
    turn = voice.exchange("Bye", "Goodbye, I'll text you our opening hours.")
    voice.turns.run("tool_caller")
    with voice.tenant.tx():
        assert Effect.objects.filter(turn_id=turn.pk).count() == 1


@pytest.mark.parametrize(
    ("report", "field", "words"),
    [
        ({"id": "a", "type": "caller_said"}, "reports.0.text", "is required with caller_said"),
        ({"id": "a", "type": "ended", "text": "Bye"}, "reports.0.text", "is not allowed with ended"),
        ({"id": "a", "type": "update_applied"}, "reports.0.seq", "is required with update_applied"),
        ({"id": "a", "type": "update_applied", "seq": 99}, "seq", "There is no update 99"),
        ({"id": "a", "type": "sang"}, "reports.0.type", "must be one of: speech_started"),
        ({"type": "ended"}, "reports.0.id", "required"),
        ({"id": "a", "type": "agent_said", "text": " "}, "reports.0.text", "is empty"),
        ({"id": "a", "type": "ended", "who": "me"}, "reports.0.who", "who"),
    ],
)
def test_an_invalid_report_is_refused(voice: Voice, report: dict[str, Any], field: str, words: str) -> None:
    error = voice.post(report).json()["error"]
    assert (error["field"], words in error["message"]) == (field, True), error


def test_a_report_outside_of_the_list_leads_to_it(voice: Voice) -> None:
    url = f"/api/v1/conversations/{voice.conversation.pk}/session/reports"
    body = {"id": "a", "type": "ended"}
    answer = Client(headers=voice.tenant.headers).post(url, body, content_type="application/json")
    assert "'reports'" in answer.json()["error"]["message"]


def test_a_chat_accepts_no_voice_reports(voice: Voice) -> None:
    chat = Voice(voice.turns.on("chat", external_id="other"))
    error = chat.post({"id": "a", "type": "ended"}).json()["error"]
    assert (error["code"], "channel is chat" in error["message"]) == ("no_voice", True)
