"""Promises: each with its quote and its outcome."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.utils import timezone

from conversations.common.promise_todos import find_todos
from conversations.common.turn_detail import turn_payload
from conversations.models import Turn
from projects.common.presenters import stamp
from tests.conversations.promises.conftest import ASKS_UNSERVED, PROMISE, SMS, Desk, begin
from todos.api.presenters import todo_payload
from todos.models import Todo, TodoStatus
from tools.engine.promise_answers import mark_kept
from tools.engine.promises import (
    BY_HAND_GRACE,
    KEPT_LATE,
    LATE,
    NO_TOOL,
    STAFF_DEADLINE,
    break_overdue_promises,
    settle_promises,
)
from tools.models import Effect, EffectState, Promise

CHEF = {"quote": "I'll ask the chef about it", "what": "ask the chef"}
TWO = f"{CHEF['quote']}. {PROMISE}"


def ended(desk: Desk, state: EffectState, **changes: Any) -> Promise:
    """The promise of an effect that has reached a state."""
    desk.reads(SMS)
    desk.analyse(PROMISE)
    return settled(desk, state, **changes)


def settled(desk: Desk, state: EffectState, **changes: Any) -> Promise:
    [effect] = desk.effects()[:1]
    with desk.tenant.tx():
        Effect.objects.filter(pk=effect.pk).update(state=state, **changes)
        settle_promises(Effect.objects.get(pk=effect.pk))
    return desk.promises()[0]


def due(desk: Desk, *, seconds: float = -1) -> None:
    with desk.tenant.tx(), connection.cursor() as cursor:
        cursor.execute("update tools_promise set due_at = clock_timestamp() + %s * interval '1 second'", [seconds])


def test_each_fired_verdict_opens_a_promise_with_its_exact_quote(desk: Desk) -> None:
    desk.reads(SMS)
    turn = desk.analyse(PROMISE)
    [promise] = turn["promises"]
    assert (promise["quote"], promise["tool"], promise["state"]) == (PROMISE, SMS, "open")
    assert promise["effect"] == turn["effects"][0]["id"]
    assert promise["message"] == turn["reply"]["id"]
    assert promise["due_at"] > promise["created_at"]


def test_a_tool_that_was_held_back_opens_no_promise(desk: Desk) -> None:
    desk.reads(SMS, rule="offer")
    assert desk.analyse("I can send you an SMS.")["promises"] == []


@pytest.mark.parametrize(
    ("state", "becomes"),
    [
        (EffectState.DONE, "kept"),
        (EffectState.FAILED, "broken"),
        (EffectState.CANCELLED, "withdrawn"),
        (EffectState.UNKNOWN, "open"),
        (EffectState.SENDING, "open"),
    ],
)
def test_a_promise_follows_the_state_of_its_effect(desk: Desk, state: EffectState, becomes: str) -> None:
    """An unknown outcome does not keep a promise."""
    assert ended(desk, state).state == becomes


def test_a_broken_promise_gives_the_reason(desk: Desk) -> None:
    assert (
        ended(desk, EffectState.FAILED, error="The number is not a mobile's.").reason == "The number is not a mobile's."
    )


def test_a_repeated_promise_is_kept_by_the_first_effect(desk: Desk) -> None:
    desk.reads(SMS, times=2)
    desk.analyse(PROMISE)
    desk.analyse(PROMISE)
    first, second = desk.effects()
    with desk.tenant.tx():
        Effect.objects.filter(pk=first.pk).update(state=EffectState.DONE)
        Effect.objects.filter(pk=second.pk).update(state=EffectState.HELD, repeats=first.pk)
        settle_promises(Effect.objects.get(pk=second.pk))
    assert [(promise.state, promise.effect_id) for promise in desk.promises()] == [("kept", first.pk)] * 2


def test_the_sweep_breaks_an_overdue_promise(desk: Desk) -> None:
    desk.reads(SMS)
    desk.analyse(PROMISE)
    due(desk)
    break_overdue_promises()
    [promise] = desk.promises()
    assert (promise.state, promise.reason) == ("broken", LATE)
    assert promise.closed_at is not None


def test_a_promise_that_is_not_due_stays_open(desk: Desk) -> None:
    for _ in range(2):
        desk.reads(SMS)
        desk.analyse(PROMISE)
    due(desk, seconds=60)
    first = desk.promises()[0]
    with desk.tenant.tx():
        Promise.objects.filter(pk=first.pk).update(due_at=first.created_at)
    break_overdue_promises()
    assert [promise.state for promise in desk.promises()] == ["broken", "open"]


def test_a_broken_promise_can_be_kept_late(desk: Desk) -> None:
    desk.reads(SMS)
    desk.analyse(PROMISE)
    due(desk)
    break_overdue_promises()
    promise = settled(desk, EffectState.DONE)
    assert (promise.state, promise.reason) == ("kept", KEPT_LATE)


def test_a_promise_no_tool_serves_is_recorded(desk: Desk) -> None:
    desk.reads(unserved=[CHEF])
    turn = desk.analyse(CHEF["quote"])
    [promise] = turn["promises"]
    assert (promise["quote"], promise["tool"], promise["state"]) == (CHEF["quote"], None, "open")
    assert promise["reason"] == NO_TOOL
    assert turn["effects"] == []


def test_a_turn_names_who_has_a_promise_that_only_a_person_can_keep(desk: Desk) -> None:
    desk.reads(unserved=[CHEF])
    [promise] = desk.analyse(CHEF["quote"])["promises"]
    with desk.tenant.tx():
        todo = Todo.objects.get()
        assert (promise["todo"], promise["taker"]) == (str(todo.pk), None)
        Todo.objects.update(status=TodoStatus.IN_PROGRESS, taker="Lucia")
        [promise] = turn_payload(Turn.objects.get())["promises"]
    assert promise["taker"] == "Lucia"


def test_a_promise_in_the_same_words_shares_the_todo(desk: Desk) -> None:
    for _ in range(2):
        desk.reads(unserved=[CHEF])
        [promise] = desk.analyse(CHEF["quote"])["promises"]
    with desk.tenant.tx():
        assert promise["todo"] == str(Todo.objects.get().pk)


@pytest.mark.parametrize(
    ("answer", "promised"),
    [
        ("Sure. I'll pass it on to my colleagues today.", ["I'll pass it on to my colleagues today"]),
        ("I'll ask the chef and get back to you.", ["I'll ask the chef and get back to you"]),
        ("I can ask the kitchen, if you like.", []),
        ("A colleague will call you.", []),
        ("I'll transfer you to my colleague.", []),
        ("I'll send you an SMS.", []),
    ],
)
def test_the_offline_model_finds_promises_for_people(desk: Desk, answer: str, promised: list[str]) -> None:
    desk.analyse(answer)
    assert [promise.quote for promise in desk.promises() if not promise.tool] == promised


def test_served_and_unserved_promises_of_one_answer_are_both_recorded(desk: Desk) -> None:
    desk.reads(SMS, unserved=[CHEF])
    desk.analyse(TWO)
    assert sorted(promise.tool for promise in desk.promises()) == ["", SMS]


LATER = "I'll call you back"


def reads_time(desk: Desk, at: str | None) -> Promise:
    """The promise of a call, for which the detection read a time."""
    desk.reads(unserved=[{"quote": LATER, "what": "a call", "at": at}])
    desk.analyse(f"{LATER}.")
    [promise] = desk.promises()
    return promise


def local_time(desk: Desk, **later: float) -> datetime:
    with desk.tenant.tx():
        zone = ZoneInfo(desk.tenant.project.agent_version.config.timezone)
    return (timezone.now().astimezone(zone) + timedelta(**later)).replace(second=0, microsecond=0)


def test_a_promise_for_a_named_time_is_due_then_in_the_businesss_zone(desk: Desk) -> None:
    at = local_time(desk, days=3)
    assert reads_time(desk, f"{at:%Y-%m-%dT%H:%M}").due_at == at


def test_a_promise_for_a_named_day_is_due_at_its_end(desk: Desk) -> None:
    at = local_time(desk, days=3)
    assert reads_time(desk, f"{at:%Y-%m-%d}").due_at == at.replace(hour=23, minute=59)


@pytest.mark.parametrize("form", ["%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M"])
def test_a_time_with_seconds_or_a_space_is_read_as_well(desk: Desk, form: str) -> None:
    at = local_time(desk, days=3)
    assert reads_time(desk, f"{at:{form}}").due_at == at


UNCLEAR = [None, "", "tomorrow at 10", "2026-13-45", "2001-01-01T10:00", "2999-01-01", "10:00"]


@pytest.mark.parametrize("at", [*UNCLEAR, 7, 1.5, True, ["2026-11-27"], {"day": "2026-11-27"}])
def test_a_promise_for_no_clear_time_is_due_after_a_day(desk: Desk, at: object) -> None:
    """A time in a form that was not asked for costs the time alone: the detection is not asked again."""
    promise = reads_time(desk, at)
    assert abs(promise.due_at - promise.created_at - STAFF_DEADLINE) < timedelta(minutes=1)
    assert len([one for one in desk.model.requests("detect") if ASKS_UNSERVED in one["messages"][0]["content"]]) == 1


def says_times(desk: Desk, *times: datetime | None) -> list[Promise]:
    """The promises of replies with the same words, each for one of these times."""
    for at in times:
        desk.reads(unserved=[{"quote": LATER, "what": "a call", "at": f"{at:%Y-%m-%dT%H:%M}" if at else None}])
        desk.analyse(f"{LATER}.")
    return desk.promises()


def quoted_todos(desk: Desk) -> list[Todo]:
    with desk.tenant.tx():
        return list(Todo.objects.order_by("created_at"))


def test_the_same_words_for_another_time_are_another_promise(desk: Desk) -> None:
    """An answer to one of them is none to the other."""
    monday, friday = local_time(desk, days=3), local_time(desk, days=7)
    first, second = says_times(desk, monday, friday)
    assert [todo.promise_id for todo in quoted_todos(desk)] == [first.pk, second.pk]
    with desk.tenant.tx():
        assert all(todo.promise_id == one for one, todo in find_todos([first, second]).items())
        mark_kept(desk.tenant.project, second.pk, by="Ada")
    assert [promise.state for promise in desk.promises()] == ["open", "kept"]


@pytest.mark.parametrize("has_time", [True, False])
def test_the_same_words_without_another_time_repeat_a_promise(desk: Desk, has_time: bool) -> None:
    at = local_time(desk, days=3)
    first, second = says_times(desk, at, at if has_time else None)
    assert (first.due_at, second.due_at) == (at, at)
    assert [todo.promise_id for todo in quoted_todos(desk)] == [first.pk]


def test_a_promise_whose_time_has_passed_gives_none_to_its_repetition(desk: Desk) -> None:
    """Otherwise it would be overdue as it is made."""
    [first] = says_times(desk, local_time(desk, days=3))
    with desk.tenant.tx():
        past = first.created_at - timedelta(minutes=5)
        Promise.objects.filter(pk=first.pk).update(promised_for=past, due_at=past)
    _, second = says_times(desk, None)
    assert second.due_at > second.created_at


def test_the_same_words_for_two_times_of_one_reply_are_two_promises(desk: Desk) -> None:
    times = [local_time(desk, days=days) for days in (3, 7)]
    reads = [{"quote": LATER, "what": "a call", "at": at and f"{at:%Y-%m-%d}"} for at in (*times, times[0], None)]
    desk.reads(unserved=reads)
    desk.analyse(f"{LATER}.")
    assert [promise.due_at.date() for promise in desk.promises()] == [at.date() for at in times]
    assert len(quoted_todos(desk)) == 2


def test_the_todo_of_a_later_promise_is_due_with_it_and_waits_as_long(desk: Desk) -> None:
    promise = reads_time(desk, f"{local_time(desk, days=30):%Y-%m-%dT%H:%M}")
    with desk.tenant.tx():
        todo = Todo.objects.select_related("type", "promise").get()
        assert todo_payload(todo)["due_at"] == stamp(promise.due_at)
        assert todo.expires_at > promise.due_at


def test_a_promise_kept_by_hand_has_a_while_after_it_was_due(desk: Desk) -> None:
    reads_time(desk, None)
    for seconds, state in ((-1, "open"), (-BY_HAND_GRACE.total_seconds() - 1, "broken")):
        due(desk, seconds=seconds)
        break_overdue_promises()
        assert desk.promises()[0].state == state


def test_the_offline_model_reads_the_time_of_a_promise(desk: Desk) -> None:
    desk.analyse("I'll call you tomorrow at 10.")
    [promise] = desk.promises()
    assert promise.due_at == local_time(desk, days=1).replace(hour=10, minute=0)


def test_a_quote_the_agent_did_not_say_is_no_promise(desk: Desk) -> None:
    desk.reads(unserved=[{"quote": "I'll give you a discount", "what": "a discount"}])
    desk.analyse(PROMISE)
    assert desk.promises() == []


@pytest.mark.requirement("N33")
def test_a_quote_is_matched_regardless_of_its_apostrophes(desk: Desk) -> None:
    """The agent wrote a curly apostrophe, the model a straight one."""
    desk.reads(unserved=[CHEF])
    desk.analyse(CHEF["quote"].replace("'", "’"))
    assert [promise.quote for promise in desk.promises()] == [CHEF["quote"]]


def test_a_promise_served_by_a_tool_is_not_also_unserved(desk: Desk) -> None:
    desk.reads(SMS, unserved=[{"quote": PROMISE, "what": "send an SMS"}])
    desk.analyse(PROMISE)
    assert [promise.tool for promise in desk.promises()] == [SMS]


@pytest.mark.parametrize(
    ("rule", "left"), [("future_step", [("", "staff")]), ("condition", [("", "staff")]), ("offer", [])]
)
def test_a_promise_for_a_later_time_is_left_to_staff(desk: Desk, rule: str, left: list[tuple[str, str]]) -> None:
    """A tool acts at once, so the model names it as held back."""
    desk.reads(SMS, unserved=[{"quote": PROMISE, "what": "a text tomorrow"}], rule=rule)
    desk.analyse(PROMISE)
    assert [(promise.tool, promise.owner) for promise in desk.promises()] == left


def test_only_one_detection_looks_for_unserved_promises(desk: Desk) -> None:
    """It is told the other call's tools, so that it reports none of their promises as unserved."""
    desk.analyse(PROMISE)
    first, second = (request["messages"][0]["content"] for request in desk.model.requests("detect"))
    if "# Other tools" not in first:
        first, second = second, first
    assert "- create_booking_tool: " in first.partition("# Other tools")[2].partition("\n# Tools\n")[0]
    assert "`unserved`" not in second


def test_an_unbacked_claim_is_flagged_and_corrected(desk: Desk) -> None:
    """Rule 2 without an effect: staff is alerted, and the next reply corrects the claim."""
    desk.reads(SMS, quote="I've sent you the SMS", rule="completed")
    desk.analyse("I've sent you the SMS.")
    conversation = desk.talk.reload()
    assert conversation.correction == "I've sent you the SMS"
    assert "I've sent you the SMS" in conversation.flag
    assert event_of(desk, "claim_unbacked")["tool"] == SMS


def test_two_unbacked_claims_are_both_corrected(desk: Desk) -> None:
    said = ("I've sent you the SMS", "I've checked the table")
    told = [
        {"tool": tool, "quote": quote, "conditions": [], "rule": "completed"}
        for tool, quote in zip((SMS, "check_availability_tool"), said, strict=True)
    ]
    desk.model.script("detect", match=ASKS_UNSERVED, json={"verdicts": told, "unserved": []})
    desk.analyse(f"{said[0]}, and {said[1]}.")
    conversation = desk.talk.reload()
    assert conversation.correction == '" and "'.join(said)
    assert all(quote in conversation.flag for quote in said)


@pytest.mark.parametrize("rule", ["offer", "in_progress", "negation"])
def test_only_claims_of_completed_actions_are_corrected(desk: Desk, rule: str) -> None:
    """Nobody apologizes for an offer."""
    desk.reads(SMS, rule=rule)
    desk.analyse(PROMISE)
    assert (desk.talk.reload().correction, desk.talk.reload().flag) == ("", "")


def test_a_message_in_the_outbox_backs_no_claim(desk: Desk) -> None:
    """It was written, and nothing has left."""
    desk.reads(SMS)
    desk.analyse(PROMISE)
    with desk.tenant.tx():
        Effect.objects.update(state=EffectState.DONE, adapter="outbox")
    desk.reads(SMS, quote="I've sent you the SMS", rule="completed")
    desk.analyse("I've sent you the SMS.")
    assert desk.talk.reload().correction == "I've sent you the SMS"


def event_of(desk: Desk, idn: str) -> dict[str, Any]:
    with desk.tenant.tx():
        return dict(desk.talk.conversation.events.get(idn=idn).payload)


@pytest.mark.parametrize("state", [EffectState.DONE, EffectState.PLANNED, EffectState.HELD])
def test_a_claim_backed_by_an_effect_stands(desk: Desk, state: EffectState) -> None:
    ended(desk, state)
    desk.reads(SMS, quote="I've sent it", rule="completed")
    desk.analyse("I've sent it.")
    assert desk.talk.reload().correction == ""


@pytest.mark.parametrize("state", [EffectState.UNKNOWN, EffectState.FAILED, EffectState.CANCELLED])
def test_an_effect_that_did_not_happen_backs_no_claim(desk: Desk, state: EffectState) -> None:
    ended(desk, state)
    desk.reads(SMS, quote="I've sent it", rule="completed")
    desk.analyse("I've sent it.")
    assert desk.talk.reload().correction == "I've sent it"


def test_an_effect_for_another_customer_backs_no_claim(desk: Desk) -> None:
    ended(desk, EffectState.DONE)
    desk.talk = begin(desk.tenant, external_id="another")
    desk.reads(SMS, quote="I've sent it", rule="completed")
    desk.analyse("I've sent it.")
    assert desk.talk.reload().correction == "I've sent it"


def test_a_custom_tool_backs_no_claim_of_another(desk: Desk) -> None:
    """One webhook's success does not prove another's."""
    action = {"type": "send_webhook", "options": {"url": "https://example.com/"}}
    for name in ("notify_crew", "file_complaint"):
        desk.tool(name, action=action)
    desk.reads("notify_crew")
    desk.analyse(PROMISE)
    desk.reads("notify_crew", quote="I've told the crew", rule="completed")
    desk.analyse("I've told the crew.")
    assert desk.talk.reload().correction == ""
    desk.reads("file_complaint", quote="I've filed it", rule="completed")
    desk.analyse("I've filed it.")
    assert desk.talk.reload().correction == "I've filed it"


def test_only_the_next_reply_is_told_to_correct_the_claim(desk: Desk, processes) -> None:
    desk.reads(SMS, quote="I've sent it", rule="completed")
    desk.analyse("I've sent it.")
    processes.worker()
    for words in ("Where is it?", "Thanks"):
        desk.talk.exchange(words)
    one, other = (request["messages"][-1]["content"] for request in desk.model.requests("reply"))
    assert '<Correction>\nYou told the customer: "I\'ve sent it".' in one
    assert "<Correction>" not in other


def test_the_api_lists_promises_by_state(desk: Desk, api) -> None:
    desk.reads(SMS, unserved=[CHEF])
    desk.analyse(TWO)
    settled(desk, EffectState.DONE)
    found = api.get("/api/v1/promises?state=kept").json()["results"]
    assert [(promise["tool"], promise["state"]) for promise in found] == [(SMS, "kept")]


def test_the_api_lists_the_promises_of_one_conversation(desk: Desk, api) -> None:
    desk.reads(SMS, times=2)
    desk.analyse(PROMISE)
    other, desk.talk = desk.talk, begin(desk.tenant, external_id="another")
    desk.analyse(PROMISE)
    found = api.get(f"/api/v1/promises?conversation={other.conversation.pk}").json()["results"]
    assert [promise["conversation"] for promise in found] == [str(other.conversation.pk)]


@pytest.mark.parametrize("query", ["state=lost", "conversation=1"])
def test_the_api_names_the_invalid_filter(api, query: str) -> None:
    answer = api.get(f"/api/v1/promises?{query}")
    assert answer.status_code == 400
    assert answer.json()["error"]["field"] == query.partition("=")[0]


def test_another_tenants_promises_are_not_listed(desk: Desk, stranger, client) -> None:
    desk.reads(SMS)
    desk.analyse(PROMISE)
    found = client.get("/api/v1/promises", headers=stranger.headers)
    assert json.loads(found.content)["results"] == []
