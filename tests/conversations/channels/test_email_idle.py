"""Mailboxes whose servers say at once that an e-mail came: one process listens to each, and only wakes the look."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from conversations.channels.email import LANE
from conversations.channels.mail import idle, imap
from conversations.channels.mail.idle import NoIdle, listen
from conversations.channels.mail.imap import MailboxFailed
from conversations.channels.mail.watching import LEASE, bring_look_forward, claim_mailboxes
from conversations.models import ChannelLink
from jobs.models import Job
from outbound.errors import BlockedAddress
from outbound.guard import Guard
from projects.connections.settings.email import EmailSettings
from tests.conversations.channels.imap_server import PASSWORD, USER, ImapServer
from tests.conversations.channels.mailbox import Mailbox
from tests.conversations.channels.test_email_imap import connect, mail
from tests.processes import ForkServer, ScriptedModel, until
from tests.tools.messaging.conftest import certificate, tls  # noqa: F401 - fixtures


@pytest.fixture
def server(tls: ssl.SSLContext, certificate: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[ImapServer]:  # noqa: F811
    trusted = ssl.create_default_context(cafile=str(certificate))
    for module in (idle, imap):
        monkeypatch.setattr(module, "tls_context", lambda: trusted)
    with ImapServer(tls) as server:
        yield server


def hear(
    server: ImapServer, act: Callable[[int], bool], *, password: str = PASSWORD, allow: Any = ("127.0.0.1",)
) -> int:
    """Listen until `act`, called with the number of news so far, is true. Returns that number."""
    settings = EmailSettings(provider="imap", address="a@b.example", host="127.0.0.1", port=server.port, user=USER)

    async def run() -> int:
        news = 0

        def count_news() -> None:
            nonlocal news
            news += 1

        guard = Guard(allow)
        task = asyncio.create_task(listen(settings, password=password, guard=guard, on_news=count_news))
        async with asyncio.timeout(60):
            while not act(news):
                if task.done():
                    task.result()
                await asyncio.sleep(0.02)
        task.cancel()
        return news

    return asyncio.run(run())


@pytest.mark.parametrize("has_plain", [True, False])
def test_news_are_announced_at_once(server: ImapServer, has_plain: bool) -> None:
    server.folder.has_plain = has_plain

    def act(news: int) -> bool:
        if news == 1 and "IDLE" in server.folder.asked and not server.folder.mails:
            server.folder.deliver(mail())
        return news == 2

    assert hear(server, act) == 2
    assert not any("FETCH" in command for command in server.folder.asked)


def test_idle_is_asked_for_again_before_the_server_ends_it(server: ImapServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle, "IDLE_SECONDS", 0.2)
    hear(server, lambda news: server.folder.asked.count("IDLE") >= 3)
    assert server.folder.asked.count("DONE") >= 2


def test_a_server_without_idle_is_only_looked_into(server: ImapServer) -> None:
    server.folder.has_idle = False
    with pytest.raises(NoIdle):
        hear(server, lambda news: False)
    assert "IDLE" not in server.folder.asked


def test_a_rejected_sign_in_says_so_and_shows_no_password(server: ImapServer) -> None:
    with pytest.raises(MailboxFailed) as error:
        hear(server, lambda news: False, password="canary-of-a-guess")
    assert error.value.is_refused
    assert "canary" not in str(error.value)


def test_a_private_network_is_not_listened_to(server: ImapServer) -> None:
    with pytest.raises((BlockedAddress, MailboxFailed)):
        hear(server, lambda news: False, allow=())
    assert server.folder.asked == []


@pytest.mark.parametrize("cuts", ["CAPABILITY", "AUTHENTICATE", "EXAMINE", "IDLE"])
def test_a_server_that_cuts_off_ends_the_listening(server: ImapServer, cuts: str) -> None:
    server.folder.cuts = cuts
    with pytest.raises((OSError, EOFError)):
        hear(server, lambda news: False)


def test_one_process_owns_a_mailbox_until_its_lease_ends(mailbox: Mailbox, server: ImapServer) -> None:
    connect(mailbox, server)
    [link] = mailbox.rows(ChannelLink)
    first, second = uuid4(), uuid4()
    assert [box.link_id for box in claim_mailboxes(first, 9)] == [link.pk]
    assert [box.link_id for box in claim_mailboxes(first, 9)] == [link.pk]
    assert claim_mailboxes(second, 9) == []
    with mailbox.tenant.tx():
        ChannelLink.objects.update(watched_until=datetime.now(UTC) - LEASE)
    assert [box.link_id for box in claim_mailboxes(second, 9)] == [link.pk]
    assert claim_mailboxes(first, 9) == []


def test_a_mailbox_of_a_webhook_is_not_listened_to(mailbox: Mailbox) -> None:
    assert claim_mailboxes(uuid4(), 9) == []


def test_a_process_listens_to_so_many_mailboxes_at_most(mailbox: Mailbox, server: ImapServer) -> None:
    connect(mailbox, server)
    assert claim_mailboxes(uuid4(), 0) == []


def test_news_bring_the_next_look_forward(mailbox: Mailbox, server: ImapServer) -> None:
    connect(mailbox, server)
    [link] = mailbox.rows(ChannelLink)
    with mailbox.tenant.tx():
        Job.objects.filter(lane=LANE).update(run_after=datetime.now(UTC) + timedelta(hours=1), token=3)
    assert bring_look_forward(mailbox.tenant.organization.pk, link.pk)
    [job] = mailbox.rows(Job, lane=LANE)
    assert job.run_after <= datetime.now(UTC)
    with mailbox.tenant.tx():
        Job.objects.filter(lane=LANE).update(state="running")
    assert not bring_look_forward(mailbox.tenant.organization.pk, link.pk)


def test_an_email_is_answered_long_before_the_next_look(
    mailbox: Mailbox,
    server: ImapServer,
    processes: ForkServer,
    model: ScriptedModel,
    certificate: Any,  # noqa: F811
) -> None:
    connect(mailbox, server, every_minutes=60)
    processes.worker(env={"SSL_CERT_FILE": str(certificate)})
    until(lambda: "IDLE" in server.folder.asked, what="IDLE", seconds=60)
    server.folder.deliver(mail("A table?"))
    mailbox.until_sent()
    assert mailbox.words() == ["A table?"]
