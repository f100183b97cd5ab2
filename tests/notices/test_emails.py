"""E-mails about notices: listed once, at each member's frequency, outside of their quiet hours."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db.models import F

from jobs.models import Job, State
from notices.emails import LANE
from notices.models import Frequency, NoticeEmail, NoticeKind, Send
from tests.conftest import Tenant
from tests.console.people.conftest import Mailbox, mailbox
from tests.notices.conftest import ALL, Raise, all_notices, choose, run
from todos.content.lifecycle import AGENT
from todos.models import TodoSource
from todos.services import make_todo

__all__ = ["mailbox"]


@pytest.fixture(autouse=True)
def wanted(tenant: Tenant) -> None:
    choose(tenant, tenant.owner)


def later(tenant: Tenant, **time: float) -> None:
    """Let this much time pass for e-mails and jobs."""
    with tenant.tx():
        NoticeEmail.objects.update(sent_at=F("sent_at") - timedelta(**time))
        Job.objects.filter(lane=LANE, state=State.QUEUED).update(run_after=F("run_after") - timedelta(**time))


def test_a_notice_is_e_mailed_once(tenant: Tenant, raised: Raise, mailbox: Mailbox) -> None:
    raised(text="SMS to Ada")
    run(LANE)
    assert "The outcome of an effect is unknown: SMS to Ada" in mailbox.last_text()
    later(tenant, minutes=16)
    raised(text="SMS to Eve")
    run(LANE)
    assert ("Ada" in mailbox.last_text(), "Eve" in mailbox.last_text(), len(mailbox.messages)) == (False, True, 2)
    assert {one.email for one in all_notices(tenant)} == {Send.SENT}


def test_a_refused_e_mail_is_tried_again(tenant: Tenant, raised: Raise, mailbox: Mailbox) -> None:
    mailbox.is_refusing = True
    raised()
    run(LANE)
    assert [one.email for one in all_notices(tenant)] == [Send.DUE]
    mailbox.is_refusing = False
    later(tenant, minutes=16)
    run(LANE)
    assert len(mailbox.messages) == 1


@pytest.mark.parametrize(("frequency", "minutes"), [(Frequency.HOURLY, 60), (Frequency.DAILY, 24 * 60)])
def test_e_mails_come_at_the_chosen_frequency(
    tenant: Tenant, raised: Raise, mailbox: Mailbox, frequency: str, minutes: int
) -> None:
    choose(tenant, tenant.owner, frequency=frequency)
    raised(text="one")
    run(LANE)
    raised(text="two")
    later(tenant, minutes=minutes - 2)
    run(LANE)
    assert len(mailbox.messages) == 1
    later(tenant, minutes=3)
    run(LANE)
    assert "two" in mailbox.last_text()


@pytest.mark.parametrize(
    ("frequency", "said"),
    [(Frequency.AT_ONCE, "every 15 minutes"), (Frequency.HOURLY, "an hour"), (Frequency.DAILY, "a day")],
)
def test_an_e_mail_says_how_often_it_comes(
    tenant: Tenant, raised: Raise, mailbox: Mailbox, frequency: str, said: str
) -> None:
    choose(tenant, tenant.owner, frequency=frequency)
    raised()
    run(LANE)
    assert f"at most one of these e-mails {said}." in mailbox.last_text()


def test_no_e_mail_is_sent_in_quiet_hours(tenant: Tenant, raised: Raise, mailbox: Mailbox) -> None:
    now = datetime.now(UTC)
    quiet = {"quiet_from": (now - timedelta(hours=1)).time(), "quiet_to": (now + timedelta(hours=1)).time()}
    choose(tenant, tenant.owner, **quiet)
    raised()
    run(LANE)
    assert mailbox.messages == []
    choose(tenant, tenant.owner)
    later(tenant, hours=2)
    run(LANE)
    assert len(mailbox.messages) == 1


def test_a_member_can_refuse_the_digest_of_a_kind(tenant: Tenant, mailbox: Mailbox) -> None:
    """The digests of todos, waiting customers and limits follow the same settings."""
    choose(tenant, tenant.owner, ways={**ALL, NoticeKind.TO_REVIEW: ("bell",)})
    with tenant.tx():
        make_todo(tenant.project, description="Pay Ada back", source=TodoSource.PERSON, actor=AGENT)
    run("todo_notice")
    assert mailbox.messages == []


def test_without_a_mail_server_nothing_is_queued(tenant: Tenant, raised: Raise, settings: Any) -> None:
    raised()
    with tenant.tx():
        assert not Job.objects.filter(lane=LANE).exists()
