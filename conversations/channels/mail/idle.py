"""IMAP IDLE (RFC 2177): a connection on which a mail server says that a mailbox has news.

New e-mails are read over another connection, so a notice that is lost loses no e-mail.
"""

from __future__ import annotations

import asyncio
import socket
from asyncio import StreamReader, StreamWriter
from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from itertools import count

from conversations.channels.mail.imap import CONNECT_TIMEOUT_S, MOST_ADDRESSES, MailboxFailed, quoted
from outbound.errors import NotSent
from outbound.guard import Guard
from outbound.silence import end_when_silent
from projects.connections.settings.email import IMAP_PORTS, EmailSettings
from tools.services.messaging.smtp import tls_context

SIGN_IN_SECONDS = 30.0
# Servers end what is silent for half an hour.
IDLE_SECONDS = 29 * 60.0
DONE_SECONDS = 30.0
# A pause after each line, so that a server that sends without end keeps nobody busy.
LINE_SECONDS = 0.05
MOST_LINES = 1_000


class NoIdle(Exception):
    """The server doesn't announce IDLE."""


async def listen(settings: EmailSettings, *, password: str, guard: Guard, on_news: Callable[[], None]) -> None:
    """Call `on_news` once the connection is there, and whenever the server announces e-mails. Ends with an error.

    Raises MailboxFailed, NoIdle, and OSError, EOFError and ValueError for a connection that broke.
    """
    try:
        addresses = await guard.resolve(settings.host, settings.port, ports=IMAP_PORTS)
    except NotSent as error:
        raise MailboxFailed(str(error)) from None
    async with _connected(settings, addresses) as (reader, writer):
        session = _IdleSession(settings, reader, writer)
        async with asyncio.timeout(SIGN_IN_SECONDS):
            await session.open(password)
        # An e-mail may have come before the server was listened to.
        on_news()
        while True:
            await session.idle(on_news)


@asynccontextmanager
async def _connected(
    settings: EmailSettings, addresses: Sequence[str]
) -> AsyncIterator[tuple[StreamReader, StreamWriter]]:
    """A connection to the first address that answers, all of which the guard has checked."""
    sock = await _open_socket(settings, addresses[:MOST_ADDRESSES])
    tls = tls_context() if settings.security == "tls" else None
    try:
        async with asyncio.timeout(SIGN_IN_SECONDS):
            reader, writer = await asyncio.open_connection(
                sock=sock, ssl=tls, server_hostname=settings.host if tls else None
            )
    except BaseException:
        sock.close()
        raise
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


async def _open_socket(settings: EmailSettings, addresses: Sequence[str]) -> socket.socket:
    failure: OSError = TimeoutError()
    for address in addresses:
        sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
        sock.setblocking(False)
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                await asyncio.get_running_loop().sock_connect(sock, (address, settings.port))
        except OSError as error:
            sock.close()
            failure = error
            continue
        except BaseException:
            sock.close()
            raise
        end_when_silent(sock)
        return sock
    raise failure


class _IdleSession:
    """A session that signs in, opens the folder for reading, and idles."""

    def __init__(self, settings: EmailSettings, reader: StreamReader, writer: StreamWriter) -> None:
        self._settings = settings
        self._reader = reader
        self._writer = writer
        self._tags = count(1)

    async def open(self, password: str) -> None:
        """Raises NoIdle, and MailboxFailed for a rejected sign-in or an unknown folder."""
        if not (await self._line()).startswith((b"* OK", b"* PREAUTH")):
            raise MailboxFailed("The mail server takes no connection.")
        if self._settings.security == "starttls":
            await self._ask("STARTTLS", failure="The mail server has no TLS.")
            await self._writer.start_tls(tls_context(), server_hostname=self._settings.host)
        await self._sign_in(password)
        if b"IDLE" not in await self._capabilities():
            raise NoIdle(NoIdle.__doc__)
        await self._ask(f"EXAMINE {quoted(self._settings.folder)}", failure="The mail server has no such folder.")

    async def idle(self, on_news: Callable[[], None]) -> None:
        """Idle once, for as long as servers allow."""
        tag = await self._send("IDLE")
        try:
            async with asyncio.timeout(IDLE_SECONDS):
                while True:
                    line = await self._line()
                    if line.startswith(tag):
                        raise MailboxFailed("The mail server ended IDLE.")
                    if line.startswith(b"* BYE"):
                        raise EOFError
                    if line.upper().endswith((b" EXISTS", b" RECENT")):
                        on_news()
                    await asyncio.sleep(LINE_SECONDS)
        except TimeoutError:
            pass
        async with asyncio.timeout(DONE_SECONDS):
            self._writer.write(b"DONE\r\n")
            await self._answer(tag, failure="The mail server ended IDLE.", on_news=on_news)

    async def _sign_in(self, password: str) -> None:
        user = self._settings.user
        rejected = "The mail server rejects the user name or password."
        if b"AUTH=PLAIN" not in await self._capabilities():
            if not (user.isascii() and password.isascii() and password.isprintable()):
                raise MailboxFailed(rejected, is_refused=True)
            await self._ask(f"LOGIN {quoted(user)} {quoted(password)}", failure=rejected, is_refused=True)
            return
        tag = await self._send("AUTHENTICATE PLAIN")
        if not (line := await self._line()).startswith(b"+"):
            raise MailboxFailed(rejected, is_refused=line.startswith(tag + b" NO"))
        self._writer.write(b64encode(f"\0{user}\0{password}".encode()) + b"\r\n")
        await self._answer(tag, failure=rejected, is_refused=True)

    async def _capabilities(self) -> set[bytes]:
        lines = await self._ask("CAPABILITY", failure="The mail server doesn’t list its capabilities.")
        return {word for line in lines if line.upper().startswith(b"* CAPABILITY") for word in line.upper().split()}

    async def _ask(self, command: str, *, failure: str, is_refused: bool = False) -> list[bytes]:
        return await self._answer(await self._send(command), failure=failure, is_refused=is_refused)

    async def _send(self, command: str) -> bytes:
        tag = f"i{next(self._tags)}"
        self._writer.write(f"{tag} {command}\r\n".encode())
        await self._writer.drain()
        return tag.encode()

    async def _answer(
        self, tag: bytes, *, failure: str, is_refused: bool = False, on_news: Callable[[], None] | None = None
    ) -> list[bytes]:
        """The lines before the end of a command. Raises MailboxFailed unless it ended with OK."""
        lines = list[bytes]()
        while len(lines) < MOST_LINES:
            line = await self._line()
            if line.startswith(tag + b" "):
                if line[len(tag) + 1 :].upper().startswith(b"OK"):
                    return lines
                raise MailboxFailed(failure, is_refused=is_refused and line[len(tag) + 1 :].upper().startswith(b"NO"))
            if on_news is not None and line.upper().endswith(b" EXISTS"):
                on_news()
            lines.append(line)
        raise ValueError("The mail server answers without end.")

    async def _line(self) -> bytes:
        line = await self._reader.readline()
        if not line.endswith(b"\n"):
            raise EOFError
        return line.strip()
