"""Signed addresses of attached files.

An address opens its file without signing in, because customers have no account. It holds no secret of the tenant, can't
be guessed, and works until the file is deleted. That of a customer's file works for a week, and one that a provider fetches a file
from for a few hours.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings

from tools.services.signed_links import Signer

SIGNER = Signer("conversations.attachments", size=32)
# With the second since 1970 until which it works.
TEMPORARY_SIGNER = Signer("conversations.attachments.temporary", size=36)
# A provider may queue a message for this long before it fetches the file.
PROVIDER_SECONDS = 4 * 3600
CUSTOMER_DAYS = 7
SECONDS_A_DAY = 86_400


@dataclass(frozen=True)
class AttachmentTarget:
    """The file that a token opens."""

    organization_id: UUID
    attachment_id: UUID


def attachment_url(organization_id: UUID, attachment_id: UUID) -> str:
    """The file's address."""
    return f"{settings.BASE_URL}/files/{SIGNER.sign(organization_id.bytes + attachment_id.bytes)}"


def customer_file_url(organization_id: UUID, attachment_id: UUID) -> str:
    """The address of a file that a customer sent, for the next seven days. It stays the same for a day."""
    until = (int(time.time()) // SECONDS_A_DAY + CUSTOMER_DAYS + 1) * SECONDS_A_DAY
    return _temporary_url(organization_id, attachment_id, until=until)


def provider_url(organization_id: UUID, attachment_id: UUID) -> str:
    """The file's address for the next four hours."""
    return _temporary_url(organization_id, attachment_id, until=int(time.time()) + PROVIDER_SECONDS)


def _temporary_url(organization_id: UUID, attachment_id: UUID, *, until: int) -> str:
    payload = organization_id.bytes + attachment_id.bytes + until.to_bytes(4, "big")
    return f"{settings.BASE_URL}/files/{TEMPORARY_SIGNER.sign(payload)}"


def read_attachment_token(token: str) -> AttachmentTarget | None:
    """The file of a token, or None if we did not sign it or its time is over."""
    payload = SIGNER.read(token) or TEMPORARY_SIGNER.read(token)
    if payload is None or (len(payload) > SIGNER.size and int.from_bytes(payload[32:], "big") < time.time()):
        return None
    return AttachmentTarget(UUID(bytes=payload[:16]), UUID(bytes=payload[16:32]))
