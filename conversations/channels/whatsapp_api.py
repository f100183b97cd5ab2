"""The client of Meta's Graph API for WhatsApp, and the meaning of its answers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from conversations.channels.items import clean_text
from conversations.channels.media import (
    NO_FILE,
    REJECTED,
    STRANGE,
    TOO_LARGE,
    FetchLater,
    NotFetched,
    check_status,
    fetch_file,
)
from conversations.channels.pacing import OF_CHAT
from outbound.errors import NotSent, OutboundError, Unreadable
from outbound.guard import Guard
from outbound.multipart import UploadedFile, encode_form
from outbound.origin import is_same_server
from tools.engine.execution.outcome import Outcome, is_uncertain
from tools.services.messaging.base import LONGEST_EXCERPT, refused_sign_in

DEADLINE_S = 15.0
UPLOAD_DEADLINE_S = 60.0
# Meta's own domains, from which it gives files out.
MEDIA_HOSTS = (".fbsbx.com", ".facebook.com", ".whatsapp.net")
# "The object doesn't exist", as Meta says of a media id that has expired.
NO_OBJECT = 100
LIMITED = frozenset({4, 80007, 130429, 131048, 131056})
LIMITED_CHAT = 131056
REFUSED = frozenset({0, 3, 10, 190})
ADAPTER = "whatsapp"
# The types of files that WhatsApp takes, each with its limit in bytes.
MB = 1024 * 1024
IMAGES: Mapping[str, int] = {"image/jpeg": 5 * MB, "image/png": 5 * MB}
CARRIED: Mapping[str, int] = {**IMAGES, "application/pdf": 100 * MB, "text/plain": 100 * MB}
MEANINGS: Mapping[int, str] = {
    131026: "The customer’s number has no WhatsApp, or can’t get this message.",
    131047: "The customer hasn’t written for 24 hours. Only a template may be sent now.",
    131049: "Meta didn’t deliver the message, to spare the customer too many of them.",
    131050: "The customer has stopped messages of this business.",
    131051: "WhatsApp doesn’t know this type of message.",
    132000: "The template has another number of gaps by now.",
    132001: "The template doesn’t exist in this language.",
    132005: "The template is too long with these values.",
    132007: "Meta refuses the template’s content.",
    132012: "A value doesn’t fit the template.",
    132015: "Meta has paused the template.",
    132016: "Meta has disabled the template.",
    133010: "The number isn’t registered with WhatsApp.",
    470: "The customer hasn’t written for 24 hours. Only a template may be sent now.",
}


@dataclass(frozen=True)
class GraphAnswer:
    """The answer, or the error without one. `status` is 0 if none came."""

    status: int = 0
    document: Mapping[str, Any] = field(default_factory=dict)
    excerpt: str = ""
    failure: OutboundError | None = None
    retry_after_seconds: float | None = None

    @property
    def error(self) -> Mapping[str, Any]:
        found = self.document.get("error")
        return found if isinstance(found, dict) else {}

    @property
    def code(self) -> int | None:
        code = self.error.get("code")
        return code if isinstance(code, int) else None

    @property
    def is_ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def is_refused(self) -> bool:
        return self.status == 401 or (self.status in (400, 403) and self.code in REFUSED)

    @property
    def problem(self) -> str:
        """The reason of a failure, in one sentence; empty after a success."""
        if self.is_ok:
            return ""
        if self.failure is not None:
            return f"WhatsApp couldn't be reached: {self.failure}"[:300]
        if self.is_refused:
            return "Meta rejected the access token. Enter a new one."
        return meaning_of(self.error) if self.error else f"Meta answered with {self.status}."


class GraphApi:
    """The API of one access token."""

    def __init__(self, server: str, *, token: str, guard: Guard) -> None:
        self._server, self._token, self._guard = server, token, guard

    async def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> GraphAnswer:
        """Call the API within 15 seconds. Every foreseen failure is an answer."""
        sent = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        return await self._request(method, path, sent, content_type="application/json", deadline_s=DEADLINE_S)

    async def upload(self, path: str, fields: Mapping[str, str], file: UploadedFile) -> GraphAnswer:
        """Upload a file within a minute. Every foreseen failure is an answer."""
        sent, content_type = encode_form(fields, file)
        return await self._request("POST", path, sent, content_type=content_type, deadline_s=UPLOAD_DEADLINE_S)

    async def fetch(self, media_id: str, *, max_bytes: int) -> bytes:
        """Fetch a file that a customer sent. Raises NotFetched."""
        # It becomes part of an address.
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,200}", media_id):
            raise NotFetched(STRANGE)
        answer = await self.call("GET", media_id)
        _check_media(answer)
        url, size = answer.document.get("url"), answer.document.get("file_size")
        if not isinstance(url, str) or not self._may_read(url):
            raise NotFetched(STRANGE)
        if str(size).isdecimal() and int(str(size)) > max_bytes:
            raise NotFetched(TOO_LARGE)
        credentials = {"Authorization": f"Bearer {self._token}"}
        return await fetch_file(self._guard, url, max_bytes=max_bytes, credentials=credentials)

    def _may_read(self, url: str) -> bool:
        """True if the token may be shown to the server of this address."""
        parts = urlsplit(url)
        is_meta = parts.scheme == "https" and f".{parts.hostname}".endswith(MEDIA_HOSTS)
        return is_meta or is_same_server(url, self._server)

    async def _request(
        self, method: str, path: str, sent: bytes | None, *, content_type: str, deadline_s: float
    ) -> GraphAnswer:
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        if sent is not None:
            headers["Content-Type"] = content_type
        url = f"{self._server}/{path}"
        try:
            response = await self._guard.request(method, url, headers=headers, body=sent, deadline_s=deadline_s)
        except Unreadable as error:
            return GraphAnswer(status=error.status)
        except OutboundError as error:
            return GraphAnswer(failure=error)
        text = response.body.decode("utf-8", "replace").replace("\x00", "")
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            document = {}
        pause = response.headers.get("retry-after", "")
        return GraphAnswer(
            status=response.status,
            document=document if isinstance(document, dict) else {},
            excerpt=text[:LONGEST_EXCERPT],
            retry_after_seconds=float(pause) if pause.isascii() and pause.isdigit() and len(pause) < 6 else None,
        )


def _check_media(answer: GraphAnswer) -> None:
    """Raise NotFetched for an answer that names no file."""
    if answer.is_ok:
        return
    if answer.failure is not None:
        raise FetchLater("WhatsApp couldn’t be reached")
    if answer.code in LIMITED:
        raise FetchLater("Meta is limiting requests")
    if answer.is_refused:
        raise NotFetched(REJECTED)
    if answer.code == NO_OBJECT:
        raise NotFetched(NO_FILE)
    check_status(answer.status)


def read_outcome(answer: GraphAnswer, sent: Mapping[str, Any]) -> Outcome:
    """The outcome of a message, by the table of the ledger: only what certainly wasn't sent may be sent again."""
    details: dict[str, Any] = {"request": {"method": "POST", "body": dict(sent)}, "adapter": ADAPTER}
    if isinstance(answer.failure, NotSent):
        return Outcome.not_sent(answer.problem, **details)
    if answer.failure is not None:
        return Outcome.unknown(f"WhatsApp didn't answer: {answer.failure}", **details)
    details |= {"http_status": answer.status, "excerpt": answer.excerpt}
    if answer.is_ok:
        if not (ref := _message_id(answer)):
            return Outcome.unknown(f"The server answered with {answer.status} and named no message.", **details)
        return Outcome.done("", result={"message_ref": ref}, **details)
    if answer.status == 429 or answer.code in LIMITED:
        pause = answer.retry_after_seconds or 2.0
        result = {OF_CHAT: True} if answer.code == LIMITED_CHAT else {}
        return Outcome.not_sent("Meta is limiting messages.", retry_after_seconds=pause, result=result, **details)
    if answer.is_refused:
        return refused_sign_in(answer.problem, **details)
    if is_uncertain(answer.status):
        sentence = f"Meta answered with {answer.status}; it isn't known whether the message was sent."
        return Outcome.unknown(sentence, **details)
    return Outcome.failed(answer.problem, **details)


def meaning_of(error: Mapping[str, Any]) -> str:
    """The provider's error in plain words."""
    code, data = error.get("code"), error.get("error_data")
    known = MEANINGS.get(code) if isinstance(code, int) else None
    details = clean_text(data.get("details")) if isinstance(data, dict) else ""
    said = details or clean_text(error.get("message")) or clean_text(error.get("title")) or "Meta gave no reason."
    return f"{known or said}{f' (Meta {code})' if isinstance(code, int) else ''}"[:300]


def _message_id(answer: GraphAnswer) -> str:
    found = answer.document.get("messages")
    first = found[0] if isinstance(found, list) and found and isinstance(found[0], dict) else {}
    return str(first.get("id") or "")[:200]
