"""Rate limits per visitor, and per address for all its visitors."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest

from conversations.widget.errors import RateLimited
from conversations.widget.visitors import Visitor
from projects.api.throttling import seconds_to_wait
from projects.common.addresses import client_address
from projects.models import Widget


@dataclass(frozen=True)
class Limit:
    """Requests per minute. An address may be a whole office."""

    name: str
    of_visitor: int
    of_address: int


SESSIONS = Limit("session", of_visitor=30, of_address=240)
MESSAGES = Limit("message", of_visitor=20, of_address=240)
UPLOADS = Limit("upload", of_visitor=20, of_address=120)
STREAMS = Limit("stream", of_visitor=60, of_address=1200)
RATINGS = Limit("rating", of_visitor=20, of_address=240)
# A call is paid for by the second.
CALLS = Limit("call", of_visitor=4, of_address=60)
CALL_REPORTS = Limit("call_report", of_visitor=240, of_address=2400)
REQUESTS = Limit("person", of_visitor=5, of_address=30)


def check_limit(limit: Limit, request: HttpRequest, widget: Widget, visitor: Visitor | None = None) -> None:
    """Count one request. Raises RateLimited. All requests pass while Redis is down.

    Visitors are counted per widget: shoppers of two shops may have the same id.
    """
    counted = {f"widget:{limit.name}:address:{client_address(request)}": limit.of_address}
    if visitor is not None:
        counted[f"widget:{limit.name}:{widget.pk}:{visitor.names[0]}"] = limit.of_visitor
    for bucket, per_minute in counted.items():
        if wait := seconds_to_wait(bucket, per_minute=per_minute):
            raise RateLimited(wait)
