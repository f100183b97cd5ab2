"""One push message to one browser, through the guarded client: its address comes from a browser."""

from __future__ import annotations

import binascii
import json
from base64 import urlsafe_b64decode
from dataclasses import dataclass, field
from uuid import UUID

from django.conf import settings
from django.templatetags.static import static
from django.utils.translation import gettext

from notices.models import Send
from notices.push.encryption import AUTH_BYTES, check_public_key, encrypt
from notices.push.vapid import authorization, base64url
from outbound.errors import BlockedAddress, InvalidRequest, NoSuchHost, OutboundError, Unreadable
from outbound.guard import Guard
from outbound.headers import retry_after_seconds
from projects.common.api_error import ApiError
from projects.common.crypto import decrypt
from projects.common.crypto import encrypt as encrypt_secret

FIELD = "push_subscription.secret"
# A push service keeps a message for a browser that is off for so long.
DAY_SECONDS = 86_400
LONGEST_KEY = 200
LONGEST_TITLE = 120
# Every message has this length, so that a push service learns nothing from it.
PADDED_TO = 2_048
GONE = frozenset({404, 410})


@dataclass(frozen=True)
class Receiver:
    """A browser's address at its push service, and the keys with which messages to it are encrypted."""

    endpoint: str = field(repr=False)
    p256dh: bytes = field(repr=False)
    auth: bytes = field(repr=False)

    def sealed(self, *, organization_id: UUID) -> str:
        """The receiver, encrypted for its tenant."""
        parts = [self.endpoint, base64url(self.p256dh), base64url(self.auth)]
        return encrypt_secret(json.dumps(parts), organization_id=organization_id, field=FIELD)


@dataclass(frozen=True)
class Content:
    """The title, text and page of a message. `tag` replaces an earlier one with the same tag, shown or waiting."""

    tag: str
    title: str
    text: str
    path: str
    is_urgent: bool = False

    def encoded(self) -> bytes:
        shown = {"title": self.title[:LONGEST_TITLE], "text": self.text, "icon": static("img/icon-192.png")}
        return json.dumps({"id": self.tag, "url": self.path, **shown}, ensure_ascii=False).encode()


@dataclass(frozen=True)
class PushResult:
    """The outcome of a message. `error` is a sentence for its member. With `is_gone`, the browser takes no more."""

    state: Send
    error: str = ""
    is_gone: bool = False
    retry_after_seconds: float | None = None


def checked_receiver(endpoint: str, *, p256dh: str, auth: str) -> Receiver:
    """The receiver that a browser subscribed as. Raises ApiError that names the field."""
    guard = _guard()
    try:
        target = guard.check_url(endpoint)
    except OutboundError as error:
        raise ApiError("invalid_endpoint", str(error), field="endpoint") from error
    if target.scheme != "https" and not guard.is_opened(target):
        raise ApiError("invalid_endpoint", gettext("A push service has an https address."), field="endpoint")
    point, secret = _bytes(p256dh, field="p256dh"), _bytes(auth, field="auth")
    try:
        check_public_key(point)
    except ValueError as error:
        raise _invalid_key("p256dh") from error
    if len(secret) != AUTH_BYTES:
        raise _invalid_key("auth")
    return Receiver(target.url, point, secret)


def opened(stored: str, *, organization_id: UUID) -> Receiver:
    """A stored receiver. Raises WrongSecret."""
    endpoint, p256dh, auth = json.loads(decrypt(stored, organization_id=organization_id, field=FIELD))
    return Receiver(endpoint, _bytes(p256dh, field="p256dh"), _bytes(auth, field="auth"))


async def send(receiver: Receiver, content: Content) -> PushResult:
    """Hand one message to the browser's push service. No transaction may be open, because it can take 10 seconds."""
    body = encrypt(content.encoded(), p256dh=receiver.p256dh, auth=receiver.auth, padded_to=PADDED_TO)
    try:
        headers = {**_headers(content), "Authorization": authorization(receiver.endpoint)}
        response = await _guard().request("POST", receiver.endpoint, headers=headers, body=body)
    except (BlockedAddress, InvalidRequest, NoSuchHost) as error:
        return PushResult(Send.FAILED, str(error))
    except Unreadable as error:
        return _result(error.status, None)
    except OutboundError as error:
        # If it arrived after all, the next one with the same tag replaces it.
        return PushResult(Send.DUE, str(error))
    return _result(response.status, retry_after_seconds(response.headers))


def _headers(content: Content) -> dict[str, str]:
    return {
        "Content-Encoding": "aes128gcm",
        "Content-Type": "application/octet-stream",
        "TTL": str(DAY_SECONDS),
        "Topic": content.tag,
        "Urgency": "high" if content.is_urgent else "normal",
    }


def _result(status: int, pause: float | None) -> PushResult:
    if 200 <= status < 300:
        return PushResult(Send.SENT)
    if status in GONE:
        return PushResult(Send.FAILED, gettext("This browser takes no more notifications."), is_gone=True)
    if status == 429 or status >= 500:
        sentence = gettext("The browser’s push service accepts no messages at the moment (%(status)s).")
        return PushResult(Send.DUE, sentence % {"status": status}, retry_after_seconds=pause)
    sentence = gettext("The browser’s push service refused the message (%(status)s).")
    return PushResult(Send.FAILED, sentence % {"status": status})


def _bytes(text: str, *, field: str) -> bytes:
    """The bytes of base64url, with or without padding. Raises ApiError."""
    try:
        if len(text) > LONGEST_KEY:
            raise _invalid_key(field)
        return urlsafe_b64decode(f"{text.rstrip('=')}{'=' * (-len(text.rstrip('=')) % 4)}".encode("ascii"))
    except (binascii.Error, UnicodeEncodeError) as error:
        raise _invalid_key(field) from error


def _invalid_key(field: str) -> ApiError:
    return ApiError("invalid_key", gettext("The browser’s key is not valid."), field=field)


def _guard() -> Guard:
    return Guard(allow=settings.OUTBOUND_ALLOW)
