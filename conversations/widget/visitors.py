"""Who speaks through a widget, as a signed token says it. Nothing is stored of somebody who only looks at a page."""

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
    """`name` is who they are while nobody has signed them in; `shopper` are the claims of the shop that has, until `until`."""

    name: str
    shopper: Mapping[str, Any] = field(default_factory=dict)
    until: int = 0

    @property
    def names(self) -> list[str]:
        """Every customer that this visitor may be, the one that new conversations are with first."""
        return [f"shopper:{self.shopper['wp_user_id']}", self.name] if self.shopper else [self.name]


def new_visitor() -> Visitor:
    return Visitor(f"visitor:{secrets.token_urlsafe(32)}", until=_in_days(DAYS))


def sign(visitor: Visitor, widget: Widget) -> str:
    """The visitor's token: good for this widget's project and key, for thirty days or as long as the shop's word holds."""
    said = {"name": visitor.name, "shopper": dict(visitor.shopper), "until": visitor.until}
    return signing.dumps({**said, **_bound_to(widget)}, salt=SALT, compress=True)


def read_visitor(token: str, widget: Widget) -> Visitor:
    """Whom a token names. Raises NoVisitor for one that is forged, over, or another widget's."""
    if not token or len(token) > LONGEST:
        raise NoVisitor
    try:
        said = signing.loads(token, salt=SALT, max_age=DAYS * 86_400)
    except signing.BadSignature as error:
        raise NoVisitor from error
    if {name: said.get(name) for name in _bound_to(widget)} != _bound_to(widget) or said["until"] <= time.time():
        raise NoVisitor
    return Visitor(said["name"], said["shopper"], said["until"])


def renewed(visitor: Visitor) -> Visitor:
    """The same visitor, for thirty days from now."""
    return Visitor(visitor.name, until=_in_days(DAYS))


def signed_in(visitor: Visitor, claims: Mapping[str, Any], *, until: int) -> Visitor:
    """The visitor, signed in by the shop. What somebody else said in this browser is none of theirs."""
    known = visitor.shopper.get("wp_user_id", claims["wp_user_id"])
    name = visitor.name if known == claims["wp_user_id"] else new_visitor().name
    return Visitor(name, claims, min(until, _in_days(DAYS)))


def _bound_to(widget: Widget) -> dict[str, str]:
    return {"project": str(widget.project_id), "key": widget.public_key}


def _in_days(days: int) -> int:
    return int(time.time()) + days * 86_400
