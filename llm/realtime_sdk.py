"""OpenAI's SDK for `llm.realtime`: webhooks are read and verbs are sent with it."""

from __future__ import annotations

import binascii
from collections.abc import Mapping
from functools import cache
from typing import Any

import httpx2
import openai
from openai.types.webhooks import RealtimeCallIncomingWebhookEvent
from pydantic import ValidationError

from llm.realtime import (
    BadWebhook,
    CallGone,
    IncomingCall,
    KeyRefused,
    MalformedWebhook,
    ProviderUnavailable,
    RealtimeCalls,
    VerbRefused,
)
from llm.sdk import FAILURES, GUARDED_HEADERS
from outbound.guard import transport_for

VERB_SECONDS = 10.0


def read_webhook(body: bytes, headers: Mapping[str, str], *, secret: str) -> IncomingCall | None:
    """The call that a signed webhook announces, or None for another event. Raises BadWebhook, MalformedWebhook."""
    try:
        event = _unwrapper().webhooks.unwrap(body, dict(headers), secret=secret)
    except (
        openai.InvalidWebhookSignatureError,
        ValueError,
        TypeError,
        KeyError,
        RecursionError,
        binascii.Error,
    ) as error:
        raise BadWebhook(str(error)) from None
    if not isinstance(event, RealtimeCallIncomingWebhookEvent):
        return None
    try:
        # The SDK checks nothing but the type.
        checked = RealtimeCallIncomingWebhookEvent.model_validate_json(body)
    except ValidationError as error:
        raise MalformedWebhook(".".join(map(str, error.errors()[0]["loc"]))) from None
    data = checked.data
    return IncomingCall(checked.id, data.call_id, {one.name.lower(): one.value for one in reversed(data.sip_headers)})


@cache
def _unwrapper() -> openai.OpenAI:
    """The client that reads webhooks. It is made once, because it loads the machine's certificates."""
    return openai.OpenAI(api_key="none")


async def ask(calls: RealtimeCalls, verb: str, *path: str, **body: Any) -> Any:
    """Send a verb and return the SDK's answer. Raises CallGone, VerbRefused, ProviderUnavailable."""
    transport = transport_for(calls.guard, header_names=GUARDED_HEADERS)
    http = httpx2.AsyncClient(transport=transport, follow_redirects=False, trust_env=False)
    client = openai.AsyncOpenAI(
        api_key=calls.api_key or "none",
        base_url=calls.base_url,
        http_client=http,
        max_retries=0,
        timeout=VERB_SECONDS,
    )
    try:
        return await getattr(client.realtime.calls, verb)(*path, **body)
    except openai.APIStatusError as error:
        raise _status_error(error) from None
    except FAILURES:
        raise ProviderUnavailable(f"The provider can't be reached for {verb}.") from None
    finally:
        await http.aclose()


def _status_error(error: openai.APIStatusError) -> Exception:
    if error.status_code in (404, 410):
        return CallGone(str(error.status_code))
    if error.status_code in (408, 409, 425, 429) or error.status_code >= 500:
        return ProviderUnavailable(f"The provider answered {error.status_code}.")
    kind = KeyRefused if error.status_code in (401, 403) else VerbRefused
    return kind(f"The provider answered {error.status_code}: {error.message}"[:300])
