"""The token by which a tool that answers later calls back: 256 bits, good for one effect, once (W6)."""

from __future__ import annotations

import hashlib
import hmac
from base64 import urlsafe_b64encode
from uuid import UUID

from django.conf import settings
from django.utils.crypto import salted_hmac

SALT = "tools.execution.callback"
LENGTH = 43


def callback_token(effect_id: UUID) -> str:
    """The effect's token: the same at every attempt, so that an answer to an earlier one finds its effect too."""
    digest = salted_hmac(SALT, str(effect_id), secret=settings.SECRET_KEY, algorithm="sha256").digest()
    return urlsafe_b64encode(digest).decode().rstrip("=")


def callback_url(effect_id: UUID) -> str:
    """Where the tool posts its result."""
    return f"{settings.BASE_URL}/api/v1/tool-results/{callback_token(effect_id)}"


def digest_of(token: str) -> str:
    """What is stored of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def is_token_of(token: str, stored: str) -> bool:
    """Whether the token is the one whose digest is stored, compared in constant time."""
    return bool(stored) and hmac.compare_digest(digest_of(token), stored)
