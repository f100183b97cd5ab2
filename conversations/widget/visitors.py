"""Widget visitors, identified by a signed token. Nothing is stored about somebody who only views a page."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.core import signing

from conversations.widget.errors import NoVisitor
from projects.models import Widget

SALT = "makegood.widget.visitor"
DAYS = 30
LONGEST = 4_000


@dataclass(frozen=True)
class Visitor:
    """A visitor. `name` identifies them while signed out; `shopper` holds the shop's claims, valid until `until`."""

    name: str
    shopper: Mapping[str, Any] = field(default_factory=dict)
    until: int = 0

    @property
    def names(self) -> list[str]:
        """The external ids of the customers this visitor may be; new conversations use the first."""
        return [f"shopper:{self.shopper['wp_user_id']}", self.name] if self.shopper else [self.name]


def new_visitor() -> Visitor:
    return Visitor(f"visitor:{secrets.token_urlsafe(32)}", until=_days_from_now(DAYS))


def sign(visitor: Visitor, widget: Widget) -> str:
    """The visitor's token, for the widget's project and key; valid for 30 days or as long as the shop's sign-in."""
    payload = {"name": visitor.name, "shopper": dict(visitor.shopper), "until": visitor.until}
    return signing.dumps({**payload, **_bound_to(widget)}, salt=SALT, compress=True)


def read_visitor(token: str, widget: Widget) -> Visitor:
    """The visitor in a token. Raises NoVisitor if it is forged, expired, or another widget's."""
    if not token or len(token) > LONGEST:
        raise NoVisitor
    try:
        payload = signing.loads(token, salt=SALT, max_age=DAYS * 86_400)
    except signing.BadSignature as error:
        raise NoVisitor from error
    if {name: payload.get(name) for name in _bound_to(widget)} != _bound_to(widget) or payload["until"] <= time.time():
        raise NoVisitor
    return Visitor(payload["name"], payload["shopper"], payload["until"])


def renewed(visitor: Visitor) -> Visitor:
    """The same visitor, valid for 30 days from now."""
    return Visitor(visitor.name, until=_days_from_now(DAYS))


def signed_in(visitor: Visitor, claims: Mapping[str, Any], *, until: int) -> Visitor:
    """The visitor, signed in by the shop. Another person's chats in the same browser are not carried over."""
    known = visitor.shopper.get("wp_user_id", claims["wp_user_id"])
    name = visitor.name if known == claims["wp_user_id"] else new_visitor().name
    return Visitor(name, claims, min(until, _days_from_now(DAYS)))


def _bound_to(widget: Widget) -> dict[str, str]:
    return {"project": str(widget.project_id), "key": widget.public_key}


def _days_from_now(days: int) -> int:
    return int(time.time()) + days * 86_400
