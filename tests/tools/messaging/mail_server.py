"""A real mail server that stores messages and can reject, disconnect or fall silent at any step."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any, cast

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from tests.processes import free_port

USER, PASSWORD = "agent", "canary-of-the-mail-server"


@dataclass
class Received:
    """A message with its envelope."""

    sender: str
    recipients: list[str]
    raw: bytes
    is_encrypted: bool
    message: EmailMessage


@dataclass
class Post:
    """Scripted replies per step; empty for the default. `cut` disconnects instead of replying to the message."""

    at_sender: str = ""
    at_recipient: str = ""
    at_message: str = ""
    cut: bool = False
    messages: list[Received] = field(default_factory=list)
    sign_ins: list[tuple[str, str]] = field(default_factory=list)

    async def handle_MAIL(self, server: SMTP, session: Session, envelope: Envelope, address: str, options: Any) -> str:
        if not self.at_sender:
            envelope.mail_from = address
        return self.at_sender or "250 OK"

    async def handle_RCPT(self, server: SMTP, session: Session, envelope: Envelope, address: str, options: Any) -> str:
        if not self.at_recipient:
            envelope.rcpt_tos.append(address)
        return self.at_recipient or "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        raw = cast(bytes, envelope.content)
        message = cast(EmailMessage, message_from_bytes(raw, policy=policy.default))
        is_encrypted = session.ssl is not None or server.transport.get_extra_info("sslcontext") is not None
        self.messages.append(
            Received(envelope.mail_from or "", envelope.rcpt_tos, raw, is_encrypted=is_encrypted, message=message)
        )
        if self.cut:
            server.transport.abort()
        return self.at_message or "250 2.0.0 Taken as 4711"

    def authenticate(self, server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any) -> AuthResult:
        login = cast(LoginPassword, data)
        self.sign_ins.append((login.login.decode(), login.password.decode()))
        return AuthResult(success=(login.login.decode(), login.password.decode()) == (USER, PASSWORD), handled=False)


class MailServer:
    """With `tls`, it offers STARTTLS and then requires a sign-in; with implicit TLS, it requires none."""

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        tls: ssl.SSLContext | None = None,
        is_tls_throughout: bool = False,
        most_bytes: int = 33_554_432,
    ) -> None:
        self.post = Post()
        self.port = free_port()
        asks = {"tls_context": tls, "authenticator": self.post.authenticate, "auth_required": True}
        how: Any = {"ssl_context": tls} if is_tls_throughout else asks if tls else {}
        self._controller = Controller(self.post, hostname=host, port=self.port, data_size_limit=most_bytes, **how)

    def __enter__(self) -> MailServer:
        self._controller.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._controller.stop()
