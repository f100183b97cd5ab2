"""An IMAP server over TLS that answers as RFC 3501 says, and can refuse, cut off and lie."""

from __future__ import annotations

import re
import socketserver
import ssl
import threading
from base64 import b64decode
from contextlib import suppress
from dataclasses import dataclass, field

USER, PASSWORD = "hello", "canary-of-the-mailbox"


@dataclass
class Folder:
    """A folder's e-mails by their numbers, and what was asked for. `faults` are commands that cut the connection."""

    validity: int = 7
    mails: dict[int, bytes] = field(default_factory=dict)
    read: set[int] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)
    has_plain: bool = True
    has_idle: bool = True
    size: int | None = None
    cuts: str = ""

    def deliver(self, raw: bytes) -> int:
        uid = max(self.mails, default=0) + 1
        self.mails[uid] = raw
        return uid


class ImapServer:
    def __init__(self, tls: ssl.SSLContext) -> None:
        self.folder = folder = Folder()

        class Handler(socketserver.StreamRequestHandler):
            def setup(self) -> None:
                self.request = tls.wrap_socket(self.request, server_side=True)
                super().setup()

            def finish(self) -> None:
                with suppress(OSError):
                    super().finish()
                self.request.close()

            def handle(self) -> None:
                with suppress(OSError):
                    _Dialogue(self, folder).run()

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True

            def handle_error(self, request: object, client_address: object) -> None:
                """A client that ends TLS early is no error of the test."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self.port: int = self._server.server_address[1]

    def __enter__(self) -> ImapServer:
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Dialogue:
    def __init__(self, connection: socketserver.StreamRequestHandler, folder: Folder) -> None:
        self.connection = connection
        self.folder = folder
        # The e-mails that the client was told of.
        self.known = 0

    def say(self, line: str) -> None:
        self.connection.wfile.write(f"{line}\r\n".encode())

    def run(self) -> None:
        self.say("* OK ready")
        while line := self.connection.rfile.readline().decode().strip():
            tag, _, command = line.partition(" ")
            self.folder.asked.append(command)
            if self.folder.cuts and command.startswith(self.folder.cuts):
                return
            if not self.answer(tag, command):
                return

    def answer(self, tag: str, command: str) -> bool:
        name = command.upper()
        if name == "CAPABILITY":
            more = (" AUTH=PLAIN" if self.folder.has_plain else "") + (" IDLE" if self.folder.has_idle else "")
            self.say(f"* CAPABILITY IMAP4rev1{more}")
        elif name == "AUTHENTICATE PLAIN":
            self.say("+ ")
            _, user, password = b64decode(self.connection.rfile.readline()).decode().split("\0")
            return self.sign_in(tag, user, password)
        elif found := re.fullmatch(r'LOGIN "(.*)" "(.*)"', command):
            return self.sign_in(tag, found[1], found[2])
        elif name.startswith("EXAMINE"):
            if command != 'EXAMINE "INBOX"':
                self.say(f"{tag} NO no such folder")
                return True
            self.known = len(self.folder.mails)
            self.say(f"* {self.known} EXISTS")
            self.say(f"* OK [UIDVALIDITY {self.folder.validity}] ok")
            self.say(f"* OK [UIDNEXT {max(self.folder.mails, default=0) + 1}] ok")
        elif name.startswith("UID SEARCH"):
            first = re.search(r"UID SEARCH UID (\d+):\*", command)
            least = min(int(first[1]), max(self.folder.mails, default=0)) if first else 0
            found_uids = [uid for uid in self.folder.mails if uid >= least and uid not in self.folder.read]
            self.say(f"* SEARCH {' '.join(map(str, found_uids))}".strip())
        elif name.startswith("UID FETCH"):
            self.fetch(command)
        elif name == "IDLE":
            return self.idle(tag)
        elif name == "LOGOUT":
            self.say("* BYE bye")
            self.say(f"{tag} OK done")
            return False
        self.say(f"{tag} OK done")
        return True

    def idle(self, tag: str) -> bool:
        """Announce what is delivered, until the client is done."""
        self.say("+ idling")
        sock = self.connection.request
        sock.settimeout(0.02)
        while True:
            with suppress(TimeoutError):
                said = sock.recv(100)
                sock.settimeout(None)
                self.folder.asked.append(said.decode().strip())
                self.say(f"{tag} OK done")
                return bool(said)
            if len(self.folder.mails) != self.known:
                self.known = len(self.folder.mails)
                self.say(f"* {self.known} EXISTS")

    def sign_in(self, tag: str, user: str, password: str) -> bool:
        is_right = (user, password) == (USER, PASSWORD)
        self.say(f"{tag} OK done" if is_right else f"{tag} NO [AUTHENTICATIONFAILED] wrong")
        return True

    def fetch(self, command: str) -> None:
        uid = int(command.split()[2])
        raw = self.folder.mails[uid]
        size = len(raw) if self.folder.size is None else self.folder.size
        if "RFC822.SIZE" in command:
            moment = '"17-Jul-2036 02:44:25 +0000"'
            self.say(f"* 1 FETCH (UID {uid} RFC822.SIZE {size} INTERNALDATE {moment})")
            return
        if part := re.search(r"<0\.(\d+)>", command):
            raw = raw[: int(part[1])]
            size = len(raw)
        self.connection.wfile.write(f"* 1 FETCH (UID {uid} BODY[] {{{size}}}\r\n".encode() + raw + b")\r\n")
