"""The shopper's identity: a claim signed by the shop, never the customer's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from projects.models import Project
from tools.engine.hooks import read_shopper

LARGEST = 2**63 - 1


def shopper_of(project: Project, persona_id: UUID) -> int | None:
    """Return the customer's id in the shop, if the shop has ever signed them in. Raises ApiError."""
    return wp_user_id(read_shopper(project, persona_id))


def wp_user_id(claims: Mapping[str, Any]) -> int | None:
    """Return the customer's id in the shop, or None if the claim is invalid. WooCommerce uses 0 for guests."""
    claimed = claims.get("wp_user_id")
    if isinstance(claimed, str) and claimed.isascii() and claimed.isdigit() and len(claimed) < 20:
        claimed = int(claimed)
    is_id = isinstance(claimed, int) and not isinstance(claimed, bool) and 0 < claimed <= LARGEST
    return claimed if is_id else None
