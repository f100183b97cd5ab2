"""E-mails by a real mail server: each end of the dialogue, and what it means for the letter."""

from __future__ import annotations

import asyncio
import socket
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from email.header import decode_header, make_header
from threading import Thread

import pytest

from outbound.guard import Guard
from projects.connections.integration_settings import SmtpSettings
from tests.processes import free_port
from tests.tools.messaging.conftest import KEY, secure, smtp_over
from tests.tools.messaging.mail_server import PASSWORD, USER, MailServer
from tools.engine.execution.outcome import Ending, Outcome
from tools.services.messaging import smtp as smtp_module
from tools.services.messaging.base import Email, needs_reauth
from tools.services.messaging.email_message import build_message
from tools.services.messaging.smtp_dialogue import Dialogue

LETTER = Email(to="anna@example.org", name="Anna Bianchi", subject="Il tuo tavolo ✓", body="Ciao Anna,\n.\n..a domani")


async def send(mail: MailServer, message: Email = LETTER) -> Outcome:
    return await smtp_over(mail.port, from_name="Da Nello").send(message, key=KEY)


async def test_a_letter_arrives_as_it_was_written(mail: MailServer) -> None:
    outcome = await send(mail)
    (letter,) = mail.post.letters
    assert (outcome.ending, outcome.adapter) == (Ending.DONE, "smtp")
    assert (letter.sender, letter.recipients) == ("hello@nello.example", ["anna@example.org"])
    assert str(letter.message["From"]) == "Da Nello <hello@nello.example>"
    assert str(letter.message["To"]) == "Anna Bianchi <anna@example.org>"
    assert str(letter.message["Subject"]) == LETTER.subject
    assert letter.message.get_content().splitlines() == LETTER.body.splitlines()


@pytest.mark.parametrize(
    "words",
    [
        "Επιβεβαίωση της κράτησής σας στο Εστιατόριο Το Παλιό Λιμάνι της Αθήνας",
        "Confirmée\u202f! Votre table\u00a0: samedi",
        "می\u200cخواهم رزرو کنم",
        "Für euch: 👨\u200d👩\u200d👧",
    ],
)
async def test_a_subject_and_a_name_arrive_in_every_script(mail: MailServer, words: str) -> None:
    """Long ones, and those with the spaces and joiners that French, Persian and emoji are written with."""
    message = Email(to="anna@example.org", name=words, subject=words, body="x")
    outcome = await smtp_over(mail.port, from_name=words).send(message, key=KEY)
    assert outcome.ending is Ending.DONE, outcome.error
    letter = message_from_bytes(mail.post.letters[0].raw)
    read = {name: str(make_header(decode_header(letter[name]))) for name in ("Subject", "From", "To")}
    whose = {"From": f"{words} <hello@nello.example>", "To": f"{words} <anna@example.org>"}
    assert read == {"Subject": words, **whose}


async def test_the_message_id_is_the_effects_key_at_every_attempt(mail: MailServer) -> None:
    await send(mail)
    await send(mail)
    assert {letter.message["Message-ID"] for letter in mail.post.letters} == {f"<{KEY}@nello.example>"}


async def test_a_letter_has_its_date_and_wants_no_automatic_answer(mail: MailServer) -> None:
    await send(mail)
    letter = mail.post.letters[0].message
    assert abs(datetime.now(UTC) - letter["Date"].datetime) < timedelta(minutes=5)
    assert letter["Auto-Submitted"] == "auto-generated"


async def test_a_letter_has_seven_bits(mail: MailServer) -> None:
    await send(mail)
    assert mail.post.letters[0].raw.isascii()


async def test_the_ledger_sees_what_was_sent_and_what_came_back(mail: MailServer) -> None:
    outcome = await send(mail)
    assert outcome.request is not None
    assert (outcome.request["to"], outcome.request["body"]) == ("anna@example.org", LETTER.body)
    assert outcome.excerpt == "250 2.0.0 Taken as 4711"


async def test_it_signs_in_over_starttls(secure_mail: MailServer) -> None:
    outcome = await secure(secure_mail.port).send(LETTER, key=KEY)
    assert outcome.ending is Ending.DONE, outcome.error
    assert secure_mail.post.sign_ins == [(USER, PASSWORD)]
    assert secure_mail.post.letters[0].is_encrypted


async def test_it_speaks_tls_from_the_first_byte(tls, trusting) -> None:
    with MailServer(tls=tls, is_tls_throughout=True) as server:
        outcome = await smtp_over(server.port, security="tls").send(LETTER, key=KEY)
        assert outcome.ending is Ending.DONE, outcome.error
        assert server.post.letters[0].is_encrypted


async def test_a_certificate_that_nobody_vouches_for_gets_no_password(tls) -> None:
    with MailServer(tls=tls) as server:
        outcome = await secure(server.port).send(LETTER, key=KEY)
        assert (outcome.ending, server.post.sign_ins) == (Ending.NOT_SENT, [])
        assert "certificate can't be trusted" in outcome.error


async def test_a_server_without_tls_gets_no_password(mail: MailServer) -> None:
    outcome = await secure(mail.port).send(LETTER, key=KEY)
    assert (outcome.ending, mail.post.letters) == (Ending.NOT_SENT, [])
    assert "offers no such TLS" in outcome.error


async def test_a_password_may_have_letters_beyond_ascii(secure_mail: MailServer) -> None:
    """By whichever way of signing in the server asks for it."""
    outcome = await secure(secure_mail.port, password="contraseña-ключ").send(LETTER, key=KEY)
    assert len(secure_mail.post.sign_ins) == 2
    assert set(secure_mail.post.sign_ins) == {(USER, "contraseña-ключ")}
    assert outcome.result == {"needs_reauth": True}


@pytest.mark.requirement("F17")
async def test_a_refused_sign_in_asks_for_a_new_one_and_keeps_the_password(secure_mail: MailServer) -> None:
    outcome = await secure(secure_mail.port, password="wrong-canary").send(LETTER, key=KEY)
    assert (outcome.ending, outcome.result) == (Ending.FAILED, {"needs_reauth": True})
    assert "wrong-canary" not in repr(outcome)


@pytest.mark.parametrize(
    ("step", "reply", "ending"),
    [
        ("at_sender", "550 5.7.1 Not from here", Ending.FAILED),
        ("at_sender", "451 4.3.0 Later", Ending.NOT_SENT),
        ("at_recipient", "550 5.1.1 No such mailbox", Ending.FAILED),
        ("at_recipient", "450 4.2.0 Greylisted", Ending.NOT_SENT),
        ("at_letter", "554 5.7.1 Spam", Ending.FAILED),
        ("at_letter", "500 5.5.2 Not understood", Ending.FAILED),
        ("at_letter", "452 4.3.1 Disk full", Ending.NOT_SENT),
    ],
)
async def test_a_refusal_is_certain(mail: MailServer, step: str, reply: str, ending: Ending) -> None:
    """The server has answered, so it has nothing."""
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
async def test_a_server_that_wants_a_sign_in_is_to_be_connected_anew(
    mail: MailServer, step: str, reply: str, is_asked_for: bool
) -> None:
    """Where no user is set, it says so at the sender; of a recipient the same number says something else."""
    setattr(mail.post, step, reply)
    outcome = await send(mail)
    assert (outcome.ending, needs_reauth(outcome)) == (Ending.FAILED, is_asked_for)


async def test_a_refused_recipient_asks_for_another_address(mail: MailServer) -> None:
    mail.post.at_recipient = "550 5.1.1 No such mailbox"
    assert (await send(mail)).error.endswith("anna@example.org; ask for another address.")


async def test_a_line_cut_after_the_letter_leaves_it_unknown(mail: MailServer) -> None:
    """The server has it, and it is never sent again."""
    mail.post.cut = True
    outcome = await send(mail)
    assert outcome.ending is Ending.UNKNOWN
    assert len(mail.post.letters) == 1


async def test_a_server_whose_first_address_is_dead_is_found_at_the_next(mail: MailServer) -> None:
    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.2", "127.0.0.1"]

    guard = Guard([f"127.0.0.1:{mail.port}", f"127.0.0.2:{mail.port}"], resolver=resolve)
    outcome = await smtp_over(mail.port, host="mail.example.com", guard=guard).send(LETTER, key=KEY)
    assert (outcome.ending, len(mail.post.letters)) == (Ending.DONE, 1)


async def test_what_is_given_up_before_its_turn_is_never_sent(mail: MailServer) -> None:
    """It is told as not sent, and tried again; sent after all, it would be there twice."""
    settings = SmtpSettings(host="127.0.0.1", port=mail.port, security="none", from_address="hello@nello.example")
    late = Dialogue(settings, addresses=["127.0.0.1"], password="", tls=smtp_module.tls_context())
    assert not late.abort()
    outcome = await asyncio.to_thread(late.run, build_message(LETTER, settings, key=KEY), {})
    assert (outcome.ending, mail.post.letters) == (Ending.NOT_SENT, [])


async def test_nobody_who_listens_is_nothing_sent() -> None:
    outcome = await smtp_over(free_port()).send(LETTER, key=KEY)
    assert outcome.ending is Ending.NOT_SENT


class Odd:
    """A server that says these lines, one after each of ours, and then nothing more; it hangs up where told."""

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


async def test_a_server_that_wants_nothing_of_us_is_quoted() -> None:
    """What it says against our name is what staff has to know."""
    odd = Odd("220 hello", "550 5.7.1 Client host blocked", "550 5.7.1 Client host blocked")
    outcome = await smtp_over(odd.port).send(LETTER, key=KEY)
    assert (outcome.ending, "Client host blocked" in outcome.error) == (Ending.FAILED, True)


async def test_a_greeting_that_says_no_is_nothing_sent() -> None:
    odd = Odd("421 4.3.2 Too busy")
    assert (await smtp_over(odd.port).send(LETTER, key=KEY)).ending is Ending.NOT_SENT


async def test_a_line_cut_before_the_letter_is_nothing_sent() -> None:
    odd = Odd("220 hello", "250 hello", "250 sender", "250 recipient", hangs_up=True)
    outcome = await smtp_over(odd.port).send(LETTER, key=KEY)
    odd.thread.join(5)
    assert (outcome.ending, odd.heard.endswith(b"DATA\r\n")) == (Ending.NOT_SENT, True)
    assert outcome.error == "The mail server couldn't be reached, or broke off; nothing was sent."


async def test_a_server_that_takes_tls_back_gets_no_password() -> None:
    """It offers STARTTLS, and can't when it is asked; nothing goes on in the clear."""
    odd = Odd("220 hello", "250-hello\r\n250-STARTTLS\r\n250 AUTH PLAIN", "454 4.7.0 TLS not available", hangs_up=True)
    outcome = await secure(odd.port).send(LETTER, key=KEY)
    odd.thread.join(5)
    assert (outcome.ending, b"AUTH" in odd.heard) == (Ending.NOT_SENT, False)
    assert "TLS not available" in outcome.error


HELLO = ("220 hello", "250 hello", "250 sender", "250 recipient")


@pytest.mark.parametrize(("reply", "ending"), [("554 No", Ending.FAILED), ("451 Later", Ending.NOT_SENT)])
async def test_a_letter_that_is_not_let_in_is_certain(reply: str, ending: Ending) -> None:
    assert (await smtp_over(Odd(*HELLO, reply).port).send(LETTER, key=KEY)).ending is ending


async def test_a_server_that_hangs_up_once_it_has_the_letter_has_it() -> None:
    """It needn't say goodbye."""
    odd = Odd(*HELLO, "354 go ahead", "250 taken", hangs_up=True)
    assert (await smtp_over(odd.port).send(LETTER, key=KEY)).ending is Ending.DONE


async def test_words_after_the_letter_that_are_no_answer_leave_it_unknown() -> None:
    """It isn't sent again."""
    odd = Odd(*HELLO, "354 go ahead", "Proxy error", hangs_up=True)
    outcome = await smtp_over(odd.port).send(LETTER, key=KEY)
    assert outcome.ending is Ending.UNKNOWN


async def test_a_server_that_falls_silent_is_left_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smtp_module, "DEADLINE_S", 0.2)
    outcome = await smtp_over(Odd("220 hello", "250 hello").port).send(LETTER, key=KEY)
    assert (outcome.ending, "in time" in outcome.error) == (Ending.NOT_SENT, True)


async def test_silence_after_the_letter_is_unknown_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smtp_module, "DEADLINE_S", 0.3)
    odd = Odd("220 hello", "250 hello", "250 sender", "250 recipient", "354 go ahead")
    assert (await smtp_over(odd.port).send(LETTER, key=KEY)).ending is Ending.UNKNOWN


@pytest.mark.parametrize("subject", ["Hello\r\nBcc: all@example.org", "Hello\nX-Mailer: x", "a\x00b", "a\x7fb"])
async def test_a_header_cannot_be_smuggled_in(mail: MailServer, subject: str) -> None:
    outcome = await send(mail, Email(to="anna@example.org", subject=subject, body="x"))
    assert (outcome.ending, mail.post.letters) == (Ending.FAILED, [])
    assert "line break or a control character" in outcome.error


async def test_a_name_cannot_smuggle_a_header_in(mail: MailServer) -> None:
    outcome = await send(mail, Email(to="anna@example.org", name="Anna\r\nBcc: x@y.z", subject="Hi", body="x"))
    assert (outcome.ending, mail.post.letters) == (Ending.FAILED, [])


@pytest.mark.parametrize("address", ["anna", "a@b@c.d", "anna@example.org, bob@example.org", "anna@exa\nmple.org", ""])
async def test_what_is_no_address_is_not_written_to(mail: MailServer, address: str) -> None:
    outcome = await send(mail, Email(to=address, subject="Hi", body="x"))
    assert (outcome.ending, mail.post.letters) == (Ending.FAILED, [])


@pytest.mark.parametrize("address", ["anna@bücher.example", " anna@BÜCHER.example "])
async def test_an_international_domain_goes_out_in_ascii(mail: MailServer, address: str) -> None:
    await send(mail, Email(to=address, subject="Hi", body="x"))
    assert mail.post.letters[0].recipients == ["anna@xn--bcher-kva.example"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "10.1.2.3", "169.254.169.254"])
async def test_a_private_mail_server_is_never_dialled(mail: MailServer, host: str) -> None:
    outcome = await smtp_over(mail.port, host=host, guard=Guard()).send(LETTER, key=KEY)
    assert (outcome.ending, mail.post.letters) == (Ending.NOT_SENT, [])
    assert "private network" in outcome.error or "this machine" in outcome.error


async def test_a_name_that_points_inside_is_never_dialled(mail: MailServer, resolver_to_inside) -> None:
    guard = Guard(resolver=resolver_to_inside)
    outcome = await smtp_over(mail.port, host="mail.example.com", guard=guard).send(LETTER, key=KEY)
    assert (outcome.ending, mail.post.letters) == (Ending.NOT_SENT, [])


@pytest.fixture
def resolver_to_inside():
    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    return resolve
