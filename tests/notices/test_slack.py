"""Slack messages: once per notice, held back in quiet hours, and never sent again when they may have arrived."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db.models import F
from django.db.models.functions import Now

from jobs.models import Job, State
from notices import slack as lane
from notices.models import Frequency, NoticeKind, Send
from notices.services import settle
from projects.common.api_error import ApiError
from tests.conftest import Tenant
from tests.conversations.effects.target import Answers, Target
from tests.notices.conftest import Raise, all_notices, choose, run, settings_of_all
from tests.processes import ForkServer, until


def texts(slack: Target) -> list[str]:
    return [heard.document["text"] for heard in slack.log]


def make_due(tenant: Tenant) -> None:
    """Let the waiting jobs begin now."""
    with tenant.tx():
        Job.objects.filter(lane=lane.LANE, state=State.QUEUED).update(run_after=Now() - timedelta(seconds=1))


@pytest.fixture(autouse=True)
def connected(tenant: Tenant, slack: Target) -> None:
    choose(tenant, tenant.owner, slack_url=slack.url)


def test_a_message_leads_to_the_page(tenant: Tenant, slack: Target, raised: Raise) -> None:
    subject = raised(text="SMS to <Ada|Eve>")
    run(lane.LANE)
    [text] = texts(slack)
    assert f"/p/{tenant.project.slug}/effects/{subject}|SMS to &lt;Ada¦Eve&gt;>" in text
    assert [one.slack for one in all_notices(tenant)] == [Send.SENT]


def test_several_notices_are_one_message(slack: Target, raised: Raise) -> None:
    raised(text="one")
    raised(text="two")
    for _ in range(3):
        run(lane.LANE)
    assert ["one" in text and "two" in text for text in texts(slack)] == [True]


def test_a_notice_that_was_settled_first_is_not_sent(tenant: Tenant, slack: Target, raised: Raise) -> None:
    subject = raised()
    with tenant.tx():
        settle(NoticeKind.UNKNOWN, subject)
    run(lane.LANE)
    assert slack.log == []


@pytest.mark.parametrize(
    ("answer", "state"),
    [(Answers(status=404), Send.FAILED), (Answers(status=500), Send.UNKNOWN), (Answers(drops=True), Send.UNKNOWN)],
    ids=["refused", "server error", "no answer"],
)
def test_a_message_that_may_have_arrived_is_not_sent_again(
    tenant: Tenant, slack: Target, raised: Raise, answer: Answers, state: Send
) -> None:
    slack.answers(answer)
    raised()
    run(lane.LANE)
    make_due(tenant)
    run(lane.LANE)
    assert (len(slack.log), [one.slack for one in all_notices(tenant)]) == (1, [state])
    assert settings_of_all(tenant)[0].slack_error


def test_a_message_that_was_not_taken_is_retried(tenant: Tenant, slack: Target, raised: Raise) -> None:
    slack.answers(Answers(status=429), Answers())
    raised()
    for _ in range(2):
        run(lane.LANE)
        make_due(tenant)
    assert (len(slack.log), [one.slack for one in all_notices(tenant)]) == (2, [Send.SENT])


def test_a_message_waits_for_as_long_as_slack_says(tenant: Tenant, slack: Target, raised: Raise) -> None:
    slack.answers(Answers(status=429, headers={"Retry-After": "120"}), Answers())
    raised()
    run(lane.LANE)
    with tenant.tx():
        [waits] = Job.objects.filter(lane=lane.LANE, state=State.QUEUED).values_list(F("run_after") - Now(), "attempts")
    assert (timedelta(seconds=100) < waits[0] <= timedelta(seconds=120), waits[1]) == (True, 0)
    make_due(tenant)
    run(lane.LANE)
    assert [one.slack for one in all_notices(tenant)] == [Send.SENT]


def test_messages_wait_for_the_end_of_the_quiet_hours(tenant: Tenant, slack: Target, raised: Raise) -> None:
    now = datetime.now(UTC)
    quiet = {"quiet_from": (now - timedelta(hours=1)).time(), "quiet_to": (now + timedelta(hours=1)).time()}
    choose(tenant, tenant.owner, **quiet)
    raised()
    run(lane.LANE)
    assert slack.log == []
    choose(tenant, tenant.owner)
    make_due(tenant)
    run(lane.LANE)
    assert len(slack.log) == 1


def test_at_most_one_message_an_hour_if_wanted(tenant: Tenant, slack: Target, raised: Raise) -> None:
    choose(tenant, tenant.owner, frequency=Frequency.HOURLY)
    for text in ("one", "two", "three"):
        raised(text=text)
        run(lane.LANE)
    with tenant.tx():
        settings = settings_of_all(tenant)[0]
        type(settings).objects.update(slack_sent_at=F("slack_sent_at") - timedelta(hours=1))
    make_due(tenant)
    run(lane.LANE)
    assert ["one" in texts(slack)[0], *("two" in text and "three" in text for text in texts(slack)[1:])] == [True, True]


@pytest.mark.short_leases
@pytest.mark.parametrize(
    ("label", "sent", "state"),
    [("claimed_pre_send", 0, Send.UNKNOWN), ("sent_pre_commit", 1, Send.UNKNOWN)],
)
def test_a_killed_worker_never_sends_twice(
    tenant: Tenant, slack: Target, raised: Raise, processes: ForkServer, label: str, sent: int, state: Send
) -> None:
    raised()
    processes.start("worker", queues="work", crash_at=f"{lane.LANE}.{label}:1").wait()
    survivor = processes.start("worker", queues="work")
    until(lambda: [one.slack for one in all_notices(tenant)] == [state], what="the end of the message")
    survivor.kill()
    assert len(slack.log) == sent


@pytest.mark.parametrize("url", ["http://hooks.example.com/x", "https://10.0.0.1/x", "ftp://example.com", "x"])
def test_only_public_https_addresses_are_accepted(tenant: Tenant, settings: Any, url: str) -> None:
    settings.OUTBOUND_ALLOW = []
    with pytest.raises(ApiError) as refused:
        choose(tenant, tenant.owner, slack_url=url)
    assert refused.value.field == "slack_url"


def test_the_address_is_stored_encrypted(tenant: Tenant, slack: Target) -> None:
    assert slack.url not in settings_of_all(tenant)[0].slack_url
