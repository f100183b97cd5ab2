"""SMTP: e-mails by the project's own mail server."""

from __future__ import annotations

import asyncio
import ssl
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

from outbound.errors import NotSent
from outbound.guard import Guard
from projects.connections.integration_settings import MAIL_PORTS, SmtpSettings
from tools.engine.execution.outcome import Outcome
from tools.services.messaging.base import Email
from tools.services.messaging.email_message import MessageRefused, MimeMessage, build_message
from tools.services.messaging.smtp_dialogue import Dialogue

DEADLINE_S = 30.0
_threads = ThreadPoolExecutor(max_workers=16, thread_name_prefix="smtp")


@cache
def tls_context() -> ssl.SSLContext:
    """The system's trust store; read once."""
    return ssl.create_default_context()


class Smtp:
    """A channel for e-mails. The Message-ID is made of the effect's key, so that a copy is known as one."""

    name = "smtp"

    def __init__(self, settings: SmtpSettings, *, password: str, guard: Guard) -> None:
        self._settings = settings
        self._password = password
        self._guard = guard

    async def send(self, message: Email, *, key: str) -> Outcome:
        """Hand one letter to the server, within 30 seconds. Once it may have left, a break is unknown."""
        kept: dict[str, Any] = {"adapter": self.name}
        try:
            letter = build_message(message, self._settings, key=key)
            kept["request"] = {**letter.shown, "server": self._settings.server}
            addresses = await self._guard.resolve(self._settings.host, self._settings.port, ports=MAIL_PORTS)
        except MessageRefused as refusal:
            return Outcome.failed(str(refusal), **kept)
        except NotSent as error:
            return Outcome.not_sent(f"The mail server couldn't be reached: {error}", **kept)
        dialogue = Dialogue(self._settings, addresses=addresses, password=self._password, tls=tls_context())
        return await _within_deadline(dialogue, letter, kept)


async def _within_deadline(dialogue: Dialogue, letter: MimeMessage, kept: dict[str, Any]) -> Outcome:
    """Talk in a thread, which the deadline wakes by shutting its socket down: it ends at once, and says how far it came."""
    talk = asyncio.get_running_loop().run_in_executor(_threads, dialogue.run, letter, kept)
    try:
        return await asyncio.wait_for(asyncio.shield(talk), DEADLINE_S)
    except TimeoutError:
        if dialogue.abort():
            return await talk
        talk.cancel()
        return Outcome.not_sent("Too many mail servers are slow at once; this one's turn didn't come.", **kept)
    except asyncio.CancelledError:
        dialogue.abort()
        raise
