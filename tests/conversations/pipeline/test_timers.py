"""Follow-up timers: once each, never over a customer's message, never at night, never in bursts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any

import pytest
from django.db import connection, connections
from django.utils import timezone

from conversations.followups.follow_ups import GOODBYE, after_quiet_hours, fire_follow_ups, next_follow_up, number_of
from conversations.followups.system_events import post_event
from conversations.live.event_log import open_log
from conversations.models import Conversation, FollowUp, Message, Turn
from conversations.turns.services import start_conversation
from jobs.models import Job
from projects.common.phones import zone_of_number
from projects.models.agent_config import AgentConfig
from tests.conftest import Tenant
from tests.conversations.conftest import Talk
from tests.conversations.pipeline.conftest import begin, configure, last_prompt
from tests.conversations.waiting.conftest import awaited, planned
from tests.crashes.invariants import check, settle
from tests.processes import until

pytestmark = pytest.mark.standing_worker

LOUD = {"quiet_hours": None}
DUE = "update conversations_conversation set follow_up_at = clock_timestamp() - %s * interval '1 second' where id = %s"


@pytest.fixture
def without_quiet_hours(tenant: Tenant) -> Tenant:
    """A tenant without quiet hours, so that the time of day doesn't matter."""
    configure(tenant, **LOUD)
    return tenant


def expire_timer(talk: Talk, *, seconds: float = 1) -> None:
    """Make the conversation's timer expire so many seconds ago, by the database's clock."""
    with talk.tenant.tx(), connection.cursor() as cursor:
        cursor.execute(DUE, [seconds, talk.conversation.pk])


def turns(talk: Talk) -> list[str]:
    with talk.tenant.tx():
        return list(Turn.objects.filter(conversation=talk.conversation).values_list("origin", flat=True))


def states(tenant: Tenant) -> list[str]:
    with tenant.tx():
        return list(FollowUp.objects.values_list("state", flat=True))


def seconds_left(talk: Talk) -> float:
    at = talk.reload().follow_up_at
    assert at is not None
    return (at - timezone.now()).total_seconds()


@pytest.mark.requirement("N12")
def test_each_reply_sets_the_timer_by_its_channel(without_quiet_hours, worker) -> None:
    chat, call = begin(without_quiet_hours), begin(without_quiet_hours, channel="webcall")
    chat.exchange("Hello")
    call.exchange("Hello")
    assert 1700 < seconds_left(chat) <= 1800
    assert seconds_left(call) <= 20


def timer_after_reply(talk: Talk, turn: Turn, config: AgentConfig) -> datetime | None:
    """The timer set by the reply's commit."""
    with talk.tenant.tx(), open_log(talk.conversation.pk) as log:
        return next_follow_up(log, config, after=turn)


def newest(talk: Talk) -> Turn:
    with talk.tenant.tx():
        return Turn.objects.filter(conversation=talk.conversation).latest("seq")


@pytest.mark.requirement("N12")
@pytest.mark.parametrize(("fired", "limit", "is_set"), [(0, 1, True), (1, 1, False), (1, 2, True), (2, 2, False)])
def test_follow_ups_are_limited_per_conversation(fired, limit, is_set, without_quiet_hours) -> None:
    """No timer is set beyond the limit, and one set earlier doesn't fire."""
    config = configure(without_quiet_hours, **LOUD, follow_up_limit=limit)
    talk = quiet_talk(without_quiet_hours, follow_ups=fired)
    assert bool(timer_after_reply(talk, newest(talk), config)) is is_set
    expire_timer(talk)
    fire_follow_ups()
    assert turns(talk) == ["message", *["follow_up"] * is_set]
    assert talk.reload().follow_ups == fired + is_set


@pytest.mark.requirement("N12")
@pytest.mark.parametrize("changes", [{"status": "ended"}, {"metadata": {"playground": True}}, {"last_turn": 2}])
def test_no_timer_is_set_when_the_customer_must_not_be_written_to(changes, without_quiet_hours) -> None:
    """The conversation has ended, is a test, or a newer message waits for its reply."""
    config = configure(without_quiet_hours, **LOUD)
    talk = quiet_talk(without_quiet_hours)
    turn = newest(talk)
    assert timer_after_reply(talk, turn, config) is not None
    with without_quiet_hours.tx():
        Conversation.objects.update(**changes)
    assert timer_after_reply(talk, turn, config) is None


@pytest.mark.requirement("N12")
def test_a_timer_ending_in_quiet_hours_moves_to_their_end(tenant) -> None:
    now = timezone.now()
    begins, ends = (f"{(now + timedelta(hours=hours)):%H:%M}" for hours in (-2, 2))
    config = configure(tenant, quiet_hours=[begins, ends], timezone="UTC")
    chat, call = quiet_talk(tenant), begin(tenant, channel="phone")
    at = timer_after_reply(chat, newest(chat), config)
    assert at is not None
    assert f"{at:%H:%M}" == ends
    assert 0 < (timer_after_reply(call, call.say("Hello"), config) - timezone.now()).total_seconds() <= 20  # type: ignore[operator]


@pytest.mark.requirement("N12")
def test_an_urgent_message_stops_the_timer(without_quiet_hours) -> None:
    """The agent is about to write anyway."""
    talk = quiet_talk(without_quiet_hours)
    expire_timer(talk, seconds=-60)
    with without_quiet_hours.tx():
        post_event(talk.conversation, "urgent_message", {"text": "The table is free."})
    assert talk.reload().follow_up_at is None


@pytest.mark.requirement("N12")
@pytest.mark.parametrize("role", ["user", "operator"])
def test_any_message_stops_the_timer(role, without_quiet_hours) -> None:
    """Even without a turn of its own."""
    talk = quiet_talk(without_quiet_hours)
    expire_timer(talk, seconds=-60)
    with without_quiet_hours.tx(), open_log(talk.conversation.pk) as log:
        log.add_message(role, "Here I am", turn=None, idn="said")
    assert talk.reload().follow_up_at is None


def test_the_api_shows_when_the_agent_writes_again(without_quiet_hours, worker, api) -> None:
    talk = begin(without_quiet_hours)
    talk.exchange("Hello")
    shown = api.get(f"/api/v1/conversations/{talk.conversation.pk}").json()["follow_up_at"]
    assert datetime.fromisoformat(shown) == talk.reload().follow_up_at


def test_a_customers_message_stops_the_timer(without_quiet_hours, worker) -> None:
    talk = begin(without_quiet_hours)
    talk.exchange("Hello")
    talk.say("A table for two")
    assert talk.reload().follow_up_at is None


@pytest.mark.requirement("N12")
def test_silence_makes_the_agent_write_exactly_once(without_quiet_hours, worker, model) -> None:
    """In a turn of its own, by an instruction in the prompt."""
    talk = begin(without_quiet_hours)
    talk.exchange("I'd like to book a table")
    expire_timer(talk)
    until(lambda: turns(talk) == ["message", "follow_up"], what="the follow-up")
    settle(without_quiet_hours)
    assert "<FollowUp>" in last_prompt(model, "reply")
    assert talk.reload().follow_up_at is None
    assert states(without_quiet_hours) == ["fired"]
    check(without_quiet_hours)


def test_the_offline_agent_repeats_its_open_question(without_quiet_hours, worker, model) -> None:
    talk = begin(without_quiet_hours)
    asked = talk.exchange("I'd like to book a table")["reply"]["content"]
    expire_timer(talk)
    until(lambda: len(turns(talk)) == 2, what="the follow-up")
    settle(without_quiet_hours)
    with without_quiet_hours.tx():
        said = Message.objects.filter(role="agent").last().content
    assert said.startswith("Are you still there?")
    assert said.split("? ", 1)[1] in asked


def quiet_talk(tenant: Tenant, **conversation: Any) -> Talk:
    """A conversation with one answered message, without any worker."""
    talk = begin(tenant)
    with tenant.tx():
        turn = talk.say("Hello")
        Turn.objects.filter(pk=turn.pk).update(status="done")
        Conversation.objects.filter(pk=talk.conversation.pk).update(**{"follow_ups": 0, **conversation})
        Job.objects.filter(subject_id=talk.conversation.pk).update(state="done")
    return talk


def test_eight_concurrent_sweeps_fire_a_timer_once(without_quiet_hours) -> None:
    talk = quiet_talk(without_quiet_hours)
    expire_timer(talk)
    start = Barrier(8)

    def sweep() -> None:
        try:
            start.wait()
            fire_follow_ups()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: sweep(), range(8)))
    assert turns(talk) == ["message", "follow_up"]
    assert states(without_quiet_hours) == ["fired"]


def test_a_message_committed_first_cancels_the_timer(without_quiet_hours) -> None:
    """The sweep has found the timer, and waits for the lock that the message holds."""
    talk = quiet_talk(without_quiet_hours)
    expire_timer(talk)

    def sweep() -> None:
        try:
            fire_follow_ups()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        with without_quiet_hours.tx():
            talk.say("Here I am")
            firing = pool.submit(sweep)
            until(is_waited_for, what="the sweep to wait for the conversation")
        firing.result(timeout=10)
    assert turns(talk) == ["message", "message"]
    assert states(without_quiet_hours) == []


def is_waited_for() -> bool:
    with connections["owner"].cursor() as cursor:
        cursor.execute("select count(*) from pg_locks where not granted")
        return bool(cursor.fetchone()[0])


def test_a_timer_never_fires_early(without_quiet_hours) -> None:
    """By the database's clock."""
    talk = quiet_talk(without_quiet_hours)
    expire_timer(talk, seconds=-60)
    fire_follow_ups()
    assert turns(talk) == ["message"]
    assert talk.reload().follow_up_at is not None


def test_after_an_outage_of_an_hour_timers_are_missed_and_not_sent_in_a_burst(without_quiet_hours) -> None:
    late, later = quiet_talk(without_quiet_hours), quiet_talk(without_quiet_hours)
    expire_timer(late, seconds=3500)
    expire_timer(later, seconds=3700)
    fire_follow_ups()
    assert turns(late) == ["message", "follow_up"]
    assert turns(later) == ["message"]
    assert sorted(states(without_quiet_hours)) == ["fired", "missed"]
    assert later.reload().follow_up_at is None


def test_a_timer_expiring_in_quiet_hours_waits_for_their_end(tenant) -> None:
    now = timezone.now()
    begins, ends = (f"{(now + timedelta(hours=hours)):%H:%M}" for hours in (-2, 2))
    configure(tenant, quiet_hours=[begins, ends], timezone="UTC")
    talk = quiet_talk(tenant)
    expire_timer(talk)
    fire_follow_ups()
    assert turns(talk) == ["message"]
    assert 6900 < seconds_left(talk) <= 7200


def rome(*quiet: str) -> AgentConfig:
    return AgentConfig(agent_name="A", business_name="B", timezone="Europe/Rome", quiet_hours=quiet)


@pytest.mark.parametrize(
    ("quiet", "at", "loud_at"),
    [
        # An ordinary night, over midnight
        (("21:00", "08:00"), "2026-11-16T19:59", "2026-11-16T19:59"),
        (("21:00", "08:00"), "2026-11-16T20:00", "2026-11-17T07:00"),
        (("21:00", "08:00"), "2026-11-17T06:59", "2026-11-17T07:00"),
        # The nights in which the clocks change: one hour less, one hour more
        (("21:00", "08:00"), "2026-03-28T20:30", "2026-03-29T06:00"),
        (("21:00", "08:00"), "2026-10-24T19:30", "2026-10-25T07:00"),
        # An end that doesn't exist, and one that occurs twice
        (("21:00", "02:30"), "2026-03-29T00:30", "2026-03-29T01:30"),
        (("21:00", "02:30"), "2026-10-25T00:10", "2026-10-25T01:30"),
        # Within one day
        (("12:30", "14:00"), "2026-11-16T11:29", "2026-11-16T11:29"),
        (("12:30", "14:00"), "2026-11-16T11:30", "2026-11-16T13:00"),
        (("12:30", "14:00"), "2026-11-16T22:30", "2026-11-16T22:30"),
        # Settings that are refused now but may have been saved earlier
        (("08:00", "08:00"), "2026-11-16T07:00", "2026-11-16T07:00"),
    ],
)
def test_quiet_hours_use_the_projects_time_zone(quiet, at, loud_at) -> None:
    """Also on the two days of a clock change."""
    moment = datetime.fromisoformat(at).replace(tzinfo=UTC)
    assert after_quiet_hours(rome(*quiet), "chat", at=moment).isoformat()[:16] == loud_at


def test_quiet_hours_do_not_apply_to_calls() -> None:
    at = datetime(2026, 11, 16, 23, tzinfo=UTC)
    assert after_quiet_hours(rome("21:00", "08:00"), "webcall", at=at) == at


@pytest.mark.parametrize(
    ("number", "zone"),
    [("+393331234567", "Europe/Rome"), ("+14155550100", "America/Los_Angeles"), ("+79161234567", ""), ("+1", "")],
    ids=["one zone", "by the area code", "several zones", "no number"],
)
def test_a_number_tells_the_customers_time_zone(number: str, zone: str) -> None:
    """Where its country has one, or its area code says which."""
    found = zone_of_number(number, at=datetime(2026, 6, 1, tzinfo=UTC))
    assert (str(found) if found else "") == zone


@pytest.mark.parametrize(
    ("chat", "number"),
    [
        ({"kind": "twilio", "id": "+393331234567"}, "+393331234567"),
        ({"kind": "twilio", "id": "whatsapp:+393331234567"}, "+393331234567"),
        ({"kind": "whatsapp", "id": "393331234567"}, "+393331234567"),
        ({"kind": "telegram", "id": "393331234567"}, ""),
    ],
)
def test_a_chat_is_named_by_the_customers_number(chat: dict[str, str], number: str) -> None:
    assert number_of(chat) == number


def test_quiet_hours_are_those_of_the_customers_time_zone() -> None:
    """At 22:00 in Rome it is the afternoon in San Francisco."""
    at = datetime(2026, 6, 1, 20, 0, tzinfo=UTC)
    zone = zone_of_number("+14155550100", at=at)
    assert after_quiet_hours(rome("21:00", "08:00"), "sms", at=at, zone=zone) == at
    assert after_quiet_hours(rome("21:00", "08:00"), "sms", at=at) > at


def test_the_playground_is_not_followed_up(without_quiet_hours, worker) -> None:
    talk = begin(without_quiet_hours)
    with without_quiet_hours.tx():
        talk.conversation = start_conversation(
            without_quiet_hours.project, channel="chat", external_id="guest", known={}, metadata={"playground": True}
        )
    talk.exchange("Hello")
    assert talk.reload().follow_up_at is None


@pytest.mark.parametrize("changes", [{"follow_up_limit": 0}, {"follow_up_minutes": {"text": 0}}])
def test_follow_ups_can_be_switched_off(changes, without_quiet_hours, worker) -> None:
    configure(without_quiet_hours, **changes)
    talk = begin(without_quiet_hours)
    talk.exchange("Hello")
    assert talk.reload().follow_up_at is None


@pytest.mark.requirement("N12")
def test_a_timer_does_not_fire_while_a_result_is_awaited(without_quiet_hours) -> None:
    """The customer is waiting for us, even if something has set the timer again."""
    talk = quiet_talk(without_quiet_hours)
    awaited(talk, newest(talk))
    expire_timer(talk)
    fire_follow_ups()
    assert turns(talk) == ["message"]


@pytest.mark.requirement("N12")
def test_a_timer_does_not_fire_while_an_operator_answers(without_quiet_hours) -> None:
    talk = quiet_talk(without_quiet_hours, operator=without_quiet_hours.owner)
    expire_timer(talk)
    fire_follow_ups()
    assert turns(talk) == ["message"]


@pytest.mark.requirement("N12")
def test_there_is_no_follow_up_after_a_goodbye(without_quiet_hours) -> None:
    """Even if something has set the timer again."""
    talk = quiet_talk(without_quiet_hours)
    planned(talk, newest(talk), tool=GOODBYE)
    expire_timer(talk)
    fire_follow_ups()
    assert turns(talk) == ["message"]
    assert states(without_quiet_hours) == []


def test_a_lowered_limit_applies_to_running_timers(without_quiet_hours) -> None:
    talk = quiet_talk(without_quiet_hours)
    expire_timer(talk)
    configure(without_quiet_hours, follow_up_limit=0)
    fire_follow_ups()
    assert turns(talk) == ["message"]


def test_a_failed_follow_up_sends_nothing_to_the_customer(without_quiet_hours, worker, model) -> None:
    talk = begin(without_quiet_hours)
    talk.exchange("Hello")
    model.script("reply", times=0, fault="401")
    expire_timer(talk)
    until(lambda: len(turns(talk)) == 2, what="the follow-up")
    settle(without_quiet_hours)
    with without_quiet_hours.tx():
        assert Turn.objects.get(seq=2).status == "failed"
        assert Message.objects.filter(role="agent").count() == 1


@pytest.mark.short_leases
@pytest.mark.parametrize("label", ["timer.claimed", "timer.inserted_pre_commit", "timer.committed_pre_wake"])
def test_a_timer_survives_a_worker_killed_while_firing_it(label, without_quiet_hours, processes, model) -> None:
    """A real SIGKILL; another worker takes over, and the timer fires once."""
    talk = quiet_talk(without_quiet_hours)
    doomed = processes.worker(crash_at=f"{label}:1")
    expire_timer(talk)
    doomed.wait()
    processes.worker()
    until(lambda: states(without_quiet_hours) == ["fired"], what="the follow-up")
    settle(without_quiet_hours)
    assert turns(talk) == ["message", "follow_up"]
    with without_quiet_hours.tx():
        assert Message.objects.filter(conversation=talk.conversation, role="agent").count() == 1
