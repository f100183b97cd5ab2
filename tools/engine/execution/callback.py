"""Callback tokens: 256 bits, valid for one effect, once."""

from __future__ import annotations

import hashlib
import hmac
from base64 import urlsafe_b64encode
from uuid import UUID

from django.conf import settings
from django.utils.crypto import salted_hmac

from tools.engine.definition import ActionType, ToolDefinition
from tools.engine.execution.schemas import handler_of
from tools.models import Effect

SALT = "tools.execution.callback"
LENGTH = 43


def callback_token(effect_id: UUID) -> str:
    """The effect's token. It is the same at every attempt, so a callback for an earlier attempt finds its effect."""
    digest = salted_hmac(SALT, str(effect_id), secret=settings.SECRET_KEY, algorithm="sha256").digest()
    return urlsafe_b64encode(digest).decode().rstrip("=")


def callback_url(effect_id: UUID) -> str:
    """The URL that the tool posts its result to."""
    return f"{settings.BASE_URL}/api/v1/tool-results/{callback_token(effect_id)}"


def callback_hash(effect: Effect, definition: ToolDefinition) -> str:
    """The digest of the effect's token if its action may be answered later, else "". An event's subscriber always may."""
    action = definition.action
    if action.type is ActionType.SEND_WEBHOOK:
        may_answer_later = action.webhook.callback
    else:
        may_answer_later = action.type is ActionType.SEND_EVENT and handler_of(effect.tool, definition) is None
    return digest_of(callback_token(effect.pk)) if may_answer_later else ""


def digest_of(token: str) -> str:
    """The digest of a token, as stored."""
    return hashlib.sha256(token.encode()).hexdigest()


def is_token_of(token: str, stored: str) -> bool:
    """True if the token matches the stored digest, compared in constant time."""
    return bool(stored) and hmac.compare_digest(digest_of(token), stored)
