"""A server that responds as Twilio's Messages API documents, and validates requests as strictly."""

from __future__ import annotations

import json
import re
import socket
import struct
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from tests.local_server import LocalServer, RawHandler

SID = "AC" + "0123456789abcdef" * 2
TOKEN = "canary-of-the-twilio-account"
FROM = "+14155550100"
CONTENT = ("ContentSid", "ContentVariables")
MESSAGE_SID = "SM" + "fedcba9876543210" * 2


@dataclass
class Call:
    """A request as received."""

    method: str
    path: str
    headers: dict[str, str]
    form: dict[str, str]


@dataclass
class Script:
    """The next response: as documented, a given one, a disconnect after the request, or none at all.

    `sid` is the id of the next message, and `before_answer` is called with a request before it is answered.

    `media` are the files of messages, by their path. The server at `store` gives them out, to which Twilio redirects;
    one without a `store` is that server. `contents` are the account's templates, at `content_lists`.
    """

    contents: list[dict[str, Any]] = field(default_factory=list)
    content_lists: tuple[str, ...] = ("/v1/ContentAndApprovals", "/v1/Content")

    store: str = ""
    media: dict[str, bytes] = field(default_factory=dict)
    answer: tuple[int, Any, Mapping[str, str]] | None = None
    sid: str = MESSAGE_SID
    before_answer: Callable[[Call], None] | None = None
    cuts: bool = False
    calls: list[Call] = field(default_factory=list)


class _Visit(RawHandler):
    def handle(self) -> None:
        script: Script = self.server.script  # type: ignore[attr-defined]
        call = self._read()
        script.calls.append(call)
        if script.before_answer is not None:
            script.before_answer(call)
        if script.cuts:
            # Closed with a reset, as a broken middlebox does.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            return
        if call.method == "GET" and call.path.startswith("/v1/"):
            self._list_contents(script, call)
            return
        if call.method == "GET" and "/Media/" in call.path:
            self._give_out(script, call)
            return
        status, document, headers = script.answer or documented(call, sid=script.sid)
        self._write(status, document, headers)

    def _list_contents(self, script: Script, call: Call) -> None:
        """The Content API, which lives at another address of Twilio's: two contents on a page."""
        path, _, query = call.path.partition("?")
        if path not in script.content_lists:
            self._write(*refusal(404, 20404, f"The requested resource {path} was not found"))
            return
        start = int(dict(parse_qsl(query)).get("PageToken", "0"))
        more = (
            f"http://{call.headers['host']}{path}?PageToken={start + 2}" if start + 2 < len(script.contents) else None
        )
        rows = script.contents[start : start + 2]
        if path == "/v1/Content":
            rows = [{name: value for name, value in row.items() if name != "approval_requests"} for row in rows]
        meta = {"page_size": 2, "key": "contents", "next_page_url": more}
        self._write(200, {"meta": meta, "contents": rows}, {})

    def _give_out(self, script: Script, call: Call) -> None:
        if (content := script.media.get(call.path)) is None:
            self._write(*refusal(404, 20404, "The requested resource was not found"))
        elif not script.store:
            self.respond(200, content, {})
        elif call.headers.get("authorization") != f"Basic {_basic()}":
            self._write(*refusal(401, 20003, "Authenticate"))
        else:
            self._write(307, "", {"Location": f"{script.store}{call.path}"})

    def _read(self) -> Call:
        request = self.read_request()
        body = request.body.decode("ascii")
        form = dict(parse_qsl(body, keep_blank_values=True, strict_parsing=bool(body)))
        return Call(request.method, request.target, request.headers, form)

    def _write(self, status: int, document: Any, headers: Mapping[str, str]) -> None:
        body = document.encode() if isinstance(document, str) else json.dumps(document).encode()
        self.respond(status, body, {"Content-Type": "application/json", **headers})


class TwilioServer(LocalServer):
    def __init__(self) -> None:
        super().__init__(_Visit)
        self.script = Script()
        self.url = self.origin


def refusal(status: int, code: int, message: str) -> tuple[int, dict[str, Any], dict[str, str]]:
    """Return an error in Twilio's format."""
    more = f"https://www.twilio.com/docs/errors/{code}"
    return status, {"code": code, "message": message, "more_info": more, "status": status}, {}


def documented(call: Call, *, sid: str = MESSAGE_SID) -> tuple[int, Any, Mapping[str, str]]:
    """Return Twilio's documented response."""
    if call.path != f"/2010-04-01/Accounts/{SID}/Messages.json":
        return refusal(404, 20404, f"The requested resource {call.path} was not found")
    if call.method != "POST":
        return refusal(405, 20004, "Method not allowed")
    if call.headers.get("authorization") != f"Basic {_basic()}":
        return refusal(401, 20003, "Authenticate")
    if call.headers.get("content-type") != "application/x-www-form-urlencoded":
        return refusal(415, 20415, "Unsupported media type")
    return _created(call.form, sid=sid)


def _basic() -> str:
    return b64encode(f"{SID}:{TOKEN}".encode()).decode()


def signed_in_as(call: Call) -> tuple[str, str]:
    """Return the user and password of a request's basic authentication."""
    user, _, password = b64decode(call.headers["authorization"].removeprefix("Basic ")).decode().partition(":")
    return user, password


def _created(form: Mapping[str, str], *, sid: str) -> tuple[int, Any, Mapping[str, str]]:
    if unknown := form.keys() - {"To", "From", "MessagingServiceSid", "Body", "MediaUrl", "StatusCallback", *CONTENT}:
        return refusal(400, 20001, f"Unknown parameters: {sorted(unknown)}")
    if "To" not in form:
        return refusal(400, 21604, "A 'To' phone number is required.")
    if not re.fullmatch(r"(whatsapp:)?\+[1-9]\d{6,14}", form["To"]):
        return refusal(400, 21211, f"Invalid 'To' Phone Number: {form['To']}")
    if "From" not in form and "MessagingServiceSid" not in form:
        return refusal(400, 21603, "A 'From' phone number is required.")
    if not form.get("Body") and not form.get("MediaUrl") and not form.get("ContentSid"):
        return refusal(400, 21602, "Message body is required.")
    if len(form.get("Body", "")) > 1600:
        return refusal(400, 21617, "The concatenated message body exceeds the 1600 character limit.")
    return 201, _message(form, sid=sid), {}


def _message(form: Mapping[str, str], *, sid: str) -> dict[str, Any]:
    path = f"/2010-04-01/Accounts/{SID}/Messages/{sid}"
    has_service = "MessagingServiceSid" in form
    return {
        "account_sid": SID,
        "api_version": "2010-04-01",
        "body": form.get("Body", ""),
        "date_created": "Sat, 21 Nov 2026 10:00:00 +0000",
        "date_sent": None,
        "date_updated": "Sat, 21 Nov 2026 10:00:00 +0000",
        "direction": "outbound-api",
        "error_code": None,
        "error_message": None,
        "from": form.get("From"),
        "messaging_service_sid": form.get("MessagingServiceSid"),
        "num_media": "1" if "MediaUrl" in form else "0",
        "num_segments": "0" if has_service else "1",
        "price": None,
        "price_unit": "USD",
        "sid": sid,
        "status": "accepted" if has_service else "queued",
        "subresource_uris": {"media": f"{path}/Media.json"},
        "to": form["To"],
        "uri": f"{path}.json",
    }
