"""A mailbox that is read by IMAP, from a server over TLS."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from conversations.channels import email, incoming
from conversations.channels.email import LANE
from conversations.channels.mail import imap
from conversations.channels.mail.message import CUT
from conversations.models import ChannelLink, Delivery
from jobs import claims
from jobs.attempt import attempt
from jobs.lanes import lane_of
from jobs.models import Job
from projects.models import Source
from tests.conversations.channels.imap_server import PASSWORD, USER, ImapServer
from tests.conversations.channels.mailbox import ANNA, Mailbox
from tests.processes import ForkServer, ScriptedModel, until
from tests.tools.messaging.conftest import certificate, tls  # noqa: F401 - fixtures


@pytest.fixture
def server(tls: ssl.SSLContext, certificate: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[ImapServer]:  # noqa: F811
    trusted = ssl.create_default_context(cafile=str(certificate))
    monkeypatch.setattr(imap, "tls_context", lambda: trusted)
    with ImapServer(tls) as server:
        yield server


@pytest.fixture
def read(mailbox: Mailbox, server: ImapServer) -> Callable[[], None]:
    """A mailbox that is read by IMAP. The function looks into it once."""
    connect(mailbox, server)
    return lambda: look(mailbox)


def connect(mailbox: Mailbox, server: ImapServer, **changes: Any) -> dict[str, Any]:
    settings = {"host": "127.0.0.1", "port": server.port, "user": USER, **changes}
    return mailbox.connect("imap", secret=PASSWORD, **settings)


def look(mailbox: Mailbox) -> None:
    with mailbox.tenant.tx():
        Job.objects.filter(lane=LANE, state="queued").update(run_after=datetime.now(UTC) - timedelta(seconds=1))
    for job in claims.claim([lane_of(LANE)], limit=1):
        asyncio.run(attempt(job, lane_of(LANE)))


def mail(text: str = "A table?", *, number: int = 1, sender: str = ANNA, headers: str = "") -> bytes:
    head = f"From: Anna <{sender}>\r\nSubject: Re: x\r\nMessage-ID: <{number}@example.org>\r\n{headers}"
    return f"{head}Content-Type: text/plain; charset=utf-8\r\n\r\n{text}\r\n".encode()


@pytest.fixture(autouse=True)
def always_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imap, "_moment", lambda line: None)


def test_what_was_there_before_is_left_alone(mailbox: Mailbox, server: ImapServer, read: Callable[[], None]) -> None:
    server.folder.deliver(mail("Old", number=1))
    read()
    server.folder.deliver(mail("New", number=2))
    read()
    read()
    assert mailbox.words() == ["New"]


def test_a_read_email_is_left_to_who_read_it(mailbox: Mailbox, server: ImapServer, read: Callable[[], None]) -> None:
    read()
    server.folder.read.add(server.folder.deliver(mail()))
    read()
    assert mailbox.words() == []
    assert not any("STORE" in command for command in server.folder.asked)


def test_emails_come_in_their_order_and_without_end(
    mailbox: Mailbox, server: ImapServer, read: Callable[[], None]
) -> None:
    read()
    for number in range(imap.MOST_MAILS + 5):
        server.folder.deliver(mail(f"Mail {number}", number=number))
    read()
    assert len(mailbox.words()) == imap.MOST_MAILS
    read()
    assert mailbox.words() == [f"Mail {number}" for number in range(imap.MOST_MAILS + 5)]


def test_a_new_numbering_brings_nothing_twice(mailbox: Mailbox, server: ImapServer, read: Callable[[], None]) -> None:
    read()
    server.folder.deliver(mail("First", number=1))
    read()
    server.folder.validity = 8
    server.folder.mails = {900: mail("First", number=1), 901: mail("Second", number=2)}
    read()
    assert mailbox.words() == ["First", "Second"]


def test_a_worker_that_dies_before_the_cursor_stores_nothing_twice(
    mailbox: Mailbox, server: ImapServer, read: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    read()
    server.folder.deliver(mail("First"))
    [link] = mailbox.rows(ChannelLink)
    read()
    with mailbox.tenant.tx():
        ChannelLink.objects.filter(pk=link.pk).update(cursor=link.cursor)
    read()
    assert mailbox.words() == ["First"]


def test_a_mailbox_has_one_job_from_look_to_look(
    mailbox: Mailbox, server: ImapServer, read: Callable[[], None]
) -> None:
    for _ in range(3):
        read()
    [job] = mailbox.rows(Job, lane=LANE)
    assert (job.state, job.attempts, job.error) == ("queued", 0, "")
    assert job.run_after > datetime.now(UTC) + timedelta(seconds=30)


def test_a_disconnected_mailbox_is_read_no_more(mailbox: Mailbox, server: ImapServer, read: Callable[[], None]) -> None:
    mailbox.api.delete("/api/v1/channels/email")
    server.folder.asked.clear()
    read()
    assert server.folder.asked == []
    assert [job.state for job in mailbox.rows(Job, lane=LANE)] == ["skipped"]


def test_connecting_again_ends_the_earlier_job(mailbox: Mailbox, server: ImapServer, read: Callable[[], None]) -> None:
    read()
    server.folder.deliver(mail("Between"))
    connect(mailbox, server)
    read()
    read()
    states = sorted(job.state for job in mailbox.rows(Job, lane=LANE))
    assert states == ["queued", "skipped"]
    assert mailbox.words() == ["Between"]


def test_a_wrong_password_is_said_and_tried_again_later(
    mailbox: Mailbox, server: ImapServer, read: Callable[[], None]
) -> None:
    with mailbox.tenant.tx():
        Source.objects.filter(kind="email").update(settings={**mailbox.state()["settings"], "user": "nobody"})
    read()
    shown = mailbox.state()
    assert (shown["state"], shown["problem"]) == ("rejected", "The mail server rejects the user name or password.")
    assert PASSWORD not in str(shown)


@pytest.mark.parametrize("cuts", ["AUTHENTICATE", "EXAMINE", "UID SEARCH", "UID FETCH"])
def test_a_server_that_cuts_off_is_asked_again(
    mailbox: Mailbox, server: ImapServer, read: Callable[[], None], cuts: str
) -> None:
    read()
    server.folder.deliver(mail())
    server.folder.cuts = cuts
    read()
    assert mailbox.state()["problem"] == "The mail server couldn't be reached, or disconnected."
    server.folder.cuts = ""
    read()
    assert (mailbox.words(), mailbox.state()["problem"]) == (["A table?"], "")


def test_a_server_without_plain_is_signed_in_to(mailbox: Mailbox, server: ImapServer) -> None:
    server.folder.has_plain = False
    assert connect(mailbox, server)["state"] == "connected"


def test_connecting_says_at_once_what_is_wrong(mailbox: Mailbox, server: ImapServer) -> None:
    shown = connect(mailbox, server, folder="Nowhere")
    assert (shown["state"], shown["problem"]) == ("failed", "The mail server has no folder Nowhere.")
    assert shown["webhook"] == ""


def test_an_untrusted_certificate_is_refused(mailbox: Mailbox, tls: ssl.SSLContext) -> None:  # noqa: F811
    with ImapServer(tls) as stranger:
        assert "certificate" in connect(mailbox, stranger)["problem"]
        assert stranger.folder.asked == []


def test_of_a_giant_the_beginning_is_read(mailbox: Mailbox, server: ImapServer, read: Callable[[], None]) -> None:
    read()
    server.folder.deliver(mail("A table?"))
    server.folder.size = imap.LONGEST_MAIL + 1
    read()
    assert mailbox.words() == [f"A table?\n\n{CUT}"]


def test_large_emails_are_read_look_by_look(
    mailbox: Mailbox, server: ImapServer, read: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of one look fit into memory, and all of them are read in the end."""
    monkeypatch.setattr(imap, "ENOUGH_BYTES", 5_000)
    monkeypatch.setattr(imap, "MOST_BYTES", 12_000)
    read()
    for number in range(4):
        server.folder.deliver(mail(f"Mail {number}\n> {'x' * 4_000}", number=number))
    for _ in range(2):
        read()
    assert mailbox.words() == [f"Mail {number}" for number in range(4)]


def test_an_endless_email_ends_the_look(
    mailbox: Mailbox, server: ImapServer, read: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    read()
    monkeypatch.setattr(imap, "MOST_BYTES", 100)
    server.folder.deliver(mail("x" * 1_000))
    read()
    assert mailbox.words() == []
    assert mailbox.state()["state"] == "failed"


def test_an_email_that_cant_be_read_stops_no_other(
    mailbox: Mailbox, server: ImapServer, read: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    read()
    real = imap.read_mime

    def breaks(raw: bytes, **details: Any) -> Any:
        if b"broken" in raw:
            raise KeyError("a bug")
        return real(raw, **details)

    monkeypatch.setattr(imap, "read_mime", breaks)
    server.folder.deliver(mail("broken", number=1))
    server.folder.deliver(mail("Fine", number=2))
    read()
    assert (mailbox.words(), mailbox.state()["problem"]) == (["Fine"], "")


def test_no_connection_is_held_while_the_server_is_asked(
    mailbox: Mailbox, server: ImapServer, read: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[bool] = []
    real = email.Mailbox.look

    async def look_at(self: Any, cursor: Any) -> Any:
        from django.db import connections

        held.append(any(one.in_atomic_block for one in connections.all(initialized_only=True)))
        return await real(self, cursor)

    monkeypatch.setattr(email.Mailbox, "look", look_at)
    read()
    assert held == [False]


def test_an_old_email_is_stored_and_not_answered(
    mailbox: Mailbox, server: ImapServer, read: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    read()
    old = datetime.now(UTC) - incoming.STALE - timedelta(hours=1)
    monkeypatch.setattr(imap, "_moment", lambda line: old)
    server.folder.deliver(mail())
    read()
    assert [one.result for one in mailbox.rows(Delivery)] == ["stored"]


@pytest.mark.short_leases
def test_another_worker_continues_after_a_crash(
    mailbox: Mailbox,
    server: ImapServer,
    read: Callable[[], None],
    processes: ForkServer,
    model: ScriptedModel,
    certificate: Any,  # noqa: F811
) -> None:
    """The e-mails are stored and the cursor isn't: read again, they are stored and answered once."""
    read()
    server.folder.deliver(mail("First", number=1))
    server.folder.deliver(mail("Second", number=2, sender="bob@example.org"))
    trusting = {"SSL_CERT_FILE": str(certificate)}
    with mailbox.tenant.tx():
        Job.objects.filter(lane=LANE).update(run_after=datetime.now(UTC) - timedelta(seconds=1))
    doomed = processes.worker(crash_at="mailbox.stored_pre_cursor:1", env=trusting)
    doomed.wait()
    assert mailbox.words() == ["First", "Second"]
    processes.worker(env=trusting)
    mailbox.until_sent(2)
    until(lambda: [one.cursor["uid"] for one in mailbox.rows(ChannelLink)] == [2], what="the cursor")
    assert (mailbox.words(), len(mailbox.received)) == (["First", "Second"], 2)
