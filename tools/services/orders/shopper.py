"""Who a shopper is in their shop: a claim that the shop has signed, and nothing that anybody says (W05)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from projects.models import Project

# The claims of a customer's last visit as a signed-in shopper, inside the tenant's transaction; empty for none. Raises ApiError
# for a customer whom the project doesn't have.
ShopperReader = Callable[[Project, UUID], Mapping[str, Any]]

_readers: list[ShopperReader] = []
LARGEST = 2**63 - 1


def read_shoppers_by(reader: ShopperReader) -> None:
    """Make the one reader known. Called once, when the apps are ready."""
    _readers[:] = [reader]


def shopper_of(project: Project, persona_id: UUID) -> int | None:
    """A customer's id in the shop, as far as the shop has ever signed them in. Raises ApiError."""
    return wp_user_id(_readers[0](project, persona_id))


def wp_user_id(claims: Mapping[str, Any]) -> int | None:
    """The customer's id in the shop; None for what is none. 0 is WooCommerce's id of every guest."""
    claimed = claims.get("wp_user_id")
    if isinstance(claimed, str) and claimed.isascii() and claimed.isdigit() and len(claimed) < 20:
        claimed = int(claimed)
    is_id = isinstance(claimed, int) and not isinstance(claimed, bool) and 0 < claimed <= LARGEST
    return claimed if is_id else None
