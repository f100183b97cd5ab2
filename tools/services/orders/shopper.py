"""Who a shopper is in their shop: a claim that the shop has signed, and nothing that anybody says (W05)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from projects.models import Project
from tools.engine.hooks import read_shopper

LARGEST = 2**63 - 1


def shopper_of(project: Project, persona_id: UUID) -> int | None:
    """A customer's id in the shop, as far as the shop has ever signed them in. Raises ApiError."""
    return wp_user_id(read_shopper(project, persona_id))


def wp_user_id(claims: Mapping[str, Any]) -> int | None:
    """The customer's id in the shop; None for what is none. 0 is WooCommerce's id of every guest."""
    claimed = claims.get("wp_user_id")
    if isinstance(claimed, str) and claimed.isascii() and claimed.isdigit() and len(claimed) < 20:
        claimed = int(claimed)
    is_id = isinstance(claimed, int) and not isinstance(claimed, bool) and 0 < claimed <= LARGEST
    return claimed if is_id else None
