"""Signed addresses of attached files.

An address opens its file without signing in, because customers have no account. It holds no secret of the tenant, can't
be guessed, and works until the file is deleted.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.conf import settings

from tools.services.signed_links import Signer

SIGNER = Signer("conversations.attachments", size=32)


@dataclass(frozen=True)
class AttachmentTarget:
    """The file that a token opens."""

    organization_id: UUID
    attachment_id: UUID


def attachment_url(organization_id: UUID, attachment_id: UUID) -> str:
    """The file's address."""
    return f"{settings.BASE_URL}/files/{SIGNER.sign(organization_id.bytes + attachment_id.bytes)}"


def read_attachment_token(token: str) -> AttachmentTarget | None:
    """The file of a token, or None if we did not sign it."""
    payload = SIGNER.read(token)
    return AttachmentTarget(UUID(bytes=payload[:16]), UUID(bytes=payload[16:])) if payload else None
