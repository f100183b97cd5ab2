"""The client of Telegram's Bot API, and the meaning of its answers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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
from conversations.channels.provider import OutgoingFile
from outbound.errors import NotSent, OutboundError, Unreadable
from outbound.guard import Guard
from outbound.multipart import UploadedFile, encode_form
from tools.engine.execution.outcome import Outcome, is_uncertain
from tools.services.messaging.base import LONGEST_EXCERPT, refused_sign_in

DEADLINE_S = 15.0
UPLOAD_DEADLINE_S = 60.0
ADAPTER = "telegram"
FILE_PATH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]{0,299}")
# Shown as pictures. Telegram would turn any other image into something else, so it goes as a document.
PHOTOS = frozenset({"image/jpeg", "image/png"})
# A picture that is too long or too wide for one. It wasn't sent.
NO_PHOTO = ("photo_invalid_dimensions", "image_process_failed")

# The meaning of Telegram's descriptions, by a part of them in lower case.
MEANINGS: Mapping[str, str] = {
    "bot was blocked by the user": "The customer has blocked the bot.",
    "user is deactivated": "The customer’s Telegram account was deleted.",
    "chat not found": "Telegram doesn’t know this chat. The customer has to write to the bot first.",
    "bot can't initiate conversation": "A bot can’t write first. The customer has to write to it.",
    "bot was kicked": "The bot was removed from the chat.",
    "message is too long": "The message is longer than Telegram allows.",
}


@dataclass(frozen=True)
class BotAnswer:
    """Telegram's answer, or the error without one. `status` is 0 if none came."""

    status: int = 0
    result: Any = None
    description: str = ""
    retry_after_seconds: float | None = None
    excerpt: str = ""
    failure: OutboundError | None = None

    @property
    def is_ok(self) -> bool:
        return 200 <= self.status < 300 and self.failure is None

    @property
    def is_refused(self) -> bool:
        """True if Telegram doesn't know the token. An unknown one is answered with 404."""
        return self.status == 401 or (self.status == 404 and self.description.lower() in ("", "not found"))

    @property
    def problem(self) -> str:
        """The reason of a failure, in one sentence; empty after a success."""
        if self.is_ok:
            return ""
        if self.failure is not None:
            return f"Telegram couldn't be reached: {self.failure}"[:300]
        if self.is_refused:
            return "Telegram rejected the bot's token. Enter it again."
        return f"Telegram answered with {self.status}: {self.description}"[:300]


class BotApi:
    """The methods of one bot. The token is part of the address, which therefore appears nowhere."""

    def __init__(self, server: str, *, token: str, guard: Guard) -> None:
        self._server, self._token, self._guard = server, token, guard

    async def call(self, method: str, body: Mapping[str, Any]) -> BotAnswer:
        """Call a method within 15 seconds. Every foreseen failure is an answer."""
        sent = json.dumps(body, ensure_ascii=False).encode()
        return await self._post(method, sent, content_type="application/json", deadline_s=DEADLINE_S)

    async def upload(self, method: str, fields: Mapping[str, str], file: UploadedFile) -> BotAnswer:
        """Call a method with a file, within a minute. Every foreseen failure is an answer."""
        sent, content_type = encode_form(fields, file)
        return await self._post(method, sent, content_type=content_type, deadline_s=UPLOAD_DEADLINE_S)

    async def fetch(self, file_id: str, *, max_bytes: int) -> bytes:
        """Fetch a file that somebody sent to the bot. Raises NotFetched."""
        answer = await self.call("getFile", {"file_id": file_id})
        _check_file(answer)
        found = answer.result if isinstance(answer.result, dict) else {}
        path, size = found.get("file_path"), found.get("file_size")
        # It becomes part of an address that holds the token.
        if not isinstance(path, str) or not FILE_PATH.fullmatch(path) or ".." in path:
            raise NotFetched(STRANGE)
        if isinstance(size, int) and size > max_bytes:
            raise NotFetched(TOO_LARGE)
        return await fetch_file(self._guard, f"{self._server}/file/bot{self._token}/{path}", max_bytes=max_bytes)

    async def _post(self, method: str, sent: bytes, *, content_type: str, deadline_s: float) -> BotAnswer:
        url = f"{self._server}/bot{self._token}/{method}"
        headers = {"Content-Type": content_type, "Accept": "application/json"}
        try:
            response = await self._guard.request("POST", url, headers=headers, body=sent, deadline_s=deadline_s)
        except Unreadable as error:
            return BotAnswer(status=error.status, description=str(error))
        except OutboundError as error:
            return BotAnswer(failure=error)
        return _read(response.status, response.body, self._token)


async def send_file(api: BotApi, file: OutgoingFile, *, to: str) -> Outcome:
    """Send a file as a picture, or as a document if it is none or Telegram takes it for none."""
    fields = {"chat_id": to}
    method = "sendPhoto" if file.content_type in PHOTOS else "sendDocument"
    answer = await _upload(api, method, fields, file)
    if method == "sendPhoto" and answer.status == 400 and answer.description.lower().endswith(NO_PHOTO):
        method = "sendDocument"
        answer = await _upload(api, method, fields, file)
    return read_outcome(answer, {**fields, "file": file.name}, method=method)


async def _upload(api: BotApi, method: str, fields: Mapping[str, str], file: OutgoingFile) -> BotAnswer:
    field = "photo" if method == "sendPhoto" else "document"
    return await api.upload(method, fields, UploadedFile(field, file.name, file.content_type, file.content))


def _check_file(answer: BotAnswer) -> None:
    """Raise NotFetched for an answer that names no file."""
    if answer.is_ok:
        return
    if answer.failure is not None:
        raise FetchLater("Telegram couldn’t be reached")
    if "too big" in answer.description.lower():
        raise NotFetched(TOO_LARGE)
    if answer.is_refused:
        raise NotFetched(REJECTED)
    if answer.status == 400:
        raise NotFetched(NO_FILE)
    check_status(answer.status)


def read_outcome(answer: BotAnswer, sent: Mapping[str, Any], *, method: str = "sendMessage") -> Outcome:
    """The outcome of a message, by the table of the ledger: only what certainly wasn't sent may be sent again."""
    request = {"method": method, "body": dict(sent)}
    details: dict[str, Any] = {"request": request, "adapter": ADAPTER}
    if isinstance(answer.failure, NotSent):
        return Outcome.not_sent(answer.problem, **details)
    if answer.failure is not None:
        return Outcome.unknown(f"Telegram didn't answer: {answer.failure}", **details)
    details |= {"http_status": answer.status, "excerpt": answer.excerpt}
    if answer.is_ok:
        return _sent(answer, details)
    if answer.status == 429:
        return Outcome.not_sent(
            "Telegram is limiting requests (429).", retry_after_seconds=answer.retry_after_seconds or 1.0, **details
        )
    if answer.is_refused:
        return refused_sign_in(answer.problem, **details)
    if is_uncertain(answer.status):
        sentence = f"Telegram answered with {answer.status}; it isn't known whether the message was sent."
        return Outcome.unknown(sentence, **details)
    return Outcome.failed(_meaning(answer), **details)


def _sent(answer: BotAnswer, details: dict[str, Any]) -> Outcome:
    if answer.result is None:
        return Outcome.unknown(f"The server answered with {answer.status}, and not as Telegram does.", **details)
    message = answer.result if isinstance(answer.result, dict) else {}
    ref = message.get("message_id")
    return Outcome.done("", result={"message_ref": str(ref) if isinstance(ref, int | str) else ""}, **details)


def _meaning(answer: BotAnswer) -> str:
    said = answer.description.lower()
    known = next((meaning for part, meaning in MEANINGS.items() if part in said), None)
    return known or f"Telegram refused the message: {answer.description or answer.status}"[:300]


def _read(status: int, body: bytes, token: str) -> BotAnswer:
    text = body.decode("utf-8", "replace").replace("\x00", "").replace(token, "…")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        return BotAnswer(status=status, excerpt=text[:LONGEST_EXCERPT])
    is_ok = document.get("ok") is not False
    parameters = document.get("parameters")
    pause = parameters.get("retry_after") if isinstance(parameters, dict) else None
    code = document.get("error_code")
    return BotAnswer(
        status=status if is_ok or status >= 300 or not isinstance(code, int) else code,
        result=document.get("result", True if document.get("ok") is True else None),
        description=str(document.get("description") or "")[:300],
        retry_after_seconds=float(pause) if isinstance(pause, int | float) and 0 <= pause < 86_400 else None,
        excerpt=text[:LONGEST_EXCERPT],
    )
