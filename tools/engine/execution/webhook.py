"""The send_webhook action: one signed, idempotent HTTP request through the outbound guard."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit
from uuid import UUID

from django.conf import settings

from jobs.failpoints import failpoint
from outbound.errors import BlockedAddress, InvalidRequest, NotSent, OutboundError, Unreadable
from outbound.guard import Guard
from outbound.headers import retry_after_seconds
from projects.api.parsers import parse_value
from projects.common.api_error import ApiError
from projects.common.characters import without_control_characters
from tools.engine.custom.secrets import WebhookSecrets
from tools.engine.definition import BODILESS, WebhookOptions
from tools.engine.execution.callback import callback_token, callback_url
from tools.engine.execution.handler import ToolContext
from tools.engine.execution.outcome import Ending, Outcome, is_uncertain
from tools.engine.validation.warnings import SECRET_HEADERS, is_secret_name

ADAPTER = "webhook"
MAX_EXCERPT_LENGTH = 8_000
CUT = " … [cut at 8 kB]"
MAX_TOLD_LENGTH = 2_000
MASK = "••••"
MIN_SECRET_LENGTH = 6
# Basic, Bearer and the like. An endpoint may echo a credential without its scheme.
SCHEMED = re.compile(r"[A-Za-z][\w-]* +(\S+)")
# Control characters and bidirectional marks that JSON escapes; line breaks and tabs stay.
ESCAPED_CONTROL = re.compile(
    r"(?<!\\)((?:\\\\)*)\\u(?:00(?:0[0-8b-f]|1[0-9a-f]|7f|[89][0-9a-f])|061c|200[ef]|202[a-e]|206[6-9])", re.IGNORECASE
)


@dataclass(frozen=True)
class WebhookRequest:
    """A request to send. `redacted` is the copy without secrets that is stored and shown."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None
    redacted: Mapping[str, Any]


@dataclass(frozen=True)
class Reply:
    """The endpoint's response: `text` is cut to 8 kB and free of our secrets; `document` is its JSON, or None."""

    text: str
    document: Any

    @property
    def told(self) -> str:
        """The response as the agent reads it: on one line, truncated."""
        line = " ".join(self.text.split())
        return line if len(line) <= MAX_TOLD_LENGTH else f"{line[:MAX_TOLD_LENGTH]} … [cut]"


def build_request(
    options: WebhookOptions,
    arguments: Mapping[str, Any],
    context: ToolContext,
    *,
    secrets: WebhookSecrets,
    at: datetime,
) -> WebhookRequest:
    """Build the request of one attempt.

    Values from the conversation go into the query, headers or body only; host and path come from the tool's definition.
    """
    url = _with_query(options.url, {**options.fixed_query, **arguments.get("query", {})})
    carries_body = options.method not in BODILESS
    document = arguments.get("body", {}) if carries_body else None
    body = json.dumps(document, ensure_ascii=False).encode() if carries_body else None
    content_type = {"Content-Type": "application/json"} if carries_body else {}
    own = {"webhook-callback-url": callback_url(context.effect_id)} if options.callback else {}
    own |= {"Idempotency-Key": context.key}
    plain = _merged(content_type, options.fixed_headers, _texts(arguments.get("headers", {})), own)
    signature = signature_headers(secrets.signing, id=context.key, at=at, body=body or b"")
    hidden = dict(secrets.headers or {})
    shown = {name: MASK if _is_secret_header(name) else value for name, value in {**plain, **signature}.items()}
    return WebhookRequest(
        method=options.method,
        url=url,
        headers=_merged(plain, hidden, signature),
        body=body,
        redacted={
            "method": options.method.value,
            "url": _shown_url(url),
            "headers": _merged(shown, dict.fromkeys(hidden, MASK)),
            "body": document,
        },
    )


async def call_webhook(
    options: WebhookOptions, arguments: Mapping[str, Any], context: ToolContext, *, secrets: WebhookSecrets
) -> Outcome:
    """Send the request once and return its outcome. Runs outside of any transaction."""
    request = build_request(options, arguments, context, secrets=secrets, at=datetime.now(UTC))
    kept: dict[str, Any] = {"request": request.redacted, "adapter": ADAPTER}
    guard = Guard(allow=settings.OUTBOUND_ALLOW)
    try:
        # A malformed address is final; the addresses that a name resolves to may change.
        guard.check_url(request.url)
        response = await guard.request(
            request.method,
            request.url,
            headers=request.headers,
            body=request.body,
            deadline_s=options.timeout_seconds,
            on_sent=_on_sent,
        )
    except (BlockedAddress, InvalidRequest) as error:
        is_final = isinstance(error, InvalidRequest) or not _may_change(guard, request.url)
        return Outcome.failed(str(error), **kept) if is_final else Outcome.not_sent(str(error), **kept)
    except Unreadable as error:
        return _outcome(error.status, {}, Reply(text="", document=None), options, {**kept, "note": str(error)})
    except NotSent as error:
        return Outcome.not_sent(str(error), **kept)
    except OutboundError as error:
        return Outcome.unknown(str(error), **kept)
    reply = reply_of(response.body, hidden=known_secrets(context.effect_id, secrets))
    return _outcome(response.status, response.headers, reply, options, kept)


def known_secrets(effect_id: UUID, secrets: WebhookSecrets) -> list[str]:
    """Our secrets that the endpoint knows and may echo; they are masked in what is stored and told."""
    return [callback_token(effect_id), *secrets.signing, *(secrets.headers or {}).values()]


def reply_of(body: bytes, *, hidden: Iterable[str] = ()) -> Reply:
    """The body as data: without control characters and bidirectional marks, cut, and with `hidden` values masked."""
    text = without_control_characters(ESCAPED_CONTROL.sub(r"\1", body.decode("utf-8", "replace"))).strip()
    for form in sorted({form for secret in hidden for form in _forms(secret)}, key=len, reverse=True):
        text = text.replace(form, MASK)
    return Reply(
        text=text if len(text) <= MAX_EXCERPT_LENGTH else text[:MAX_EXCERPT_LENGTH] + CUT,
        document=_document(text) if len(text) <= MAX_EXCERPT_LENGTH else None,
    )


def result_of(reply: Reply, *, status: int | None = None) -> dict[str, Any]:
    """A response as the effect's result, for people and the API."""
    result: dict[str, Any] = {} if status is None else {"status": status}
    if reply.document is not None:
        return {**result, "body": reply.document}
    return {**result, "body": reply.text, "note": "The answer was not JSON."} if reply.text else result


def _outcome(
    status: int, headers: Mapping[str, str], reply: Reply, options: WebhookOptions, kept: dict[str, Any]
) -> Outcome:
    note = kept.pop("note", "")
    kept |= {"http_status": status, "excerpt": reply.text}
    if 200 <= status < 300:
        if options.callback and status == 202:
            return Outcome(Ending.LATER, **kept)
        result = {**result_of(reply, status=status), **({"note": note} if note else {})}
        return Outcome.done(reply.told or "It was done.", result=result, **kept)
    retry_after = retry_after_seconds(headers)
    if retry_after is not None and status in (429, 503):
        return Outcome.not_sent(
            f"The endpoint takes no more just now ({status}).", retry_after_seconds=retry_after, **kept
        )
    if status == 429:
        return Outcome.not_sent("The endpoint takes no more just now (429).", **kept)
    if is_uncertain(status):
        return Outcome.unknown(f"The endpoint answered {status}; whether it was done isn't known.", **kept)
    if 300 <= status < 400:
        return Outcome.failed(
            f"The endpoint redirects ({status}), which isn't followed; enter the address it leads to.",
            result=result_of(reply, status=status),
            **kept,
        )
    return Outcome.failed(f"The endpoint refused it ({status}).", result=result_of(reply, status=status), **kept)


def _forms(secret: str) -> Iterator[str]:
    """The forms in which a secret may be echoed: with or without its scheme, plain or JSON-escaped."""
    schemed = SCHEMED.fullmatch(secret)
    for one in (secret, schemed[1]) if schemed else (secret,):
        if len(one) >= MIN_SECRET_LENGTH:
            written = json.dumps(one)[1:-1]
            yield from (one, written, written.replace("/", "\\/"))


def _merged(*headers: Mapping[str, str]) -> dict[str, str]:
    """Merge headers case-insensitively; later ones win."""
    named = {name.lower(): (name, value) for one in headers for name, value in one.items()}
    return dict(named.values())


def _on_sent() -> None:
    failpoint("effect.bytes_out")


def _may_change(guard: Guard, url: str) -> bool:
    try:
        guard.check_url(url)
    except BlockedAddress:
        return False
    return True


def _with_query(url: str, values: Mapping[str, Any]) -> str:
    pairs = [(name, text) for name, value in values.items() for text in _query_texts(value)]
    if not pairs:
        return url
    parts = urlsplit(url)
    return parts._replace(query="&".join(one for one in (parts.query, urlencode(pairs)) if one)).geturl()


def _query_texts(value: Any) -> list[str]:
    if isinstance(value, list):
        return [_text(item) for item in value]
    return [] if value is None else [_text(value)]


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: _text(value) for name, value in values.items() if value is not None}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _is_secret_header(name: str) -> bool:
    return name.lower() in SECRET_HEADERS | {"webhook-signature", "webhook-callback-url"} or (
        name != "Idempotency-Key" and is_secret_name(name)
    )


def _shown_url(url: str) -> str:
    parts = urlsplit(url)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    if not any(is_secret_name(name) for name, _ in pairs):
        return url
    shown = urlencode([(name, MASK if is_secret_name(name) else value) for name, value in pairs])
    return parts._replace(query=shown.replace(quote(MASK), MASK)).geturl()


def _document(text: str) -> Any:
    """The text parsed as JSON that PostgreSQL can store; None if it isn't."""
    try:
        return parse_value(text) if text else None
    except ApiError:
        return None


PREFIX = "whsec_"


def signature_headers(secrets: Sequence[str], *, id: str, at: datetime, body: bytes) -> dict[str, str]:
    """The three headers. `id` is the effect's key, the same at every attempt.

    Each secret (`whsec_…`) adds a signature; without secrets the signature header is omitted.
    """
    timestamp = str(int(at.timestamp()))
    headers = {"webhook-id": id, "webhook-timestamp": timestamp}
    if secrets:
        signatures = (_signature(secret, f"{id}.{timestamp}.".encode() + body) for secret in secrets)
        headers["webhook-signature"] = " ".join(signatures)
    return headers


def _signature(secret: str, content: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return "v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
