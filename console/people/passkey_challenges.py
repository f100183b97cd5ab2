"""The question that a passkey alone answers. It travels with the page: in sessions, each visitor's would be a row."""

from __future__ import annotations

import hashlib
from typing import Any

from allauth.mfa.webauthn.internal import auth
from django.core import signing
from django.core.cache import cache
from fido2.webauthn import UserVerificationRequirement

SALT = "passkey-question"
# How long an answer is taken, and remembered as given.
SECONDS = 3600


def make_question() -> dict[str, Any]:
    """What the browser asks the key, and the question itself, which comes back with the answer."""
    options, state = auth.get_server().authenticate_begin(user_verification=UserVerificationRequirement.REQUIRED)
    return {"request_options": dict(options), "question": signing.dumps(state, salt=SALT)}


def read_question(text: str) -> dict[str, Any] | None:
    """The question as fido2 knows it; None unless it is one of ours, put within the hour."""
    try:
        state: dict[str, Any] = signing.loads(text, salt=SALT, max_age=SECONDS)
    except signing.BadSignature:
        return None
    return state


def spend_question(challenge: bytes) -> bool:
    """Whether this is the first answer to it: nobody who has read one can send it again. Of two at once, one is."""
    return bool(cache.add(f"{SALT}:{hashlib.sha256(challenge).hexdigest()}", value=True, timeout=SECONDS))
