"""The provider's HTTP side: the verbs of calls, the control connection, and the doors for tests and demos."""

from __future__ import annotations

import json
import secrets
from typing import Any

from aiohttp import ClientSession, ClientTimeout, web

from offline_model.realtime.media import NoMedia
from offline_model.realtime.session import Session
from offline_model.realtime.webhook import incoming_call, signed_headers

Json = dict[str, Any]
# The limit of a request, because messengers carry files.
MOST_BYTES = 32 * 1024 * 1024
# A call with such an id has no telephone: it is accepted unannounced, and its caller types.
TYPED = "typed_"
NUMBERS = ("tel:", "sip:", "sips:")


class OfflineCalls:
    """All calls of the provider."""

    def __init__(self) -> None:
        self._calls: dict[str, Session] = {}
        self._faults: dict[str, int] = {}

    def app(self) -> web.Application:
        """The application. `/doors/…` is for tests and demos, everything else is the provider's own API."""
        app = web.Application(client_max_size=MOST_BYTES)
        app.add_routes(
            [
                web.get("/v1/realtime", self._control),
                web.post("/v1/realtime/calls", self._create),
                web.post("/v1/realtime/calls/{call_id}/{verb}", self._verb),
                web.get("/doors/health", self._health),
                web.post("/doors/ring", self._ring),
                web.post("/doors/faults", self._set_faults),
                web.get("/doors/calls/{call_id}", self._read),
                web.post("/doors/calls/{call_id}/{door}", self._door),
            ]
        )
        return app

    async def _control(self, request: web.Request) -> web.StreamResponse:
        session = self._calls.get(request.query.get("call_id", ""))
        if session is None or session.state != "live":
            return _error(404, "No live call with this id.")
        if not request.headers.get("Authorization", "").startswith("Bearer sk-"):
            return _error(401, "Incorrect API key provided.")
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await session.serve(socket)
        return socket

    async def _create(self, request: web.Request) -> web.StreamResponse:
        """Begin a call with a browser's offer."""
        form = await request.post()
        if status := self._faults.pop("create", 0):
            return _error(status, "The provider failed.")
        if not request.headers.get("Authorization", "").startswith("Bearer sk-"):
            return _error(401, "Incorrect API key provided.")
        session = Session(f"rtc_web_{secrets.token_hex(8)}", state="live", config=json.loads(_text(form["session"])))
        session.verbs.append({"verb": "create"})
        try:
            answer = await session.connect(_text(form["sdp"]))
        except NoMedia as error:
            return _error(501, str(error))
        except ValueError as error:
            return _error(400, f"Invalid 'sdp': {error}")
        self._calls[session.call_id] = session
        location = {"Location": f"/v1/realtime/calls/{session.call_id}"}
        return web.Response(status=201, text=answer, content_type="application/sdp", headers=location)

    async def _verb(self, request: web.Request) -> web.StreamResponse:
        verb, session = request.match_info["verb"], self._calls.get(request.match_info["call_id"])
        body: Json = await request.json() if request.can_read_body else {}
        if status := self._faults.pop(verb, 0):
            return _error(status, "The provider failed.")
        if not request.headers.get("Authorization", "").startswith("Bearer sk-"):
            return _error(401, "Incorrect API key provided.")
        if session is None and verb == "accept" and request.match_info["call_id"].startswith(TYPED):
            session = self._calls[request.match_info["call_id"]] = Session(request.match_info["call_id"], is_typed=True)
        if session is None or session.state in ("ended", "rejected", "referred"):
            return _error(404, "No call with this id.")
        session.verbs.append({"verb": verb, **body})
        return await self._obey(session, verb, body)

    async def _obey(self, session: Session, verb: str, body: Json) -> web.StreamResponse:
        if verb in ("accept", "reject") and session.state != "pending":
            return _error(400, "The call was answered already.")
        if verb == "accept":
            if body.get("type") != "realtime":
                return _error(400, "Missing required parameter: 'type'.")
            session.state, session.config = "live", body
        elif verb == "reject":
            await session.end("rejected")
        elif verb == "hangup":
            await session.end("ended")
        elif verb == "refer":
            if session.state != "live" or not str(body.get("target_uri", "")).startswith(NUMBERS):
                return _error(400, "Invalid 'target_uri'.")
            await session.end("referred")
        else:
            return _error(404, "Unknown verb.")
        return web.Response(status=200)

    async def _health(self, request: web.Request) -> web.Response:
        return web.json_response({"status": "ok"})

    async def _ring(self, request: web.Request) -> web.Response:
        """Start a call, and send its webhook: `{"call_id", "url", "secret", "from", "to", "script"?}`."""
        body: Json = await request.json()
        call_id, event_id = body["call_id"], body.get("event_id", f"evt_{body['call_id']}")
        session = self._calls.setdefault(call_id, Session(call_id))
        session.script.extend(body.get("script", ()))
        if "url" not in body:
            return web.json_response({"webhook": None})
        sip = {"From": f"<sip:{body['from']}@example.com>", "To": f"<sip:{body['to']}@example.com>"}
        content = incoming_call(call_id, event_id=event_id, headers=sip | body.get("headers", {}))
        headers = signed_headers(content, secret=body["secret"], event_id=event_id)
        async with (
            ClientSession(timeout=ClientTimeout(10)) as http,
            http.post(body["url"], data=content, headers=headers) as answer,
        ):
            return web.json_response({"webhook": answer.status})

    async def _set_faults(self, request: web.Request) -> web.Response:
        """Answer the next call of a verb with a status: `{"accept": 500}`."""
        self._faults |= await request.json()
        return web.json_response({})

    async def _read(self, request: web.Request) -> web.Response:
        session = self._calls.get(request.match_info["call_id"])
        return web.json_response(session.document) if session else _error(404, "No call with this id.")

    async def _door(self, request: web.Request) -> web.Response:
        session = self._calls[request.match_info["call_id"]]
        body: Json = await request.json() if request.can_read_body else {}
        match request.match_info["door"]:
            case "say":
                session.script.extend(body.get("script", ()))
                await session.say(body["text"], speaks_s=body.get("speaks_s", 0))
            case "speak":
                await session.start_speaking()
            case "emit":
                await session.emit(body.pop("type"), **body)
            case "hangup":
                await session.end("ended")
            case "cut":
                await session.cut(keeps_out=body.get("keeps_out", False))
            case "mend":
                session.mend()
            case _:
                return _error(404, "Unknown door.")
        return web.json_response(session.document)


def _text(field: str | bytes | bytearray | web.FileField) -> str:
    if isinstance(field, web.FileField):
        return field.file.read().decode()
    return field if isinstance(field, str) else field.decode()


def _error(status: int, message: str) -> web.Response:
    return web.json_response({"error": {"message": message, "type": "invalid_request_error"}}, status=status)
