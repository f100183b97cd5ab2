"""Text messages through Twilio's Messages API."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from outbound.errors import NotSent, OutboundError, Unreadable
from outbound.guard import Guard, Response
from outbound.headers import retry_after_seconds
from outbound.origin import is_same_server
from projects.api.parsers import parse_value
from projects.common.api_error import ApiError
from projects.connections.settings.twilio import TwilioSettings
from projects.connections.twilio import EFFECT
from tools.engine.execution.outcome import Ending, ExpectedReceipt, Outcome, is_uncertain
from tools.services.messaging.base import LONGEST_EXCERPT, Mms, Sms, TemplateSms, refused_sign_in

DEADLINE_S = 15.0
# The limit of a page of templates.
MOST_BYTES = 2 * 1024 * 1024
# The prefix of numbers on WhatsApp.
WHATSAPP = "whatsapp:"
# Twilio accepted the request but will not deliver the message.
UNDELIVERABLE = frozenset({"failed", "undelivered", "canceled"})
AUTHENTICATE = 20003

# Explanations of Twilio's error codes (twilio.com/docs/api/errors).
MEANINGS: Mapping[int, str] = {
    21211: "The customer's number doesn't exist; ask for it again.",
    21212: "Twilio doesn't accept the sender's number; correct it under Integrations.",
    21265: "The customer's number can't be texted; ask for a mobile number.",
    21408: "The Twilio account can't text this country; enable it under Geo Permissions.",
    21606: "The sender's number doesn't belong to the Twilio account, or can't send texts.",
    21608: "A Twilio trial account can only text verified numbers.",
    21610: "The customer answered STOP to an earlier text, so none is sent to them any more.",
    21612: "Twilio can't text this number from the sender's number.",
    21614: "The customer's number isn't a mobile number; ask for one.",
    21617: "The text is longer than 1,600 characters.",
    21659: "The sender's number doesn't belong to the Twilio account.",
    63016: "The customer hasn't written for 24 hours. Only a template may be sent now.",
    63027: "The template doesn't exist in this language.",
    63028: "The template has another number of gaps by now.",
    63040: "Meta has rejected the template.",
    63041: "Meta has paused the template.",
    63042: "Meta has disabled the template.",
    63038: "The Twilio account has reached its daily limit of texts.",
}


@dataclass(frozen=True)
class TwilioResponse:
    """Twilio's response, parsed as far as possible."""

    status: int
    document: Mapping[str, Any]
    excerpt: str
    retry_after_seconds: float | None

    @property
    def code(self) -> int | None:
        found = self.document.get("code", self.document.get("error_code"))
        return found if isinstance(found, int) else None

    @property
    def message(self) -> str:
        return str(self.document.get("message") or self.document.get("error_message") or "")[:300]


class Twilio:
    """Text message channel. The API has no idempotency keys, so an uncertain message is never sent again.

    Twilio reports each message's status to `status_callback`, if there is one. The address names the effect, so that a
    report finds it before its message's id is stored.
    """

    name = "twilio"

    def __init__(self, settings: TwilioSettings, *, token: str, guard: Guard, status_callback: str = "") -> None:
        self._settings = settings
        self._token = token
        self._guard = guard
        self._status_callback = status_callback

    async def send(self, message: Sms, *, key: str) -> Outcome:
        """Create a message: POST /2010-04-01/Accounts/{AccountSid}/Messages.json, within 15 seconds."""
        form = self._form(message, key=key)
        request = {"method": "POST", "url": self._url, "form": form}
        details: dict[str, Any] = {"request": request, "adapter": self.name}
        try:
            answer = _read(await self._post(form))
        except Unreadable as error:
            answer = TwilioResponse(error.status, {}, str(error), None)
        except NotSent as error:
            return Outcome.not_sent(f"Twilio couldn't be reached: {error}", **details)
        except OutboundError as error:
            return Outcome.unknown(f"Twilio didn't respond to the request: {error}", **details)
        details |= {"http_status": answer.status, "excerpt": answer.excerpt}
        outcome = _outcome(answer, message, details)
        sid = str(outcome.result.get("sid") or "")[:200]
        if outcome.ending is not Ending.DONE or not sid or not self._status_callback:
            return outcome
        return replace(outcome, receipt=ExpectedReceipt(sid, self._settings.receipts_within))

    async def check_account(self) -> Outcome:
        """Read the account, which shows whether the credentials are right."""
        url = f"{self._settings.base_url}/2010-04-01/Accounts/{self._settings.account_sid}.json"
        try:
            response = await self._guard.request("GET", url, headers=self._headers, deadline_s=DEADLINE_S)
        except OutboundError as error:
            return Outcome.not_sent(f"Twilio couldn't be reached: {error}")
        if response.status == 401:
            return refused_sign_in("Twilio rejected the account SID or auth token; connect it again.")
        return (
            Outcome.done("") if response.status < 300 else Outcome.failed(f"Twilio responded with {response.status}.")
        )

    async def read(self, url: str) -> TwilioResponse | str:
        """Read an address of the account's, within 15 seconds. Returns the reason if there is no answer."""
        try:
            answer = await self._guard.request(
                "GET", url, headers=self._headers, deadline_s=DEADLINE_S, max_bytes=MOST_BYTES
            )
        except OutboundError as error:
            return f"Twilio couldn't be reached: {error}"
        return _read(answer)

    def credentials_for(self, url: str) -> dict[str, str]:
        """The header that opens an address of the account's; none for another server."""
        return {"Authorization": self._headers["Authorization"]} if is_same_server(url, self._settings.base_url) else {}

    @property
    def _headers(self) -> dict[str, str]:
        credentials = b64encode(f"{self._settings.account_sid}:{self._token}".encode()).decode()
        return {"Authorization": f"Basic {credentials}", "Accept": "application/json"}

    @property
    def _url(self) -> str:
        return f"{self._settings.base_url}/2010-04-01/Accounts/{self._settings.account_sid}/Messages.json"

    def _form(self, message: Sms, *, key: str) -> dict[str, str]:
        sender = self._settings.texts_from
        is_service = sender.startswith("MG") and len(sender) == 34
        sender = f"{WHATSAPP}{sender}" if message.to.startswith(WHATSAPP) and not is_service else sender
        form = {"To": message.to, "MessagingServiceSid" if is_service else "From": sender}
        form |= {"Body": message.text} if message.text else {}
        form |= {"MediaUrl": message.media} if isinstance(message, Mms) else {}
        if isinstance(message, TemplateSms):
            form |= {"ContentSid": message.content_sid, "ContentVariables": json.dumps(message.variables)}
        if self._status_callback:
            form["StatusCallback"] = f"{self._status_callback}&{urlencode({EFFECT: key})}"
        return form

    async def _post(self, form: Mapping[str, str]) -> Response:
        headers = {**self._headers, "Content-Type": "application/x-www-form-urlencoded"}
        body = urlencode(form).encode()
        return await self._guard.request("POST", self._url, headers=headers, body=body, deadline_s=DEADLINE_S)


def _outcome(answer: TwilioResponse, message: Sms, details: dict[str, Any]) -> Outcome:
    """Return the outcome of a response, by the table of reliability 2.2."""
    status = answer.status
    if 200 <= status < 300:
        return _accepted(answer, message, details)
    if status == 401 or answer.code == AUTHENTICATE:
        return refused_sign_in("Twilio rejected the account SID or auth token; connect it again.", **details)
    if status == 429 or (status == 503 and answer.retry_after_seconds is not None):
        sentence = f"Twilio is limiting requests ({status})."
        return Outcome.not_sent(sentence, retry_after_seconds=answer.retry_after_seconds, **details)
    if is_uncertain(status):
        return Outcome.unknown(f"Twilio responded with {status}; it isn't known whether the text was sent.", **details)
    return Outcome.failed(_refusal(answer), **details)


def _accepted(answer: TwilioResponse, message: Sms, details: dict[str, Any]) -> Outcome:
    result = {
        "to": message.to,
        "text": message.text,
        "sid": answer.document.get("sid"),
        "status": answer.document.get("status"),
    }
    if str(answer.document.get("status")) in UNDELIVERABLE:
        return Outcome.failed(_refusal(answer), result=result, **details)
    if not isinstance(result["sid"], str) or not result["sid"]:
        sentence = (
            f"The server responded with {answer.status} and named no message; it isn't known whether the text was sent."
        )
        return Outcome.unknown(sentence, **details)
    told = f"The text message to {message.to} was sent. It says: {message.text}"
    return Outcome.done(told, result=result, **details)


def _refusal(answer: TwilioResponse) -> str:
    reason = MEANINGS.get(answer.code or 0) or answer.message or f"Twilio responded with {answer.status}."
    code = f" (Twilio {answer.code})" if answer.code else ""
    return f"The text wasn't sent. {reason}{code}"


def _read(response: Response) -> TwilioResponse:
    text = response.body.decode("utf-8", "replace").replace("\x00", "�")
    try:
        found = parse_value(text)
    except ApiError:
        # A document that the ledger can't store is not Twilio's. The status still counts.
        found = None
    document = found if isinstance(found, dict) else {}
    return TwilioResponse(response.status, document, text[:LONGEST_EXCERPT], retry_after_seconds(response.headers))
