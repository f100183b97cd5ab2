"""send_webhook: one HTTP request made from the conversation, signed, safe to repeat, through the outbound guard (N45)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit
from uuid import UUID

from django.conf import settings

from jobs.failpoints import failpoint
from outbound.errors import BlockedAddress, InvalidRequest, NotSent, OutboundError, Unreadable
from outbound.guard import Guard
from projects.api.parsers import parse_value
from projects.common.api_error import ApiError
from tools.engine.custom.secrets import WebhookSecrets
from tools.engine.definition import BODILESS, WebhookOptions
from tools.engine.execution.callback import callback_token, callback_url
from tools.engine.execution.handler import ToolContext
from tools.engine.execution.outcome import Ending, Outcome
from tools.engine.execution.signing import signature_headers
from tools.engine.validation.warnings import SECRET_HEADERS, is_secret_name

ADAPTER = "webhook"
LONGEST_EXCERPT = 8_000
CUT = " … [cut at 8 kB]"
LONGEST_TOLD = 2_000
MASK = "••••"
SHORTEST_SECRET = 6
# Basic, Bearer and the like: a target that complains of a credential names it without its scheme.
SCHEMED = re.compile(r"[A-Za-z][\w-]* +(\S+)")
# It may have been carried out all the same: nobody but the target knows.
UNCLEAR = frozenset({408, 409, 425})


@dataclass(frozen=True)
class WebhookRequest:
    """A request as it goes out. `redacted` is what is kept and shown of it: the same without its secrets."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None
    redacted: Mapping[str, Any]


@dataclass(frozen=True)
class Reply:
    """What the target answered: `text` cut to 8 kB and without our secrets, `document` its JSON, None where it isn't any."""

    text: str
    document: Any

    @property
    def told(self) -> str:
        """The answer as the agent reads it: data on one line, capped (threat 9)."""
        line = " ".join(self.text.split())
        return line if len(line) <= LONGEST_TOLD else f"{line[:LONGEST_TOLD]} … [cut]"


def build_request(
    options: WebhookOptions,
    arguments: Mapping[str, Any],
    context: ToolContext,
    *,
    secrets: WebhookSecrets,
    at: datetime,
) -> WebhookRequest:
    """The request of one attempt. Whatever came from the conversation stands in the query, a header or the body only: the
    host and the path are the tool's own (threat 7).
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
    """Send it once and say what became of it, by the table of reliability 2.2. Outside of any transaction."""
    request = build_request(options, arguments, context, secrets=secrets, at=datetime.now(UTC))
    kept: dict[str, Any] = {"request": request.redacted, "adapter": ADAPTER}
    guard = Guard(allow=settings.OUTBOUND_ALLOW)
    try:
        # What is wrong with the form of an address stays wrong; what a name resolves to may change.
        guard.check_url(request.url)
        response = await guard.request(
            request.method,
            request.url,
            headers=request.headers,
            body=request.body,
            deadline_s=options.timeout_seconds,
            on_sent=_have_sent,
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
    reply = reply_of(response.body, hidden=hidden_from(context.effect_id, secrets))
    return _outcome(response.status, response.headers, reply, options, kept)


def hidden_from(effect_id: UUID, secrets: WebhookSecrets) -> list[str]:
    """What of ours a target has got with an effect, and may not echo into what is kept and told."""
    return [callback_token(effect_id), *secrets.signing, *(secrets.headers or {}).values()]


def reply_of(body: bytes, *, hidden: Iterable[str] = ()) -> Reply:
    """A body as data: what PostgreSQL can hold, cut, and without the `hidden` that are echoed in it."""
    text = body.decode("utf-8", "replace").replace("\x00", "�").strip()
    for form in sorted({form for secret in hidden for form in _forms(secret)}, key=len, reverse=True):
        text = text.replace(form, MASK)
    return Reply(
        text=text if len(text) <= LONGEST_EXCERPT else text[:LONGEST_EXCERPT] + CUT,
        document=_document(text) if len(text) <= LONGEST_EXCERPT else None,
    )


def result_of(reply: Reply, *, status: int | None = None) -> dict[str, Any]:
    """A reply as the effect's result, for people and the API."""
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
    retry_after = _seconds(headers.get("retry-after", ""))
    if retry_after is not None and status in (429, 503):
        return Outcome.not_sent(
            f"The endpoint takes no more just now ({status}).", retry_after_seconds=retry_after, **kept
        )
    if status == 429:
        return Outcome.not_sent("The endpoint takes no more just now (429).", **kept)
    if status >= 500 or status in UNCLEAR:
        return Outcome.unknown(f"The endpoint answered {status}; whether it was done isn't known.", **kept)
    return Outcome.failed(f"The endpoint refused it ({status}).", result=result_of(reply, status=status), **kept)


def _forms(secret: str) -> Iterator[str]:
    """A secret as it may come back: whole or without its scheme, as it is or as JSON writes it."""
    schemed = SCHEMED.fullmatch(secret)
    for one in (secret, schemed[1]) if schemed else (secret,):
        if len(one) >= SHORTEST_SECRET:
            written = json.dumps(one)[1:-1]
            yield from (one, written, written.replace("/", "\\/"))


def _merged(*headers: Mapping[str, str]) -> dict[str, str]:
    """The headers as they go out: a name counts once, however it is written, and the last of them stands."""
    named = {name.lower(): (name, value) for one in headers for name, value in one.items()}
    return dict(named.values())


def _have_sent() -> None:
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
    """The JSON that a text is, as far as PostgreSQL can hold it; None where it is none."""
    try:
        return parse_value(text) if text else None
    except ApiError:
        return None


def _seconds(text: str) -> float | None:
    """A Retry-After in seconds, which may also be a date."""
    if re.fullmatch(r"\d{1,6}", text.strip()):
        return float(text)
    try:
        due_at = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    if due_at.tzinfo is None:
        # One without a zone, or with -0000, is by Greenwich's clock like all of HTTP's dates.
        due_at = due_at.replace(tzinfo=UTC)
    return max(0.0, (due_at - datetime.now(UTC)).total_seconds())
