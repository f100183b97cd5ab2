"""Follow-up timers: once, never over a customer's message, never in the night, never in a burst."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any

import pytest
from django.db import connection, connections
from django.utils import timezone

from conversations.followups.follow_ups import GOODBYE, after_quiet_hours, fire_follow_ups, next_follow_up
from conversations.followups.system_events import post_event
from conversations.live.event_log import open_log
from conversations.models import Conversation, FollowUp, Message, Turn
from conversations.turns.services import start_conversation
from jobs.models import Job
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
def loud(tenant: Tenant) -> Tenant:
    """A tenant without quiet hours, so that the time of day doesn't matter."""
    configure(tenant, **LOUD)
    return tenant


def ran_out(talk: Talk, *, seconds: float = 1) -> None:
    """Let the conversation's timer have run out so many seconds ago, by the database's clock."""
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
def test_each_reply_sets_the_timer_by_its_channel(loud, worker) -> None:
    chat, call = begin(loud), begin(loud, channel="webcall")
    chat.exchange("Hello")
    call.exchange("Hello")
    assert 1700 < seconds_left(chat) <= 1800
    assert seconds_left(call) <= 20


def begins_again(talk: Talk, turn: Turn, config: AgentConfig) -> datetime | None:
    """What the reply's commit sets the timer to."""
    with talk.tenant.tx(), open_log(talk.conversation.pk) as log:
        return next_follow_up(log, config, after=turn)


def newest(talk: Talk) -> Turn:
    with talk.tenant.tx():
        return Turn.objects.filter(conversation=talk.conversation).latest("seq")


@pytest.mark.requirement("N12")
@pytest.mark.parametrize(("fired", "limit", "is_set"), [(0, 1, True), (1, 1, False), (1, 2, True), (2, 2, False)])
def test_a_conversation_has_so_many_follow_ups_and_no_more(fired, limit, is_set, loud) -> None:
    """Neither is a timer set over the limit, nor does one fire that was set before."""
    config = configure(loud, **LOUD, follow_up_limit=limit)
    talk = quiet_talk(loud, follow_ups=fired)
    assert bool(begins_again(talk, newest(talk), config)) is is_set
    ran_out(talk)
    fire_follow_ups()
    assert turns(talk) == ["message", *["follow_up"] * is_set]
    assert talk.reload().follow_ups == fired + is_set


@pytest.mark.requirement("N12")
@pytest.mark.parametrize("changes", [{"status": "ended"}, {"metadata": {"playground": True}}, {"last_turn": 2}])
def test_no_timer_is_set_where_nobody_is_to_be_written_to(changes, loud) -> None:
    """It is over, it is a trial, or a newer message waits for its own reply."""
    config = configure(loud, **LOUD)
    talk = quiet_talk(loud)
    turn = newest(talk)
    assert begins_again(talk, turn, config) is not None
    with loud.tx():
        Conversation.objects.update(**changes)
    assert begins_again(talk, turn, config) is None


@pytest.mark.requirement("N12")
def test_a_timer_that_would_run_out_in_quiet_hours_is_set_to_their_end(tenant) -> None:
    now = timezone.now()
    begins, ends = (f"{(now + timedelta(hours=hours)):%H:%M}" for hours in (-2, 2))
    config = configure(tenant, quiet_hours=[begins, ends], timezone="UTC")
    chat, call = quiet_talk(tenant), begin(tenant, channel="phone")
    at = begins_again(chat, newest(chat), config)
    assert at is not None
    assert f"{at:%H:%M}" == ends
    assert 0 < (begins_again(call, call.say("Hello"), config) - timezone.now()).total_seconds() <= 20  # type: ignore[operator]


@pytest.mark.requirement("N12")
def test_what_the_agent_is_to_say_at_once_stops_the_timer(loud) -> None:
    """It is about to speak anyway."""
    talk = quiet_talk(loud)
    ran_out(talk, seconds=-60)
    with loud.tx():
        post_event(talk.conversation, "urgent_message", {"text": "The table is free."})
    assert talk.reload().follow_up_at is None


@pytest.mark.requirement("N12")
@pytest.mark.parametrize("role", ["user", "operator"])
def test_whoever_says_something_stops_the_timer(role, loud) -> None:
    """Without a turn of its own as well."""
    talk = quiet_talk(loud)
    ran_out(talk, seconds=-60)
    with loud.tx(), open_log(talk.conversation.pk) as log:
        log.add_message(role, "Here I am", turn=None, idn="said")
    assert talk.reload().follow_up_at is None


def test_a_conversation_shows_when_the_agent_writes_again(loud, worker, api) -> None:
    talk = begin(loud)
    talk.exchange("Hello")
    shown = api.get(f"/api/v1/conversations/{talk.conversation.pk}").json()["follow_up_at"]
    assert datetime.fromisoformat(shown) == talk.reload().follow_up_at


def test_a_customer_s_message_stops_the_timer(loud, worker) -> None:
    talk = begin(loud)
    talk.exchange("Hello")
    talk.say("A table for two")
    assert talk.reload().follow_up_at is None


@pytest.mark.requirement("N12")
def test_silence_makes_the_agent_write_once_by_an_instruction_in_its_prompt(loud, worker, model) -> None:
    """A turn of its own, and no second one after it."""
    talk = begin(loud)
    talk.exchange("I'd like to book a table")
    ran_out(talk)
    until(lambda: turns(talk) == ["message", "follow_up"], what="the follow-up")
    settle(loud)
    assert "<FollowUp>" in last_prompt(model, "reply")
    assert talk.reload().follow_up_at is None
    assert states(loud) == ["fired"]
    check(loud)


def test_the_offline_agent_asks_again_what_stayed_open(loud, worker, model) -> None:
    talk = begin(loud)
    asked = talk.exchange("I'd like to book a table")["reply"]["content"]
    ran_out(talk)
    until(lambda: len(turns(talk)) == 2, what="the follow-up")
    settle(loud)
    with loud.tx():
        said = Message.objects.filter(role="agent").last().content
    assert said.startswith("Are you still there?")
    assert said.split("? ", 1)[1] in asked


def quiet_talk(tenant: Tenant, **conversation: Any) -> Talk:
    """A conversation whose one message was answered, without any worker."""
    talk = begin(tenant)
    with tenant.tx():
        turn = talk.say("Hello")
        Turn.objects.filter(pk=turn.pk).update(status="done")
        Conversation.objects.filter(pk=talk.conversation.pk).update(**{"follow_ups": 0, **conversation})
        Job.objects.filter(subject_id=talk.conversation.pk).update(state="done")
    return talk


def test_eight_sweeps_at_once_fire_a_timer_once(loud) -> None:
    talk = quiet_talk(loud)
    ran_out(talk)
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
    assert states(loud) == ["fired"]


def test_a_message_that_is_committed_first_cancels_the_timer(loud) -> None:
    """The sweep has found the timer already, and waits for the lock that the message holds."""
    talk = quiet_talk(loud)
    ran_out(talk)

    def sweep() -> None:
        try:
            fire_follow_ups()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        with loud.tx():
            talk.say("Here I am")
            firing = pool.submit(sweep)
            until(is_waited_for, what="the sweep to wait for the conversation")
        firing.result(timeout=10)
    assert turns(talk) == ["message", "message"]
    assert states(loud) == []


def is_waited_for() -> bool:
    with connections["owner"].cursor() as cursor:
        cursor.execute("select count(*) from pg_locks where not granted")
        return bool(cursor.fetchone()[0])


def test_a_timer_is_never_early(loud) -> None:
    """By the database's clock."""
    talk = quiet_talk(loud)
    ran_out(talk, seconds=-60)
    fire_follow_ups()
    assert turns(talk) == ["message"]
    assert talk.reload().follow_up_at is not None


def test_after_an_outage_of_an_hour_timers_are_missed_and_not_sent_in_a_burst(loud) -> None:
    late, later = quiet_talk(loud), quiet_talk(loud)
    ran_out(late, seconds=3500)
    ran_out(later, seconds=3700)
    fire_follow_ups()
    assert turns(late) == ["message", "follow_up"]
    assert turns(later) == ["message"]
    assert sorted(states(loud)) == ["fired", "missed"]
    assert later.reload().follow_up_at is None


def test_a_timer_that_runs_out_in_quiet_hours_waits_for_their_end(tenant) -> None:
    now = timezone.now()
    begins, ends = (f"{(now + timedelta(hours=hours)):%H:%M}" for hours in (-2, 2))
    configure(tenant, quiet_hours=[begins, ends], timezone="UTC")
    talk = quiet_talk(tenant)
    ran_out(talk)
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
        # An end that doesn't exist, and one that comes twice
        (("21:00", "02:30"), "2026-03-29T00:30", "2026-03-29T01:30"),
        (("21:00", "02:30"), "2026-10-25T00:10", "2026-10-25T01:30"),
        # Within one day
        (("12:30", "14:00"), "2026-11-16T11:29", "2026-11-16T11:29"),
        (("12:30", "14:00"), "2026-11-16T11:30", "2026-11-16T13:00"),
        (("12:30", "14:00"), "2026-11-16T22:30", "2026-11-16T22:30"),
        # As such settings were saved before they were refused
        (("08:00", "08:00"), "2026-11-16T07:00", "2026-11-16T07:00"),
    ],
)
def test_quiet_hours_hold_in_the_project_s_time_zone(quiet, at, loud_at) -> None:
    """Also on the two days on which the clocks change."""
    moment = datetime.fromisoformat(at).replace(tzinfo=UTC)
    assert after_quiet_hours(rome(*quiet), "chat", at=moment).isoformat()[:16] == loud_at


def test_a_caller_is_on_the_line_and_has_no_quiet_hours() -> None:
    at = datetime(2026, 11, 16, 23, tzinfo=UTC)
    assert after_quiet_hours(rome("21:00", "08:00"), "webcall", at=at) == at


def test_the_playground_is_not_followed_up(loud, worker) -> None:
    talk = begin(loud)
    with loud.tx():
        talk.conversation = start_conversation(
            loud.project, channel="chat", external_id="guest", known={}, metadata={"playground": True}
        )
    talk.exchange("Hello")
    assert talk.reload().follow_up_at is None


@pytest.mark.parametrize("changes", [{"follow_up_limit": 0}, {"follow_up_minutes": {"text": 0}}])
def test_follow_ups_can_be_switched_off(changes, loud, worker) -> None:
    configure(loud, **changes)
    talk = begin(loud)
    talk.exchange("Hello")
    assert talk.reload().follow_up_at is None


@pytest.mark.requirement("N12")
def test_a_timer_does_not_fire_while_a_result_is_awaited(loud) -> None:
    """The customer waits for us; whatever has set it again."""
    talk = quiet_talk(loud)
    awaited(talk, newest(talk))
    ran_out(talk)
    fire_follow_ups()
    assert turns(talk) == ["message"]


@pytest.mark.requirement("N12")
def test_a_timer_does_not_fire_where_a_colleague_answers(loud) -> None:
    talk = quiet_talk(loud, operator=loud.owner)
    ran_out(talk)
    fire_follow_ups()
    assert turns(talk) == ["message"]


@pytest.mark.requirement("N12")
def test_nobody_is_followed_up_who_was_told_goodbye(loud) -> None:
    """Whatever has set the timer again."""
    talk = quiet_talk(loud)
    planned(talk, newest(talk), tool=GOODBYE)
    ran_out(talk)
    fire_follow_ups()
    assert turns(talk) == ["message"]
    assert states(loud) == []


def test_a_limit_that_was_lowered_holds_for_timers_that_run(loud) -> None:
    talk = quiet_talk(loud)
    ran_out(talk)
    configure(loud, follow_up_limit=0)
    fire_follow_ups()
    assert turns(talk) == ["message"]


def test_a_follow_up_that_can_not_be_written_says_nothing_to_the_customer(loud, worker, model) -> None:
    talk = begin(loud)
    talk.exchange("Hello")
    model.script("reply", times=0, fault="401")
    ran_out(talk)
    until(lambda: len(turns(talk)) == 2, what="the follow-up")
    settle(loud)
    with loud.tx():
        assert Turn.objects.get(seq=2).status == "failed"
        assert Message.objects.filter(role="agent").count() == 1


@pytest.mark.short_leases
@pytest.mark.parametrize("label", ["timer.claimed", "timer.inserted_pre_commit", "timer.committed_pre_wake"])
def test_a_worker_killed_while_a_timer_fires_neither_loses_nor_doubles_it(label, loud, processes, model) -> None:
    """A real SIGKILL; another worker takes over."""
    talk = quiet_talk(loud)
    doomed = processes.worker(crash_at=f"{label}:1")
    ran_out(talk)
    doomed.wait()
    processes.worker()
    until(lambda: states(loud) == ["fired"], what="the follow-up")
    settle(loud)
    assert turns(talk) == ["message", "follow_up"]
    with loud.tx():
        assert Message.objects.filter(conversation=talk.conversation, role="agent").count() == 1
