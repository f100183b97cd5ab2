"""A mailbox read by IMAP (RFC 3501): the e-mails that nobody has read, above the last one that was seen here."""

from __future__ import annotations

import asyncio
import imaplib
import logging
import re
import socket
import ssl
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Any, TypeVar

from conversations.channels.mail.message import InboundMail
from conversations.channels.mail.mime import read_mime
from outbound.errors import NotSent
from outbound.guard import Guard
from outbound.silence import end_when_silent
from projects.connections.settings.email import IMAP_PORTS, EmailSettings
from tools.services.messaging.smtp import tls_context

DEADLINE_S = 60.0
CONNECT_TIMEOUT_S = 5.0
SILENCE_TIMEOUT_S = 15.0
MOST_ADDRESSES = 4
MOST_MAILS = 20
# Holds files of 20 MB. Of a longer e-mail, the beginning is read, which has its text.
LONGEST_MAIL = 33_554_432
LONGEST_BEGINNING = 1_000_000
# After so many bytes, the next look reads on.
ENOUGH_BYTES = 16_777_216
MOST_BYTES = ENOUGH_BYTES + LONGEST_MAIL + LONGEST_BEGINNING
log = logging.getLogger(__name__)
T = TypeVar("T")
_threads = ThreadPoolExecutor(max_workers=8, thread_name_prefix="imap")


class MailboxFailed(Exception):
    """The mailbox couldn't be read, for the given reason. `is_refused`: the server rejects the sign-in."""

    def __init__(self, reason: str, *, is_refused: bool = False) -> None:
        super().__init__(reason)
        self.is_refused = is_refused


@dataclass(frozen=True)
class Cursor:
    """The last e-mail of a mailbox that was seen. Numbers count within one `validity`; 0 before the first look."""

    validity: int = 0
    uid: int = 0


@dataclass(frozen=True)
class NewMails:
    """New e-mails, oldest first, and where to go on. `has_more` if they were too many for one look."""

    cursor: Cursor
    mails: Sequence[InboundMail] = ()
    has_more: bool = False


class Mailbox:
    """A mailbox on an IMAP server."""

    def __init__(self, settings: EmailSettings, *, password: str, guard: Guard) -> None:
        self._settings = settings
        self._password = password
        self._guard = guard

    async def look(self, cursor: Cursor) -> NewMails:
        """The new e-mails. At the first look there are none: what was in the mailbox before isn't answered. Raises
        MailboxFailed.
        """
        return await self._run(lambda session: session.look(cursor))

    async def check(self) -> None:
        """Sign in and open the folder. Raises MailboxFailed."""
        await self._run(lambda session: session.look(Cursor()))

    async def _run(self, act: Callable[[_Session], T]) -> T:
        try:
            addresses = await self._guard.resolve(self._settings.host, self._settings.port, ports=IMAP_PORTS)
        except NotSent as error:
            raise MailboxFailed(f"The mail server couldn't be reached: {error}") from None
        session = _Session(self._settings, addresses=addresses, password=self._password)
        running = asyncio.get_running_loop().run_in_executor(_threads, session.run, act)
        try:
            return await asyncio.wait_for(asyncio.shield(running), DEADLINE_S)
        except TimeoutError:
            session.abort()
            raise MailboxFailed("The mail server didn't answer in time.") from None
        except asyncio.CancelledError:
            session.abort()
            raise


class _Connection(imaplib.IMAP4):
    """imaplib over an already connected socket, to an address that the guard has checked. It reads no endless e-mail."""

    def __init__(self, sock: socket.socket, *, host: str) -> None:
        self._connected = sock
        self._left = MOST_BYTES
        self.bytes_read = 0
        super().__init__(host)

    def _create_socket(self, timeout: float | None) -> socket.socket:
        return self._connected

    def read(self, size: int) -> bytes:
        self._left -= size
        if self._left < 0:
            raise self.abort("The server sends more than was asked for.")
        self.bytes_read += size
        return super().read(size)


class _Session:
    """A single-use session in a thread."""

    def __init__(self, settings: EmailSettings, *, addresses: Sequence[str], password: str) -> None:
        self._settings = settings
        self._addresses = addresses[:MOST_ADDRESSES]
        self._password = password
        self._socket: socket.socket | None = None
        self._is_aborted = False
        self._lock = Lock()

    def abort(self) -> None:
        """End the session from another thread; pending reads return at once."""
        with self._lock:
            self._is_aborted = True
            if self._socket is not None:
                with suppress(OSError):
                    self._socket.shutdown(socket.SHUT_RDWR)

    def run(self, act: Callable[[_Session], T]) -> T:
        """Raises MailboxFailed."""
        try:
            self._connection = self._connect()
            self._sign_in()
            return act(self)
        except ssl.SSLCertVerificationError as error:
            raise MailboxFailed(f"The mail server's certificate can't be trusted: {error.verify_message}.") from None
        except (imaplib.IMAP4.error, OSError, ValueError) as error:
            why = "didn't answer in time" if isinstance(error, TimeoutError) else "couldn't be reached, or disconnected"
            raise MailboxFailed(f"The mail server {why}.") from None
        finally:
            self._close()

    def look(self, cursor: Cursor) -> NewMails:
        validity, next_uid = self._open_folder()
        if not cursor.validity:
            return NewMails(Cursor(validity, max(0, next_uid - 1)))
        if validity == cursor.validity:
            criteria = f"UID {cursor.uid + 1}:* UNSEEN"
        else:
            # The server numbered the e-mails anew. Those that were stored before are known by their Message-IDs.
            cursor = Cursor(validity, 0)
            since = datetime.now(UTC) - timedelta(days=1)
            criteria = f"SINCE {since:%d-%b-%Y} UNSEEN"
        found = sorted(uid for uid in self._search(criteria) if uid > cursor.uid)
        last, mails = max(cursor.uid, next_uid - 1) if not found else cursor.uid, list[InboundMail]()
        for uid in found[:MOST_MAILS]:
            if (mail := self._fetch(uid)) is not None:
                mails.append(mail)
            last = uid
            if self._connection.bytes_read >= ENOUGH_BYTES:
                break
        return NewMails(replace(cursor, uid=last), mails, has_more=bool(found) and last < found[-1])

    def _connect(self) -> _Connection:
        sock = self._open_socket()
        if self._settings.security == "tls":
            sock = tls_context().wrap_socket(sock, server_hostname=self._settings.host)
        connection = _Connection(sock, host=self._settings.host)
        if self._settings.security == "starttls":
            connection.starttls(ssl_context=tls_context())
        return connection

    def _open_socket(self) -> socket.socket:
        failure: OSError = TimeoutError()
        for address in self._addresses:
            try:
                sock = socket.create_connection((address, self._settings.port), CONNECT_TIMEOUT_S)
            except OSError as error:
                failure = error
                continue
            sock.settimeout(SILENCE_TIMEOUT_S)
            end_when_silent(sock)
            with self._lock:
                if self._is_aborted:
                    sock.close()
                    raise TimeoutError
                self._socket = sock.dup()
            return sock
        raise failure

    def _sign_in(self) -> None:
        connection, user = self._connection, self._settings.user
        try:
            if "AUTH=PLAIN" in connection.capabilities:
                credentials = f"\0{user}\0{self._password}".encode()
                connection.authenticate("PLAIN", lambda _: credentials)
            else:
                connection.login(quoted(user), self._password)
        except imaplib.IMAP4.abort:
            raise
        except (imaplib.IMAP4.error, UnicodeError):
            # Raised outside of the handler, because its context holds the password.
            pass
        else:
            return
        raise MailboxFailed("The mail server rejects the user name or password.", is_refused=True)

    def _open_folder(self) -> tuple[int, int]:
        """The folder's validity and the number of its next e-mail. Nothing in it is changed."""
        status, _ = self._connection.select(quoted(self._settings.folder), readonly=True)
        if status != "OK":
            raise MailboxFailed(f"The mail server has no folder {self._settings.folder}.")
        return self._number("UIDVALIDITY"), self._number("UIDNEXT")

    def _number(self, name: str) -> int:
        _, found = self._connection.response(name)
        value = found[-1] if found else None
        return int(value) if isinstance(value, bytes) and value.isdigit() else 1

    def _search(self, criteria: str) -> list[int]:
        status, found = self._connection.uid("SEARCH", criteria)
        if status != "OK":
            raise MailboxFailed("The mail server refuses to search the folder.")
        return [int(uid) for uid in (found[0] or b"").split() if uid.isdigit()]

    def _fetch(self, uid: int) -> InboundMail | None:
        """An e-mail; None if it was deleted meanwhile."""
        _, about = self._connection.uid("FETCH", str(uid), "(RFC822.SIZE INTERNALDATE)")
        line = next((one for one in about if isinstance(one, bytes)), b"")
        size = re.search(rb"RFC822\.SIZE (\d+)", line)
        if size is None:
            return None
        is_cut = int(size[1]) > LONGEST_MAIL
        partial = f"<0.{LONGEST_BEGINNING}>" if is_cut else ""
        _, found = self._connection.uid("FETCH", str(uid), f"(BODY.PEEK[]{partial})")
        raw: Any = next((one[1] for one in found if isinstance(one, tuple)), None)
        if not raw:
            return None
        try:
            return read_mime(raw, at=_moment(line), trusted=self._settings.trusted_server, is_cut=is_cut)
        except Exception:  # the boundary to a stranger's bytes: one e-mail must not end the reading of all
            log.exception("E-mail %d of a mailbox could not be read.", uid)
            return None

    def _close(self) -> None:
        connection = getattr(self, "_connection", None)
        if connection is not None:
            with suppress(imaplib.IMAP4.error, OSError, ValueError):
                connection.logout()
            # The library doesn't close a broken connection.
            with suppress(OSError):
                connection.shutdown()
        with self._lock:
            if self._socket is not None:
                self._socket.close()
                self._socket = None


def quoted(text: str) -> str:
    """A text as an IMAP string."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _moment(line: bytes) -> datetime | None:
    """The time at which the server took the e-mail."""
    parsed = imaplib.Internaldate2tuple(line)
    return datetime(*parsed[:6]).astimezone(UTC) if parsed else None
