"""E-mail through a real mail server: every way a session can end, and its outcome."""

from __future__ import annotations

import asyncio
import socket
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from email.header import decode_header, make_header
from threading import Thread

import pytest

from outbound.guard import Guard
from projects.connections.settings.smtp import SmtpSettings
from tests.processes import free_port
from tests.tools.messaging.conftest import KEY, secure, smtp_over
from tests.tools.messaging.mail_server import PASSWORD, USER, MailServer
from tools.engine.execution.outcome import Ending, Outcome
from tools.services.messaging import smtp as smtp_module
from tools.services.messaging.base import Email, needs_reauth
from tools.services.messaging.email_message import build_message
from tools.services.messaging.smtp_dialogue import SmtpSession

EMAIL = Email(to="anna@example.org", name="Anna Bianchi", subject="Il tuo tavolo ✓", body="Ciao Anna,\n.\n..a domani")


async def send(mail: MailServer, message: Email = EMAIL) -> Outcome:
    return await smtp_over(mail.port, from_name="Da Nello").send(message, key=KEY)


async def test_an_email_arrives_as_it_was_written(mail: MailServer) -> None:
    outcome = await send(mail)
    (received,) = mail.post.messages
    assert (outcome.ending, outcome.adapter) == (Ending.DONE, "smtp")
    assert (received.sender, received.recipients) == ("hello@nello.example", ["anna@example.org"])
    assert str(received.message["From"]) == "Da Nello <hello@nello.example>"
    assert str(received.message["To"]) == "Anna Bianchi <anna@example.org>"
    assert str(received.message["Subject"]) == EMAIL.subject
    assert received.message.get_content().splitlines() == EMAIL.body.splitlines()


@pytest.mark.parametrize(
    "words",
    [
        "Επιβεβαίωση της κράτησής σας στο Εστιατόριο Το Παλιό Λιμάνι της Αθήνας",
        "Confirmée\u202f! Votre table\u00a0: samedi",
        "می\u200cخواهم رزرو کنم",
        "Für euch: 👨\u200d👩\u200d👧",
    ],
)
async def test_subjects_and_names_arrive_in_every_script(mail: MailServer, words: str) -> None:
    """Including long ones, and the spaces and joiners of French, Persian and emoji."""
    message = Email(to="anna@example.org", name=words, subject=words, body="x")
    outcome = await smtp_over(mail.port, from_name=words).send(message, key=KEY)
    assert outcome.ending is Ending.DONE, outcome.error
    received = message_from_bytes(mail.post.messages[0].raw)
    read = {name: str(make_header(decode_header(received[name]))) for name in ("Subject", "From", "To")}
    whose = {"From": f"{words} <hello@nello.example>", "To": f"{words} <anna@example.org>"}
    assert read == {"Subject": words, **whose}


async def test_the_message_id_is_the_effects_key_on_every_attempt(mail: MailServer) -> None:
    await send(mail)
    await send(mail)
    assert {received.message["Message-ID"] for received in mail.post.messages} == {f"<{KEY}@nello.example>"}


async def test_an_email_has_a_date_and_suppresses_automatic_replies(mail: MailServer) -> None:
    await send(mail)
    received = mail.post.messages[0].message
    assert abs(datetime.now(UTC) - received["Date"].datetime) < timedelta(minutes=5)
    assert received["Auto-Submitted"] == "auto-generated"


async def test_an_email_is_seven_bit(mail: MailServer) -> None:
    await send(mail)
    assert mail.post.messages[0].raw.isascii()


async def test_the_ledger_shows_the_request_and_the_reply(mail: MailServer) -> None:
    outcome = await send(mail)
    assert outcome.request is not None
    assert (outcome.request["to"], outcome.request["body"]) == ("anna@example.org", EMAIL.body)
    assert outcome.excerpt == "250 2.0.0 Taken as 4711"


async def test_it_signs_in_over_starttls(secure_mail: MailServer) -> None:
    outcome = await secure(secure_mail.port).send(EMAIL, key=KEY)
    assert outcome.ending is Ending.DONE, outcome.error
    assert secure_mail.post.sign_ins == [(USER, PASSWORD)]
    assert secure_mail.post.messages[0].is_encrypted


async def test_it_speaks_tls_from_the_first_byte(tls, trusting) -> None:
    with MailServer(tls=tls, is_tls_throughout=True) as server:
        outcome = await smtp_over(server.port, security="tls").send(EMAIL, key=KEY)
        assert outcome.ending is Ending.DONE, outcome.error
        assert server.post.messages[0].is_encrypted


async def test_an_untrusted_certificate_gets_no_password(tls) -> None:
    with MailServer(tls=tls) as server:
        outcome = await secure(server.port).send(EMAIL, key=KEY)
        assert (outcome.ending, server.post.sign_ins) == (Ending.NOT_SENT, [])
        assert "certificate can't be trusted" in outcome.error


async def test_a_server_without_tls_gets_no_password(mail: MailServer) -> None:
    outcome = await secure(mail.port).send(EMAIL, key=KEY)
    assert (outcome.ending, mail.post.messages) == (Ending.NOT_SENT, [])
    assert "doesn't support this TLS" in outcome.error


async def test_a_password_can_contain_non_ascii_characters(secure_mail: MailServer) -> None:
    """With every authentication method that the server offers."""
    outcome = await secure(secure_mail.port, password="contraseña-ключ").send(EMAIL, key=KEY)
    assert len(secure_mail.post.sign_ins) == 2
    assert set(secure_mail.post.sign_ins) == {(USER, "contraseña-ключ")}
    assert outcome.result == {"needs_reauth": True}


@pytest.mark.requirement("F17")
async def test_a_rejected_sign_in_needs_reauth_and_does_not_reveal_the_password(secure_mail: MailServer) -> None:
    outcome = await secure(secure_mail.port, password="wrong-canary").send(EMAIL, key=KEY)
    assert (outcome.ending, outcome.result) == (Ending.FAILED, {"needs_reauth": True})
    assert "wrong-canary" not in repr(outcome)


@pytest.mark.parametrize(
    ("step", "reply", "ending"),
    [
        ("at_sender", "550 5.7.1 Not from here", Ending.FAILED),
        ("at_sender", "451 4.3.0 Later", Ending.NOT_SENT),
        ("at_recipient", "550 5.1.1 No such mailbox", Ending.FAILED),
        ("at_recipient", "450 4.2.0 Greylisted", Ending.NOT_SENT),
        ("at_message", "554 5.7.1 Spam", Ending.FAILED),
        ("at_message", "500 5.5.2 Not understood", Ending.FAILED),
        ("at_message", "452 4.3.1 Disk full", Ending.NOT_SENT),
    ],
)
async def test_a_rejection_is_a_certain_outcome(mail: MailServer, step: str, reply: str, ending: Ending) -> None:
    """The server has replied, so it has not accepted the message."""
    setattr(mail.post, step, reply)
    outcome = await send(mail)
    assert outcome.ending is ending
    assert outcome.excerpt == reply


@pytest.mark.requirement("F17")
@pytest.mark.parametrize(
    ("step", "reply", "is_asked_for"),
    [
        ("at_sender", "530 5.7.0 Authentication required", True),
        ("at_sender", "534 5.7.9 Application-specific password required", True),
        ("at_recipient", "530 5.7.1 Relaying denied", False),
    ],
)
async def test_a_server_that_requires_a_sign_in_needs_reauth(
    mail: MailServer, step: str, reply: str, is_asked_for: bool
) -> None:
    """Without a user, it says so at the sender; at the recipient, the same code means something else."""
    setattr(mail.post, step, reply)
    outcome = await send(mail)
    assert (outcome.ending, needs_reauth(outcome)) == (Ending.FAILED, is_asked_for)


async def test_a_refused_recipient_asks_for_another_address(mail: MailServer) -> None:
    mail.post.at_recipient = "550 5.1.1 No such mailbox"
    assert (await send(mail)).error.endswith("anna@example.org; ask for another address.")


async def test_a_disconnect_after_the_message_is_unknown(mail: MailServer) -> None:
    """The server has the message, and it is never sent again."""
    mail.post.cut = True
    outcome = await send(mail)
    assert outcome.ending is Ending.UNKNOWN
    assert len(mail.post.messages) == 1


async def test_an_unreachable_address_is_skipped(mail: MailServer) -> None:
    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.2", "127.0.0.1"]

    guard = Guard([f"127.0.0.1:{mail.port}", f"127.0.0.2:{mail.port}"], resolver=resolve)
    outcome = await smtp_over(mail.port, host="mail.example.com", guard=guard).send(EMAIL, key=KEY)
    assert (outcome.ending, len(mail.post.messages)) == (Ending.DONE, 1)


async def test_a_queued_message_that_timed_out_is_never_sent(mail: MailServer) -> None:
    """It is reported as not sent and retried; sending it as well would duplicate it."""
    settings = SmtpSettings(host="127.0.0.1", port=mail.port, security="none", from_address="hello@nello.example")
    late = SmtpSession(settings, addresses=["127.0.0.1"], password="", tls=smtp_module.tls_context())
    assert not late.abort()
    outcome = await asyncio.to_thread(late.run, build_message(EMAIL, settings, key=KEY), {})
    assert (outcome.ending, mail.post.messages) == (Ending.NOT_SENT, [])


async def test_a_refused_connection_sends_nothing() -> None:
    outcome = await smtp_over(free_port()).send(EMAIL, key=KEY)
    assert outcome.ending is Ending.NOT_SENT


class Odd:
    """A server that sends these lines, one per line of ours, and then nothing more; it can disconnect at a marked line."""

    def __init__(self, *lines: str, hangs_up: bool = False) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.lines = lines
        self.hangs_up = hangs_up
        self.heard = b""
        self.thread = Thread(target=self._talk, daemon=True)
        self.thread.start()

    def _talk(self) -> None:
        line, _ = self.listener.accept()
        with line, self.listener:
            for text in self.lines:
                line.sendall(text.encode() + b"\r\n")
                self.heard += line.recv(65536)
            while not self.hangs_up and (more := line.recv(65536)):
                self.heard += more


async def test_a_rejected_hello_is_quoted() -> None:
    """Staff needs to know what the server says about our host name."""
    odd = Odd("220 hello", "550 5.7.1 Client host blocked", "550 5.7.1 Client host blocked")
    outcome = await smtp_over(odd.port).send(EMAIL, key=KEY)
    assert (outcome.ending, "Client host blocked" in outcome.error) == (Ending.FAILED, True)


async def test_a_rejecting_greeting_sends_nothing() -> None:
    odd = Odd("421 4.3.2 Too busy")
    assert (await smtp_over(odd.port).send(EMAIL, key=KEY)).ending is Ending.NOT_SENT


async def test_a_disconnect_before_the_message_sends_nothing() -> None:
    odd = Odd("220 hello", "250 hello", "250 sender", "250 recipient", hangs_up=True)
    outcome = await smtp_over(odd.port).send(EMAIL, key=KEY)
    odd.thread.join(5)
    assert (outcome.ending, odd.heard.endswith(b"DATA\r\n")) == (Ending.NOT_SENT, True)
    assert outcome.error == "The mail server couldn't be reached, or disconnected; nothing was sent."


async def test_a_server_that_fails_starttls_gets_no_password() -> None:
    """It offers STARTTLS but then fails it; nothing is sent in the clear."""
    odd = Odd("220 hello", "250-hello\r\n250-STARTTLS\r\n250 AUTH PLAIN", "454 4.7.0 TLS not available", hangs_up=True)
    outcome = await secure(odd.port).send(EMAIL, key=KEY)
    odd.thread.join(5)
    assert (outcome.ending, b"AUTH" in odd.heard) == (Ending.NOT_SENT, False)
    assert "TLS not available" in outcome.error


HELLO = ("220 hello", "250 hello", "250 sender", "250 recipient")


@pytest.mark.parametrize(("reply", "ending"), [("554 No", Ending.FAILED), ("451 Later", Ending.NOT_SENT)])
async def test_a_rejected_data_command_is_a_certain_outcome(reply: str, ending: Ending) -> None:
    assert (await smtp_over(Odd(*HELLO, reply).port).send(EMAIL, key=KEY)).ending is ending


async def test_a_server_that_disconnects_after_accepting_has_the_message() -> None:
    """QUIT needs no reply."""
    odd = Odd(*HELLO, "354 go ahead", "250 taken", hangs_up=True)
    assert (await smtp_over(odd.port).send(EMAIL, key=KEY)).ending is Ending.DONE


async def test_an_invalid_reply_after_the_message_is_unknown() -> None:
    """It is never sent again."""
    odd = Odd(*HELLO, "354 go ahead", "Proxy error", hangs_up=True)
    outcome = await smtp_over(odd.port).send(EMAIL, key=KEY)
    assert outcome.ending is Ending.UNKNOWN


async def test_a_silent_server_is_abandoned_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smtp_module, "DEADLINE_S", 0.2)
    outcome = await smtp_over(Odd("220 hello", "250 hello").port).send(EMAIL, key=KEY)
    assert (outcome.ending, "in time" in outcome.error) == (Ending.NOT_SENT, True)


async def test_silence_after_the_message_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smtp_module, "DEADLINE_S", 0.3)
    odd = Odd("220 hello", "250 hello", "250 sender", "250 recipient", "354 go ahead")
    assert (await smtp_over(odd.port).send(EMAIL, key=KEY)).ending is Ending.UNKNOWN


@pytest.mark.parametrize("subject", ["Hello\r\nBcc: all@example.org", "Hello\nX-Mailer: x", "a\x00b", "a\x7fb"])
async def test_a_subject_cannot_inject_a_header(mail: MailServer, subject: str) -> None:
    outcome = await send(mail, Email(to="anna@example.org", subject=subject, body="x"))
    assert (outcome.ending, mail.post.messages) == (Ending.FAILED, [])
    assert "line break or a control character" in outcome.error


async def test_a_name_cannot_inject_a_header(mail: MailServer) -> None:
    outcome = await send(mail, Email(to="anna@example.org", name="Anna\r\nBcc: x@y.z", subject="Hi", body="x"))
    assert (outcome.ending, mail.post.messages) == (Ending.FAILED, [])


@pytest.mark.parametrize("address", ["anna", "a@b@c.d", "anna@example.org, bob@example.org", "anna@exa\nmple.org", ""])
async def test_an_invalid_address_is_refused(mail: MailServer, address: str) -> None:
    outcome = await send(mail, Email(to=address, subject="Hi", body="x"))
    assert (outcome.ending, mail.post.messages) == (Ending.FAILED, [])


@pytest.mark.parametrize("address", ["anna@bücher.example", " anna@BÜCHER.example "])
async def test_an_international_domain_is_sent_in_ascii(mail: MailServer, address: str) -> None:
    await send(mail, Email(to=address, subject="Hi", body="x"))
    assert mail.post.messages[0].recipients == ["anna@xn--bcher-kva.example"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "10.1.2.3", "169.254.169.254"])
async def test_a_private_address_is_never_connected(mail: MailServer, host: str) -> None:
    outcome = await smtp_over(mail.port, host=host, guard=Guard()).send(EMAIL, key=KEY)
    assert (outcome.ending, mail.post.messages) == (Ending.NOT_SENT, [])
    assert "private network" in outcome.error or "this machine" in outcome.error


async def test_a_name_that_resolves_to_a_private_address_is_never_connected(
    mail: MailServer, resolver_to_inside
) -> None:
    guard = Guard(resolver=resolver_to_inside)
    outcome = await smtp_over(mail.port, host="mail.example.com", guard=guard).send(EMAIL, key=KEY)
    assert (outcome.ending, mail.post.messages) == (Ending.NOT_SENT, [])


@pytest.fixture
def resolver_to_inside():
    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    return resolve
