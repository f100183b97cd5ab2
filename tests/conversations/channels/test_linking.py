"""A provider that wasn't told our webhook, because the process died after it had stored the connection."""

from __future__ import annotations

import pytest
from django.db.models.functions import Now
from django.test import Client
from django.urls import reverse

from conversations.channels.linking import LINK_LANE, PENDING, connect_channel
from conversations.models import ChannelLink
from jobs.models import LIVE, Job
from tests.conftest import member_of
from tests.conversations.channels.conftest import Bot
from tests.conversations.channels.telegram_server import TOKEN
from tests.processes import until


@pytest.fixture
def untold(bot: Bot) -> Bot:
    with bot.tenant.tx():
        connect_channel(bot.tenant.project, "telegram", {"base_url": bot.server.url}, TOKEN, by=None)
    bot.telegram.calls.clear()
    return bot


def look(bot: Bot, role: str) -> int:
    browser = Client()
    browser.force_login(bot.tenant.owner if role == "owner" else member_of(bot.tenant, role))
    address = reverse("channel", kwargs={"project_slug": bot.tenant.project.slug, "kind": "telegram"})
    return browser.get(address).status_code


def test_reading_the_channel_tells_it(untold: Bot) -> None:
    with untold.tenant.tx():
        assert ChannelLink.objects.get().problem == PENDING
    assert [untold.state()["state"] for _ in range(2)] == ["connected", "connected"]
    assert len(untold.telegram.of("setWebhook")) == 1


def run_job(bot: Bot, request: pytest.FixtureRequest) -> None:
    """Let the minute pass, and a worker run what is due."""
    with bot.tenant.tx():
        Job.objects.filter(lane=LINK_LANE).update(run_after=Now())
    request.getfixturevalue("worker")
    until(lambda: not bot.rows(Job, lane=LINK_LANE, state__in=LIVE), what="the end of the jobs")


def test_a_worker_tells_it_after_a_minute(untold: Bot, request: pytest.FixtureRequest) -> None:
    run_job(untold, request)
    assert [(link.problem, link.name) for link in untold.rows(ChannelLink)] == [("", "@nello_bot")]
    assert len(untold.telegram.of("setWebhook")) == 1


def test_a_worker_tells_nothing_twice(bot: Bot, request: pytest.FixtureRequest) -> None:
    run_job(bot, request)
    assert (len(bot.telegram.of("setWebhook")), [job.state for job in bot.rows(Job, lane=LINK_LANE)]) == (
        1,
        ["skipped"],
    )


def test_opening_the_page_tells_it(untold: Bot) -> None:
    assert look(untold, "owner") == 200
    assert (len(untold.telegram.of("setWebhook")), untold.state()["state"]) == (1, "connected")
    assert look(untold, "owner") == 200
    assert len(untold.telegram.of("setWebhook")) == 1


def test_a_member_without_the_right_registers_no_webhook(untold: Bot) -> None:
    look(untold, "viewer")
    assert untold.telegram.of("setWebhook") == []
