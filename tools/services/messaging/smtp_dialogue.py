"""One dialogue with a mail server, in a thread: what it answers, and what that means for the letter (RFC 5321)."""

from __future__ import annotations

import re
import smtplib
import socket
import ssl
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Lock
from typing import Any, TypeVar

from django.core.mail.utils import DNS_NAME

from projects.connections.integration_settings import SmtpSettings
from tools.engine.execution.outcome import Outcome
from tools.services.messaging.base import LONGEST_EXCERPT, refused_sign_in
from tools.services.messaging.email_message import MimeMessage

CONNECT_TIMEOUT_S = 5.0
SILENCE_TIMEOUT_S = 15.0
MOST_ADDRESSES = 4
READY, GO_AHEAD = 220, 354
SIGN_IN_NEEDED = frozenset({530, 534, 535, 538})
T = TypeVar("T")


class Refused(Exception):
    """The server answered, and said no."""

    def __init__(self, step: str, code: int, reply: bytes) -> None:
        super().__init__(step)
        self.step = step
        self.code = code
        self.text = f"{code} {reply.decode('utf-8', 'replace')}"[:LONGEST_EXCERPT]


class _Credential(str):
    """A user or a password. The library asks for ASCII, and mail servers take UTF-8 (RFC 4616)."""

    __slots__ = ()

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        return super().encode("utf-8", errors)


class _Line(smtplib.SMTP):
    """smtplib over a socket that is connected already, to an address that the guard has checked."""

    def __init__(self, sock: socket.socket, *, host: str) -> None:
        super().__init__(local_hostname=str(DNS_NAME))
        self.sock = sock
        # The name that STARTTLS checks the certificate against.
        self._host = host

    def auth_plain(self, challenge: Any = None) -> str:
        return _Credential(super().auth_plain(challenge))


class Dialogue:
    """Runs once. Until the letter's first byte has left, nothing has happened; from then on only the server knows."""

    def __init__(self, settings: SmtpSettings, *, addresses: Sequence[str], password: str, tls: ssl.SSLContext) -> None:
        self._settings = settings
        self._addresses = addresses[:MOST_ADDRESSES]
        self._password = password
        self._tls = tls
        self._has_begun = False
        self._has_left = False
        self._is_aborted = False
        self._line: _Line | None = None
        self._wire: socket.socket | None = None
        self._lock = Lock()

    def abort(self) -> bool:
        """End it from another thread: whatever waits for the server stops waiting. False when it had not begun, and never will."""
        with self._lock:
            self._is_aborted = True
            if self._wire is not None:
                with suppress(OSError):
                    self._wire.shutdown(socket.SHUT_RDWR)
            return self._has_begun

    def run(self, letter: MimeMessage, kept: dict[str, Any]) -> Outcome:
        """Hand the letter over. Every end of it is an Outcome; `kept` goes into each."""
        try:
            self._begin()
            reply = self._hand_over(letter)
        except Refused as refusal:
            kept = {**kept, "excerpt": refusal.text}
            is_answer = 400 <= refusal.code < 600
            # What is no answer at all says nothing of a letter that has left.
            return _refusal(refusal, letter, kept) if is_answer or not self._has_left else self._break(refusal, kept)
        except (smtplib.SMTPException, OSError, ValueError) as error:
            return self._break(error, kept)
        finally:
            self._hang_up()
        told = f"The e-mail “{letter.shown['subject']}” to {letter.recipient} was sent."
        result = {name: letter.shown[name] for name in ("to", "subject", "message_id")}
        return Outcome.done(told, result=result, excerpt=reply, **kept)

    def _begin(self) -> None:
        with self._lock:
            if self._is_aborted:
                raise TimeoutError
            self._has_begun = True

    def _hand_over(self, letter: MimeMessage) -> str:
        line = self._connected()
        self._sign_in(line)
        _expect(line.mail(letter.sender), "sender")
        _expect(line.rcpt(letter.recipient), "recipient")
        code, reply = line.docmd("DATA")
        if code != GO_AHEAD:
            raise Refused("letter", code, reply)
        self._has_left = True
        # A line that begins with a full stop gets a second one; one alone ends the letter.
        line.send(re.sub(rb"(?m)^\.", b"..", letter.content) + b".\r\n")
        code, reply = _expect(line.getreply(), "letter")
        with suppress(smtplib.SMTPException, OSError):
            line.quit()
        return f"{code} {reply.decode('utf-8', 'replace')}"[:LONGEST_EXCERPT]

    def _connected(self) -> _Line:
        """The line after the greeting, with TLS as the settings ask."""
        sock = self._dialled()
        if self._settings.security == "tls":
            sock = self._tls.wrap_socket(sock, server_hostname=self._settings.host)
        line = self._line = _Line(sock, host=self._settings.host)
        code, reply = line.getreply()
        if code != READY:
            raise Refused("greeting", code, reply)
        _answered("hello", line.ehlo_or_helo_if_needed)
        if self._settings.security == "starttls":
            _expect(_answered("STARTTLS", lambda: line.starttls(context=self._tls)), "STARTTLS")
            _answered("hello", line.ehlo_or_helo_if_needed)
        return line

    def _dialled(self) -> socket.socket:
        """A socket to the first address that answers; a second hold on it lets `abort` reach it through TLS."""
        failure: OSError = TimeoutError()
        for address in self._addresses:
            if self._is_aborted:
                break
            try:
                sock = socket.create_connection((address, self._settings.port), CONNECT_TIMEOUT_S)
            except OSError as error:
                failure = error
                continue
            self._hold(sock)
            return sock
        raise failure

    def _hold(self, sock: socket.socket) -> None:
        sock.settimeout(SILENCE_TIMEOUT_S)
        with self._lock:
            if self._is_aborted:
                sock.close()
                raise TimeoutError
            self._wire = sock.dup()

    def _sign_in(self, line: _Line) -> None:
        if not self._settings.user:
            return
        try:
            line.login(_Credential(self._settings.user), _Credential(self._password))
        except smtplib.SMTPAuthenticationError as error:
            # Raised anew out of its context, which holds the password.
            refusal = Refused("sign-in", error.smtp_code, _bytes(error.smtp_error))
        else:
            return
        raise refusal

    def _break(self, error: Exception, kept: dict[str, Any]) -> Outcome:
        """The line broke, or TLS did; how far the letter had come decides."""
        if self._has_left:
            return Outcome.unknown(
                "The mail server broke off while it took the e-mail; whether it has it isn't known.", **kept
            )
        if isinstance(error, ssl.SSLCertVerificationError):
            return Outcome.not_sent(f"The mail server's certificate can't be trusted: {error.verify_message}.", **kept)
        if isinstance(error, smtplib.SMTPNotSupportedError):
            return Outcome.not_sent(
                "The mail server offers no such TLS or sign-in; check the security under Integrations.", **kept
            )
        is_late = self._is_aborted or isinstance(error, TimeoutError)
        why = "didn't answer in time" if is_late else "couldn't be reached, or broke off"
        return Outcome.not_sent(f"The mail server {why}; nothing was sent.", **kept)

    def _hang_up(self) -> None:
        if self._line is not None:
            self._line.close()
        with self._lock:
            if self._wire is not None:
                with suppress(OSError):
                    self._wire.shutdown(socket.SHUT_RDWR)
                self._wire.close()
                self._wire = None


def _answered(step: str, ask: Callable[[], T]) -> T:
    """What comes of it; what the library raises for a refusal is the server's answer like any other. Raises Refused."""
    try:
        return ask()
    except smtplib.SMTPResponseException as error:
        raise Refused(step, error.smtp_code, _bytes(error.smtp_error)) from None


def _expect(answer: tuple[int, bytes], step: str) -> tuple[int, bytes]:
    code, reply = answer
    if not 200 <= code < 300:
        raise Refused(step, code, reply)
    return answer


def _refusal(refusal: Refused, letter: MimeMessage, kept: dict[str, Any]) -> Outcome:
    """4xx says not now, 5xx says no; either way the server has nothing (RFC 5321, 4.2.1)."""
    if refusal.code in SIGN_IN_NEEDED and refusal.step in ("sign-in", "sender"):
        return refused_sign_in("The mail server refuses the user or the password; connect it again.", **kept)
    if refusal.code < 500:
        return Outcome.not_sent(f"The mail server takes no e-mail just now ({refusal.step}: {refusal.text}).", **kept)
    if refusal.step == "recipient":
        return Outcome.failed(
            f"The mail server doesn't take e-mails for {letter.recipient}; ask for another address.", **kept
        )
    return Outcome.failed(f"The mail server refused the e-mail ({refusal.step}: {refusal.text}).", **kept)


def _bytes(text: bytes | str) -> bytes:
    return text if isinstance(text, bytes) else text.encode()
