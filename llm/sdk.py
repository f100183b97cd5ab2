"""Chat with OpenAI's SDK: it sends requests, returns raw responses, and maps errors."""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import aiohttp
import anyio
import httpx2
import openai
from openai._models import FinalRequestOptions
from openai._vendor.httpx_aiohttp.transport import AiohttpTransport
from pydantic_core import to_json

from llm.errors import (
    BadAnswer,
    Blocked,
    LlmError,
    NoSuchModelHost,
    QuotaUsedUp,
    RateLimited,
    RateLimitedLong,
    Rejected,
    TotalDeadline,
    Unavailable,
)
from llm.features import ErrorReport
from llm.transcript import Transcript, read_transcript
from llm.types import Endpoint, ModelSpec, Recording
from outbound.errors import BlockedAddress, NoSuchHost, NotSent, OutboundError, is_no_such_host
from outbound.guard import Guard, transport_for
from outbound.silence import end_when_silent

CHAT_COMPLETIONS = "/chat/completions"
JSON = {"Content-Type": "application/json"}
CONNECT_TIMEOUT_S = 5.0
LONGEST_RETRY_AFTER_S = 30.0
MOST_CLIENTS = 256
# Connections to the operator's endpoints, and how long one is kept for the next call.
MOST_CONNECTIONS = 1000
IDLE_SECONDS = 5.0
# Every exception that sending a request or reading its response can raise. httpx2 doesn't map the last three
FAILURES = (
    openai.OpenAIError,
    httpx2.HTTPError,
    httpx2.InvalidURL,
    OutboundError,
    aiohttp.ClientError,
    OSError,
    ssl.SSLError,
    anyio.EndOfStream,
)
# Headers that a project's endpoint receives. The operator's organization and the headers from its environment stay out
GUARDED_HEADERS = frozenset(
    {"host", "accept", "accept-encoding", "authorization", "connection", "content-length", "content-type", "user-agent"}
)
TRANSIENT_STATUSES = frozenset({408, 409, 425})
QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
# Some servers report a prompt that is too long with status 500, as if asking again could help
CONTEXT_TOO_SMALL = re.compile(
    r"exceed\w* (the )?(available |maximum |model'?s? )*context|context_length_exceeded", re.IGNORECASE
)
BROKE_OFF = "The connection to the model endpoint was lost."
# Messages for staff, by the first of these types among the causes of a failed connection. A library's message names its
# classes
REASONS: tuple[tuple[type[BaseException], str], ...] = (
    (ssl.SSLCertVerificationError, "The model endpoint's certificate can't be trusted."),
    (ssl.SSLError, "The model endpoint does not accept secure connections at this address."),
    (socket.gaierror, "The model endpoint can't be reached: its host name can't be resolved."),
    (ConnectionRefusedError, "The model endpoint can't be reached: it refuses connections at its address and port."),
    (TimeoutError, "The model endpoint can't be reached: the connection timed out."),
    (ConnectionError, BROKE_OFF),
    (OSError, "The model endpoint can't be reached: there is no route to its address."),
)


class Sdk:
    """One instance per event loop. Trusted endpoints share one connection pool, guarded ones another."""

    def __init__(self, guard: Guard | None = None) -> None:
        self._guard = guard or Guard()
        self._trusted_pool = _trusted_pool()
        self._guarded_pool = _guarded_pool(self._guard)
        self._clients: OrderedDict[Endpoint, _Client] = OrderedDict()

    @asynccontextmanager
    async def post(self, endpoint: Endpoint, body: dict[str, Any]) -> AsyncIterator[httpx2.Response]:
        """The response to a chat completion request, with its body unread. Leaving the context closes it.

        Raises Rejected for a closed endpoint, and for a key or a URL that can't be sent. Otherwise raises one of
        FAILURES, which `to_llm_error` translates.
        """
        response = await self._client(endpoint).ask(to_json(body, inf_nan_mode="null"))
        try:
            yield response
        finally:
            await response.aclose()

    async def transcribe(self, model: ModelSpec, recording: Recording, *, deadline_s: float) -> Transcript:
        """The words of a recording, and their usage. Raises LlmError, without the server's own words, which may contain the key."""
        file = recording.name, recording.content, recording.content_type
        try:
            async with asyncio.timeout(deadline_s):
                answer = await self._client(model.endpoint).audio.transcriptions.create(model=model.model, file=file)
        except TimeoutError:
            raise TotalDeadline("The transcription took too long.") from None
        except FAILURES as error:
            raise type(to_llm_error(error))("The model endpoint did not transcribe the recording.") from None
        if not isinstance(answer.text, str):
            raise BadAnswer("The model endpoint's transcription has no text.")
        return read_transcript(answer.text, answer.usage)

    async def aclose(self) -> None:
        """Close all connections."""
        self._clients.clear()
        await self._trusted_pool.aclose()
        await self._guarded_pool.aclose()

    def _client(self, endpoint: Endpoint) -> _Client:
        client = self._clients.pop(endpoint, None) or self._new_client(endpoint)
        self._clients[endpoint] = client
        if len(self._clients) > MOST_CLIENTS:
            # A client owns no connection, so there is nothing to close
            self._clients.popitem(last=False)
        return client

    def _new_client(self, endpoint: Endpoint) -> _Client:
        if endpoint.closed:
            raise Rejected(endpoint.closed)
        if not endpoint.trusted:
            self._guard.check_url(endpoint.base_url)
        if "@" in endpoint.base_url.partition("://")[2].partition("/")[0]:
            raise Rejected("The model endpoint's base URL contains a user name or password. Use the API key instead.")
        # With an empty key, the SDK would use the operator's from the environment
        key = endpoint.api_key.strip() or "none"
        if not (key.isascii() and key.isprintable()):
            raise Rejected("The API key contains a line break or an invalid character.")
        return _Client(
            base_url=endpoint.base_url,
            api_key=key,
            default_headers={"Authorization": f"Bearer {key}", "Accept-Encoding": "identity"},
            http_client=self._trusted_pool if endpoint.trusted else self._guarded_pool,
            max_retries=0,
            timeout=httpx2.Timeout(None, connect=CONNECT_TIMEOUT_S),
        )


class _Client(openai.AsyncOpenAI):
    """The SDK's client, reduced to one endpoint and one kind of request.

    The SDK builds the URL and headers once and maps error responses. Its own request path (options, disabled retries, a
    walk through every message) took longer than sending.
    """

    _template: httpx2.Request | None = None

    async def ask(self, body: bytes) -> httpx2.Response:
        """The response to a chat completion request, unread. Raises the SDK's errors and the guard's FAILURES."""
        request = self._request(body)
        try:
            response = await self._client.send(request, stream=True)
        except httpx2.TimeoutException as exc:
            raise openai.APITimeoutError(request=request) from exc
        except (httpx2.RequestError, ssl.SSLError, anyio.EndOfStream) as exc:
            raise openai.APIConnectionError(request=request) from exc
        if response.is_success:
            return response
        try:
            await response.aread()
        finally:
            await response.aclose()
        raise self._make_status_error_from_response(response)

    def _request(self, body: bytes) -> httpx2.Request:
        if self._template is None:
            options = FinalRequestOptions.construct(method="post", url=CHAT_COMPLETIONS, headers=JSON, content=b"{}")
            self._template = self._build_request(options)
            self._headers = [
                (name, value) for name, value in self._template.headers.multi_items() if name != "content-length"
            ]
        return httpx2.Request(
            "POST", self._template.url, headers=self._headers, content=body, extensions=self._template.extensions
        )


def _no_cookies() -> CookieJar:
    # A cookie from one project's call must not be sent with another's
    return CookieJar(DefaultCookiePolicy(allowed_domains=[]))


def _trusted_pool() -> httpx2.AsyncClient:
    transport = AiohttpTransport(trust_env=False)
    transport.client = partial(_new_session, transport.ssl_context)
    return openai.DefaultAioHttpClient(
        transport=transport, follow_redirects=False, trust_env=False, cookies=_no_cookies()
    )


def _new_session(tls: ssl.SSLContext) -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(
        limit=MOST_CONNECTIONS, keepalive_timeout=IDLE_SECONDS, ssl=tls, socket_factory=_new_socket
    )
    return aiohttp.ClientSession(connector=connector)


def _new_socket(address: tuple[Any, ...]) -> socket.socket:
    family, kind, protocol, *_ = address
    made = socket.socket(family, kind, protocol)
    end_when_silent(made)
    return made


def _guarded_pool(guard: Guard) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        transport=transport_for(guard, header_names=GUARDED_HEADERS),
        follow_redirects=False,
        trust_env=False,
        cookies=_no_cookies(),
    )


def to_llm_error(exc: Exception) -> LlmError:
    """The typed error for one of FAILURES. The message may contain the key; the caller redacts it."""
    match exc:
        case openai.APIStatusError():
            return _status_failure(exc)
        case BlockedAddress():
            return Blocked(str(exc))
        case httpx2.InvalidURL() | openai.APIConnectionError(__cause__=httpx2.UnsupportedProtocol()):
            return Rejected("The model endpoint's base URL is not a valid URL.")
        case NoSuchHost():
            return NoSuchModelHost(f"The model endpoint can't be reached. {exc}")
        case NotSent():
            return Unavailable(f"The model endpoint can't be reached. {exc}")
        case openai.APIConnectionError():
            kind = NoSuchModelHost if any(map(is_no_such_host, _causes(exc))) else Unavailable
            return kind(_connection_reason(exc))
        case OutboundError():
            return BadAnswer(str(exc))
        case _:
            return Unavailable(BROKE_OFF)


def error_report_of(exc: Exception) -> ErrorReport | None:
    """The details of an HTTP error response, or None for any other failure."""
    if not isinstance(exc, openai.APIStatusError):
        return None
    return ErrorReport(exc.status_code, _message_of(exc), parameter=str(exc.param or ""), code=str(exc.code or ""))


def _connection_reason(exc: BaseException) -> str:
    causes = _causes(exc)
    return next((message for kind, message in REASONS if any(isinstance(each, kind) for each in causes)), BROKE_OFF)


def _causes(exc: BaseException) -> list[BaseException]:
    causes = [exc]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) is not None:
        causes.append(cause)
    return causes


def _message_of(exc: openai.APIStatusError) -> str:
    # A proxy's HTML page adds nothing to the status
    if "html" in exc.response.headers.get("content-type", ""):
        return ""
    body = exc.body
    if isinstance(body, list) and body and isinstance(body[0], dict):
        # Gemini wraps its error in a list
        body = body[0].get("error")
    message = body.get("message") or body.get("detail") if isinstance(body, dict) else body
    return message if isinstance(message, str) else exc.response.text


def _status_failure(exc: openai.APIStatusError) -> LlmError:
    status = exc.status_code
    message = _message_of(exc).strip().removesuffix(".")
    text = (
        f"The model endpoint answered {status}: “{message}”." if message else f"The model endpoint answered {status}."
    )
    pause = _retry_after_s(exc.response.headers)
    if CONTEXT_TOO_SMALL.search(message):
        return Rejected(text)
    if status == 429:
        if exc.code in QUOTA_CODES:
            return QuotaUsedUp(text, retry_after_s=pause)
        is_long = (pause or 0) > LONGEST_RETRY_AFTER_S
        return RateLimitedLong(text, retry_after_s=pause) if is_long else RateLimited(text, retry_after_s=pause)
    if status >= 500 or status in TRANSIENT_STATUSES:
        return Unavailable(text, retry_after_s=pause)
    return Rejected(text)


def _retry_after_s(headers: httpx2.Headers) -> float | None:
    """The pause that the endpoint asks for, in seconds. None if there is none or it can't be parsed."""
    if milliseconds := _positive(headers.get("retry-after-ms")):
        return milliseconds / 1000
    value = headers.get("retry-after")
    if value is None or (seconds := _positive(value)) is not None:
        return seconds if value is not None else None
    try:
        return max((parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds(), 0.0)
    except (ValueError, TypeError):
        return None


def _positive(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if 0 <= number < 1e9 else None
