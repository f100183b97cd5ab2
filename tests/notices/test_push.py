"""Push messages to browsers: encrypted for each, tried again until they are taken, and ended with the browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import models
from django.db.models.functions import Now
from django.templatetags.static import static

from jobs.models import Job, State
from notices.models import Frequency, Notice, NoticeKind, PushMessage, PushSubscription, Send
from notices.push import lane
from notices.push.sending import checked_receiver
from notices.push.subscriptions import MOST_BROWSERS, add_browser, remove_browsers
from notices.push.vapid import public_key
from notices.services import claim_for_browser, notify, settle
from projects.accounts.members import remove_member
from projects.common.api_error import ApiError
from projects.models import Role, User
from projects.records.audit import Actor
from tests.bypass_rls import bypass_rls
from tests.conftest import Tenant, member_of
from tests.conversations.effects.target import Answers, Target, target_server
from tests.notices.conftest import Raise, all_notices, choose, member_of_user, run
from tests.notices.push_service import PlayedBrowser, claims_of
from tests.processes import ForkServer, until

TurnOn = Callable[..., PlayedBrowser]


@pytest.fixture
def service(settings: Any) -> Iterator[Target]:
    """A push service."""
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    with target_server() as server:
        server.answers(Answers(status=201, body=""))
        yield server


@pytest.fixture
def turn_on(tenant: Tenant, service: Target) -> TurnOn:
    """Turns notifications on in another browser of a member, the owner by default, for every kind."""

    def turn_on(user: User | None = None) -> PlayedBrowser:
        browser = PlayedBrowser(f"{service.url}/wpush/{datetime.now(UTC).timestamp()}")
        receiver = checked_receiver(**browser.posted)
        choose(tenant, user or tenant.owner)
        add_browser(user or tenant.owner, receiver, name="Firefox (Linux)")
        return browser

    return turn_on


def rows(tenant: Tenant, model: type[models.Model] = PushSubscription) -> list[Any]:
    with tenant.tx():
        return list(model._default_manager.all())


def let_pass(tenant: Tenant, time: timedelta) -> None:
    """Let so much time pass since the last digest of each browser."""
    with tenant.tx():
        PushSubscription.objects.update(digest_at=models.F("digest_at") - time)


def make_due(tenant: Tenant) -> None:
    """Let the waiting jobs begin now, and the pause of each browser be over."""
    with tenant.tx():
        past = Now() - timedelta(seconds=1)
        Job.objects.filter(lane=lane.LANE, state=State.QUEUED).update(run_after=past)
        PushSubscription.objects.filter(retry_at__isnull=False).update(retry_at=past)


def send_all(tenant: Tenant) -> None:
    """Run the lane until nothing is due."""
    with tenant.tx():
        waiting = Job.objects.filter(lane=lane.LANE, state=State.QUEUED, run_after__lte=Now()).count()
    for _ in range(waiting):
        run(lane.LANE)


def test_a_notice_reaches_each_browser_in_the_words_of_its_e_mail(
    tenant: Tenant, service: Target, turn_on: TurnOn, raised: Raise
) -> None:
    browsers = [turn_on(), turn_on()]
    subject = raised(text="SMS to Ada")
    send_all(tenant)
    [notice] = all_notices(tenant)
    expected = {
        "id": notice.pk.hex,
        "title": "The outcome of an effect is unknown",
        "text": "SMS to Ada",
        "url": f"/p/{tenant.project.slug}/effects/{subject}",
        "icon": static("img/icon-192.png"),
    }
    assert [browser.shown(service) for browser in browsers] == [[expected], [expected]]
    assert (notice.browser, rows(tenant, PushMessage)) == (Send.SENT, [])


def test_a_message_can_be_kept_for_a_day_and_replaced(
    tenant: Tenant, service: Target, turn_on: TurnOn, raised: Raise
) -> None:
    turn_on()
    raised(kind=NoticeKind.WAITS)
    send_all(tenant)
    [heard] = service.log
    named = {name: heard.headers[name] for name in ("ttl", "topic", "urgency", "content-encoding")}
    topic = all_notices(tenant)[0].pk.hex
    assert named == {"ttl": "86400", "topic": topic, "urgency": "high", "content-encoding": "aes128gcm"}
    assert claims_of(heard, audience=service.url)["k"] == public_key()


def test_without_a_browser_a_page_shows_the_notice(tenant: Tenant, service: Target, raised: Raise) -> None:
    choose(tenant, tenant.owner)
    raised()
    with tenant.tx():
        shown = claim_for_browser(member_of_user(tenant.owner), tenant.project.pk)
    assert (len(shown), rows(tenant, PushMessage)) == (1, [])


def test_a_page_leaves_the_notice_to_the_browsers_that_are_sent_it(
    tenant: Tenant, turn_on: TurnOn, raised: Raise
) -> None:
    turn_on()
    raised()
    with tenant.tx():
        assert claim_for_browser(member_of_user(tenant.owner), tenant.project.pk) == []


def test_a_notice_that_was_settled_first_is_not_sent(
    tenant: Tenant, service: Target, turn_on: TurnOn, raised: Raise
) -> None:
    turn_on()
    subject = raised()
    with tenant.tx():
        settle(NoticeKind.UNKNOWN, subject)
    send_all(tenant)
    assert (service.log, rows(tenant, PushMessage)) == ([], [])


def test_a_kind_that_is_not_wanted_is_not_sent(tenant: Tenant, service: Target, turn_on: TurnOn, raised: Raise) -> None:
    turn_on()
    choose(tenant, tenant.owner, ways={NoticeKind.UNKNOWN.value: ["bell"]})
    raised()
    send_all(tenant)
    assert service.log == []


@pytest.mark.parametrize("status", [404, 410])
def test_a_browser_that_is_gone_is_removed(
    tenant: Tenant, service: Target, turn_on: TurnOn, raised: Raise, status: int
) -> None:
    """The notice is left to a page."""
    turn_on()
    service.answers(Answers(status=status))
    raised()
    send_all(tenant)
    assert (rows(tenant), [one.browser for one in all_notices(tenant)]) == ([], [Send.DUE])


@pytest.mark.parametrize(("pause", "least"), [({"Retry-After": "120"}, 110), ({}, 20)], ids=["named", "our own"])
def test_a_browser_waits_for_as_long_as_its_service_says(
    tenant: Tenant, service: Target, turn_on: TurnOn, raised: Raise, pause: dict[str, str], least: int
) -> None:
    """Notices that come up meanwhile wait as well."""
    browser = turn_on()
    service.answers(Answers(status=429, headers=pause), Answers(status=201))
    raised(text="one")
    send_all(tenant)
    raised(text="two")
    send_all(tenant)
    waits = rows(tenant)[0].retry_at - datetime.now(UTC)
    assert (len(service.log), least < waits.total_seconds() <= least + 15) == (1, True)
    make_due(tenant)
    send_all(tenant)
    assert [message["text"] for message in browser.shown(service)[1:]] == ["one", "two"]
    assert (rows(tenant)[0].retry_at, rows(tenant)[0].error, rows(tenant, PushMessage)) == (None, "", [])


@pytest.mark.parametrize("answer", [Answers(status=503), Answers(drops=True)], ids=["server error", "no answer"])
def test_a_message_without_an_answer_is_sent_again_under_the_same_topic(
    tenant: Tenant, service: Target, turn_on: TurnOn, raised: Raise, answer: Answers
) -> None:
    turn_on()
    service.answers(answer, Answers(status=201))
    raised()
    send_all(tenant)
    make_due(tenant)
    send_all(tenant)
    assert (len(service.log), len({heard.headers["topic"] for heard in service.log})) == (2, 1)
    assert [one.browser for one in all_notices(tenant)] == [Send.SENT]


def test_the_pause_grows_with_each_failure(tenant: Tenant, service: Target, turn_on: TurnOn, raised: Raise) -> None:
    turn_on()
    service.answers(Answers(status=503))
    raised()
    pauses = []
    for _ in range(3):
        send_all(tenant)
        pauses.append(round((rows(tenant)[0].retry_at - datetime.now(UTC)).total_seconds(), -1))
        make_due(tenant)
    assert pauses == [30, 60, 120]


def test_a_message_that_was_not_taken_for_a_day_is_given_up(
    tenant: Tenant, service: Target, turn_on: TurnOn, raised: Raise
) -> None:
    turn_on()
    service.answers(Answers(status=503))
    raised()
    send_all(tenant)
    with tenant.tx():
        Notice.objects.update(created_at=Now() - timedelta(days=1, seconds=1))
    make_due(tenant)
    send_all(tenant)
    with tenant.tx():
        assert not Job.objects.filter(lane=lane.LANE, state=State.QUEUED).exists()
    assert (len(service.log), rows(tenant, PushMessage)) == (1, [])


def test_a_refused_message_is_not_sent_again(tenant: Tenant, service: Target, turn_on: TurnOn, raised: Raise) -> None:
    """The reason stands beside the browser, until it takes a message."""
    turn_on()
    service.answers(Answers(status=403), Answers(status=201))
    raised()
    send_all(tenant)
    assert ("403" in rows(tenant)[0].error, [one.browser for one in all_notices(tenant)]) == (True, [Send.FAILED])
    make_due(tenant)
    send_all(tenant)
    assert len(service.log) == 1
    raised()
    send_all(tenant)
    assert (len(service.log), rows(tenant)[0].error) == (2, "")


def test_one_browser_that_fails_holds_no_other_up(
    tenant: Tenant, service: Target, turn_on: TurnOn, raised: Raise
) -> None:
    bad, good = turn_on(), turn_on()
    service.answers_by(lambda heard: Answers(status=500 if bad.endpoint.endswith(heard.path) else 201))
    raised()
    send_all(tenant)
    assert len(good.shown(service)) == 1
    assert ([one.browser for one in all_notices(tenant)], len(rows(tenant, PushMessage))) == ([Send.SENT], 1)


def test_messages_wait_for_the_end_of_the_quiet_hours(
    tenant: Tenant, service: Target, turn_on: TurnOn, raised: Raise
) -> None:
    browser, now = turn_on(), datetime.now(UTC)
    quiet = {"quiet_from": (now - timedelta(hours=1)).time(), "quiet_to": (now + timedelta(hours=1)).time()}
    choose(tenant, tenant.owner, **quiet)
    for text in ("one", "two", "three", "four"):
        raised(text=text)
    send_all(tenant)
    assert service.log == []
    choose(tenant, tenant.owner)
    make_due(tenant)
    send_all(tenant)
    # More than three are one.
    [shown] = browser.shown(service)
    assert (shown["title"], shown["url"]) == ("4 notifications", f"/p/{tenant.project.slug}/notices")
    assert {one.browser for one in all_notices(tenant)} == {Send.SENT}


@pytest.mark.short_leases
@pytest.mark.parametrize(("label", "sent"), [("claimed_pre_send", 1), ("sent_pre_commit", 2)])
def test_a_killed_workers_message_is_sent_by_the_next(
    tenant: Tenant, service: Target, turn_on: TurnOn, raised: Raise, processes: ForkServer, label: str, sent: int
) -> None:
    """A message that may have arrived is sent again under the same tag, which shows it once."""
    browser = turn_on()
    raised()
    processes.start("worker", queues="work", crash_at=f"{lane.LANE}.{label}:1").wait()
    survivor = processes.start("worker", queues="work")
    until(lambda: [one.browser for one in all_notices(tenant)] == [Send.SENT], what="the end of the message")
    survivor.kill()
    shown = browser.shown(service)
    assert (len(shown), len({message["id"] for message in shown})) == (sent, 1)


def test_a_worker_that_lost_its_job_writes_nothing(
    tenant: Tenant, service: Target, turn_on: TurnOn, raised: Raise
) -> None:
    turn_on()
    service.on_request = lambda heard: bypass_rls("update jobs_job set token = token + 1 where lane = %s", lane.LANE)
    raised()
    send_all(tenant)
    assert (len(service.log), len(rows(tenant, PushMessage)), rows(tenant)[0].sent_at) == (1, 1, None)


def test_a_notice_raised_again_during_its_message_is_sent_again(
    tenant: Tenant, service: Target, turn_on: TurnOn, raised: Raise
) -> None:
    turn_on()
    subject = raised()
    once = iter([None])

    def read_and_raise(heard: Any) -> None:
        if next(once, heard) is None:
            with tenant.tx():
                settle(NoticeKind.UNKNOWN, subject)
                notify(tenant.project.pk, kind=NoticeKind.UNKNOWN, subject=subject, object_id=subject, text="again")

    service.on_request = read_and_raise
    for _ in range(2):
        send_all(tenant)
    assert (len(service.log), rows(tenant, PushMessage)) == (2, [])


def test_a_digest_gathers_what_can_wait(tenant: Tenant, service: Target, turn_on: TurnOn, raised: Raise) -> None:
    browser = turn_on()
    choose(tenant, tenant.owner, frequency=Frequency.HOURLY)
    for text in ("first", "second", "third"):
        raised(text=text)
        send_all(tenant)
    assert [shown["text"] for shown in browser.shown(service)] == ["first"]
    let_pass(tenant, timedelta(hours=1))
    make_due(tenant)
    send_all(tenant)
    assert [shown["id"] for shown in browser.shown(service)[1:]] == [lane.SUMMARY]
    assert rows(tenant, PushMessage) == []


def test_a_waiting_customer_is_in_no_digest(tenant: Tenant, service: Target, turn_on: TurnOn, raised: Raise) -> None:
    browser = turn_on()
    choose(tenant, tenant.owner, frequency=Frequency.DAILY)
    raised(text="first")
    send_all(tenant)
    raised(text="can wait")
    raised(text="Ada waits", kind=NoticeKind.WAITS)
    send_all(tenant)
    assert [shown["text"] for shown in browser.shown(service)] == ["first", "Ada waits"]


def test_urgent_messages_do_not_put_a_digest_off(
    tenant: Tenant, service: Target, turn_on: TurnOn, raised: Raise
) -> None:
    browser = turn_on()
    choose(tenant, tenant.owner, frequency=Frequency.HOURLY)
    raised(text="first")
    send_all(tenant)
    let_pass(tenant, timedelta(hours=1))
    raised(text="Ada waits", kind=NoticeKind.WAITS)
    send_all(tenant)
    raised(text="second")
    send_all(tenant)
    assert [shown["text"] for shown in browser.shown(service)] == ["first", "Ada waits", "second"]


def test_a_private_address_is_never_called(
    tenant: Tenant, service: Target, turn_on: TurnOn, raised: Raise, settings: Any
) -> None:
    turn_on()
    settings.OUTBOUND_ALLOW = []
    raised()
    send_all(tenant)
    assert (service.log, "private network" in rows(tenant)[0].error) == ([], True)


def wrong(**changes: str) -> dict[str, str]:
    return {**PlayedBrowser("https://push.example.net/x").posted, **changes}


@pytest.mark.parametrize(
    ("posted", "field"),
    [
        (wrong(endpoint="http://push.example.net/x"), "endpoint"),
        (wrong(endpoint="https://10.0.0.1/x"), "endpoint"),
        (wrong(endpoint="https://localhost/x"), "endpoint"),
        (wrong(endpoint="https://me:secret@push.example.net/x"), "endpoint"),
        (wrong(endpoint="file:///etc/passwd"), "endpoint"),
        (wrong(endpoint=""), "endpoint"),
        (wrong(endpoint="https://push.example.net/" + "x" * 3000), "endpoint"),
        (wrong(p256dh="BCVx"), "p256dh"),
        (wrong(p256dh="A" * 87), "p256dh"),
        (wrong(p256dh="é"), "p256dh"),
        (wrong(auth="AAAA"), "auth"),
        (wrong(auth="A" * 10_000), "auth"),
    ],
)
def test_an_invalid_push_subscription_is_refused(settings: Any, posted: dict[str, str], field: str) -> None:
    settings.OUTBOUND_ALLOW = []
    with pytest.raises(ApiError) as refused:
        checked_receiver(**posted)
    assert refused.value.field == field


def test_the_address_and_keys_are_stored_encrypted(tenant: Tenant, turn_on: TurnOn) -> None:
    browser = turn_on()
    [row] = rows(tenant)
    assert not [part for part in browser.posted.values() if part in f"{row.secret}{row.browser}{row.name}"]


def test_a_person_has_a_limited_number_of_browsers(tenant: Tenant, turn_on: TurnOn) -> None:
    for _ in range(MOST_BROWSERS):
        turn_on()
    with pytest.raises(ApiError):
        turn_on()
    assert len(rows(tenant)) == MOST_BROWSERS


def test_a_former_member_is_sent_nothing(tenant: Tenant, service: Target, turn_on: TurnOn, raised: Raise) -> None:
    colleague = member_of(tenant, Role.OPERATOR)
    turn_on(colleague)
    raised()
    with tenant.tx():
        owner = member_of_user(tenant.owner)
        remove_member(member_of_user(colleague), by=Actor(tenant.owner, Role.OWNER, owner.pk))
    send_all(tenant)
    assert (rows(tenant), rows(tenant, PushMessage), service.log) == ([], [], [])


def test_a_person_turns_nothing_off_for_others(tenant: Tenant, turn_on: TurnOn, stranger: Tenant) -> None:
    turn_on()
    [row] = rows(tenant)
    colleague = member_of(tenant, Role.OPERATOR)
    assert [remove_browsers(user, [row.browser]) for user in (colleague, stranger.owner)] == [0, 0]


def test_a_deactivated_account_is_sent_nothing(tenant: Tenant, service: Target, turn_on: TurnOn, raised: Raise) -> None:
    turn_on()
    raised()
    User.objects.filter(pk=tenant.owner.pk).update(is_active=False)
    send_all(tenant)
    assert service.log == []
