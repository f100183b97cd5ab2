"""Signed challenges for passwordless sign-in. They travel with the page, to avoid a session row per visitor."""

from __future__ import annotations

import hashlib
from typing import Any

from allauth.mfa.webauthn.internal import auth
from django.core import signing
from django.core.cache import cache
from fido2.webauthn import UserVerificationRequirement

SALT = "passkey-question"
# Lifetime of a challenge, and how long used ones are remembered.
SECONDS = 3600


def make_challenge() -> dict[str, Any]:
    """The browser's request options, and the signed challenge that is posted back with the answer."""
    options, state = auth.get_server().authenticate_begin(user_verification=UserVerificationRequirement.REQUIRED)
    return {"request_options": dict(options), "question": signing.dumps(state, salt=SALT)}


def read_challenge(text: str) -> dict[str, Any] | None:
    """The challenge as fido2 state; None if the signature is invalid or older than an hour."""
    try:
        state: dict[str, Any] = signing.loads(text, salt=SALT, max_age=SECONDS)
    except signing.BadSignature:
        return None
    return state


def consume_challenge(challenge: bytes) -> bool:
    """Mark the challenge as used. Return False on a replay; of two concurrent calls only one returns True."""
    return bool(cache.add(f"{SALT}:{hashlib.sha256(challenge).hexdigest()}", value=True, timeout=SECONDS))
