"""An SMTP session in a thread, and the outcome of each server reply (RFC 5321)."""

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

from outbound.silence import end_when_silent
from projects.connections.settings.smtp import SmtpSettings
from tools.engine.execution.outcome import Outcome
from tools.services.messaging.base import LONGEST_EXCERPT, refused_sign_in, refused_size
from tools.services.messaging.email_message import MimeMessage

CONNECT_TIMEOUT_S = 5.0
SILENCE_TIMEOUT_S = 15.0
MOST_ADDRESSES = 4
READY, GO_AHEAD = 220, 354
SIGN_IN_NEEDED = frozenset({530, 534, 535, 538})
# RFC 1870: what an e-mail over the server's limit is answered with.
OVER_SIZE = frozenset({523, 552})
# Bytes that leave within one timeout.
CHUNK_BYTES = 65_536
T = TypeVar("T")


class Refused(Exception):
    """The server rejected a step."""

    def __init__(self, step: str, code: int, reply: bytes) -> None:
        super().__init__(step)
        self.step = step
        self.code = code
        self.text = f"{code} {reply.decode('utf-8', 'replace')}"[:LONGEST_EXCERPT]


class _Credential(str):
    """A user name or password. smtplib encodes ASCII, but servers accept UTF-8 (RFC 4616)."""

    __slots__ = ()

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        return super().encode("utf-8", errors)


class _Connection(smtplib.SMTP):
    """smtplib over an already connected socket, to an address that the guard has checked."""

    def __init__(self, sock: socket.socket, *, host: str) -> None:
        super().__init__(local_hostname=str(DNS_NAME))
        self.sock = sock
        # STARTTLS verifies the certificate against this name.
        self._host = host

    def auth_plain(self, challenge: Any = None) -> str:
        return _Credential(super().auth_plain(challenge))


class SmtpSession:
    """A single-use session. Nothing has happened until the first byte of the message leaves; from then on only the
    server knows.
    """

    def __init__(self, settings: SmtpSettings, *, addresses: Sequence[str], password: str, tls: ssl.SSLContext) -> None:
        self._settings = settings
        self._addresses = addresses[:MOST_ADDRESSES]
        self._password = password
        self._tls = tls
        self._has_begun = False
        self._data_started = False
        self._is_aborted = False
        self._connection: _Connection | None = None
        self._socket: socket.socket | None = None
        self._lock = Lock()

    def abort(self) -> bool:
        """End the session from another thread; pending reads return at once. Return False if it has not begun, and then
        it never will.
        """
        with self._lock:
            self._is_aborted = True
            if self._socket is not None:
                with suppress(OSError):
                    self._socket.shutdown(socket.SHUT_RDWR)
            return self._has_begun

    def run(self, message: MimeMessage | None, details: dict[str, Any]) -> Outcome:
        """Deliver the message, or only sign in. Every result is an Outcome; `details` is added to each."""
        try:
            self._begin()
            connection = self._connect()
            self._sign_in(connection)
            if message is None:
                return Outcome.done("", **details)
            reply = self._deliver(message, connection)
        except Refused as refusal:
            details = {**details, "excerpt": refusal.text}
            is_answer = 400 <= refusal.code < 600
            # Without a valid reply, nothing is known about a message that has left.
            return (
                _refusal(refusal, message, details)
                if is_answer or not self._data_started
                else self._broken(refusal, details)
            )
        except (smtplib.SMTPException, OSError, ValueError) as error:
            return self._broken(error, details)
        finally:
            self._close()
        told = f"The e-mail “{message.ledger_fields['subject']}” to {message.recipient} was sent."
        result = {name: message.ledger_fields[name] for name in ("to", "subject", "message_id")}
        return Outcome.done(told, result=result, excerpt=reply, **details)

    def _begin(self) -> None:
        with self._lock:
            if self._is_aborted:
                raise TimeoutError
            self._has_begun = True

    def _deliver(self, message: MimeMessage, connection: _Connection) -> str:
        _check_size(message, connection)
        _expect(connection.mail(message.sender), "sender")
        _expect(connection.rcpt(message.recipient), "recipient")
        code, reply = connection.docmd("DATA")
        if code != GO_AHEAD:
            raise Refused("message", code, reply)
        self._data_started = True
        # Dot-stuffing: a leading dot is doubled, and a single dot ends the message.
        content = re.sub(rb"(?m)^\.", b"..", message.content) + b".\r\n"
        for at in range(0, len(content), CHUNK_BYTES):
            connection.send(content[at : at + CHUNK_BYTES])
        if len(content) > CHUNK_BYTES and connection.sock is not None:
            # A server that looks through files takes longer. The deadline ends it.
            connection.sock.settimeout(None)
        code, reply = _expect(connection.getreply(), "message")
        with suppress(smtplib.SMTPException, OSError):
            connection.quit()
        return f"{code} {reply.decode('utf-8', 'replace')}"[:LONGEST_EXCERPT]

    def _connect(self) -> _Connection:
        """Connect and read the greeting, with TLS as the settings require."""
        sock = self._open_socket()
        if self._settings.security == "tls":
            sock = self._tls.wrap_socket(sock, server_hostname=self._settings.host)
        connection = self._connection = _Connection(sock, host=self._settings.host)
        code, reply = connection.getreply()
        if code != READY:
            raise Refused("greeting", code, reply)
        _reply("hello", connection.ehlo_or_helo_if_needed)
        if self._settings.security == "starttls":
            _expect(_reply("STARTTLS", lambda: connection.starttls(context=self._tls)), "STARTTLS")
            _reply("hello", connection.ehlo_or_helo_if_needed)
        return connection

    def _open_socket(self) -> socket.socket:
        """Connect to the first address that responds. The duplicate socket lets `abort` interrupt it despite TLS."""
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
        end_when_silent(sock)
        with self._lock:
            if self._is_aborted:
                sock.close()
                raise TimeoutError
            self._socket = sock.dup()

    def _sign_in(self, connection: _Connection) -> None:
        if not self._settings.user:
            return
        try:
            connection.login(_Credential(self._settings.user), _Credential(self._password))
        except smtplib.SMTPAuthenticationError as error:
            # Raised outside of the handler, because its context holds the password.
            refusal = Refused("sign-in", error.smtp_code, _bytes(error.smtp_error))
        else:
            return
        raise refusal

    def _broken(self, error: Exception, details: dict[str, Any]) -> Outcome:
        """Return the outcome of a broken connection; it depends on whether the message has left."""
        if self._data_started:
            return Outcome.unknown(
                "The mail server disconnected during delivery; it isn't known whether it accepted the e-mail.",
                **details,
            )
        if isinstance(error, ssl.SSLCertVerificationError):
            return Outcome.not_sent(
                f"The mail server's certificate can't be trusted: {error.verify_message}.", **details
            )
        if isinstance(error, smtplib.SMTPNotSupportedError):
            return Outcome.not_sent(
                "The mail server doesn't support this TLS or sign-in; check the security under Integrations.", **details
            )
        if self._is_aborted or isinstance(error, TimeoutError):
            return Outcome.not_sent("The mail server didn't answer in time; nothing was sent.", **details)
        return Outcome.not_sent("The mail server couldn't be reached, or disconnected; nothing was sent.", **details)

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        with self._lock:
            if self._socket is not None:
                with suppress(OSError):
                    self._socket.shutdown(socket.SHUT_RDWR)
                self._socket.close()
                self._socket = None


def _reply(step: str, ask: Callable[[], T]) -> T:
    """Return the result; treat an error response that the library raises like any other reply. Raises Refused."""
    try:
        return ask()
    except smtplib.SMTPResponseException as error:
        raise Refused(step, error.smtp_code, _bytes(error.smtp_error)) from None


def _expect(answer: tuple[int, bytes], step: str) -> tuple[int, bytes]:
    code, reply = answer
    if not 200 <= code < 300:
        raise Refused(step, code, reply)
    return answer


def _check_size(message: MimeMessage, connection: _Connection) -> None:
    """Raises Refused if the message is over the limit that the server has announced."""
    most = connection.esmtp_features.get("size", "")
    if most.isdecimal() and 0 < int(most) < len(message.content):
        raise Refused("message", 552, f"The limit is {int(most)} bytes.".encode())


def _refusal(refusal: Refused, message: MimeMessage | None, details: dict[str, Any]) -> Outcome:
    """Return the outcome of a rejection. 4xx is temporary and 5xx permanent; in both cases the server has not accepted
    the message (RFC 5321, 4.2.1).
    """
    if refusal.code in SIGN_IN_NEEDED and refusal.step in ("sign-in", "sender"):
        return refused_sign_in("The mail server rejected the user name or password; connect it again.", **details)
    if refusal.code < 500:
        return Outcome.not_sent(
            f"The mail server can't take the e-mail right now ({refusal.step}: {refusal.text}).", **details
        )
    if refusal.code in OVER_SIZE and refusal.step in ("message", "sender"):
        return refused_size(f"The e-mail is too large for the mail server ({refusal.text}).", **details)
    if message is not None and refusal.step == "recipient":
        return Outcome.failed(
            f"The mail server doesn't take e-mails for {message.recipient}; ask for another address.", **details
        )
    return Outcome.failed(f"The mail server refused the e-mail ({refusal.step}: {refusal.text}).", **details)


def _bytes(text: bytes | str) -> bytes:
    return text if isinstance(text, bytes) else text.encode()
