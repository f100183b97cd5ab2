"""E-mail through the project's own SMTP server."""

from __future__ import annotations

import asyncio
import ssl
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

from outbound.errors import NotSent
from outbound.guard import Guard
from projects.connections.settings.smtp import MAIL_PORTS, SmtpSettings
from tools.engine.execution.outcome import Outcome
from tools.services.messaging.base import Email
from tools.services.messaging.email_message import MessageRefused, MimeMessage, build_message
from tools.services.messaging.smtp_dialogue import SmtpSession

DEADLINE_S = 30.0
# A large e-mail has longer, within the deadline of a job.
SLOWEST_BYTES_PER_S = 250_000
LONGEST_DEADLINE_S = 105.0
_threads = ThreadPoolExecutor(max_workers=16, thread_name_prefix="smtp")


@cache
def tls_context() -> ssl.SSLContext:
    """Return the system's trust store, read once."""
    return ssl.create_default_context()


class Smtp:
    """E-mail channel. The Message-ID is derived from the effect's key, so that duplicates can be recognized."""

    name = "smtp"

    def __init__(self, settings: SmtpSettings, *, password: str, guard: Guard) -> None:
        self._settings = settings
        self._password = password
        self._guard = guard

    async def send(self, message: Email, *, key: str) -> Outcome:
        """Deliver the e-mail within 30 seconds, or longer if it is large. If the connection breaks after the message may
        have left, the outcome is unknown.
        """
        details: dict[str, Any] = {"adapter": self.name}
        try:
            mime = build_message(message, self._settings, key=key)
        except MessageRefused as refusal:
            return Outcome.failed(str(refusal), **details)
        details["request"] = {**mime.ledger_fields, "server": self._settings.server}
        return await self._run(mime, details)

    async def check(self) -> Outcome:
        """Connect and sign in, without sending anything."""
        return await self._run(None, {"adapter": self.name})

    async def _run(self, message: MimeMessage | None, details: dict[str, Any]) -> Outcome:
        try:
            addresses = await self._guard.resolve(self._settings.host, self._settings.port, ports=MAIL_PORTS)
        except NotSent as error:
            return Outcome.not_sent(f"The mail server couldn't be reached: {error}", **details)
        session = SmtpSession(self._settings, addresses=addresses, password=self._password, tls=tls_context())
        return await _within_deadline(session, message, details)


async def _within_deadline(session: SmtpSession, message: MimeMessage | None, details: dict[str, Any]) -> Outcome:
    """Run the session in a thread. At the deadline its socket is shut down, so the thread ends at once and reports how
    far it came.
    """
    talk = asyncio.get_running_loop().run_in_executor(_threads, session.run, message, details)
    try:
        return await asyncio.wait_for(asyncio.shield(talk), _deadline(message))
    except TimeoutError:
        if session.abort():
            return await talk
        talk.cancel()
        return Outcome.not_sent("Too many mail servers are slow right now; nothing was sent.", **details)
    except asyncio.CancelledError:
        session.abort()
        raise


def _deadline(message: MimeMessage | None) -> float:
    size = len(message.content) if message is not None else 0
    return min(LONGEST_DEADLINE_S, DEADLINE_S + size / SLOWEST_BYTES_PER_S)
