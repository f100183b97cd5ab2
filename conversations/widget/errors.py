"""Errors of the widget's endpoints."""

from __future__ import annotations

from math import ceil

from projects.common.api_error import ApiError


class NoWidget(ApiError):
    """This widget doesn't exist or is turned off."""

    def __init__(self) -> None:
        super().__init__("no_widget", NoWidget.__doc__ or "", status=404)


class OriginNotAllowed(ApiError):
    """A request from a page the business hasn't allowed."""

    def __init__(self, origin: str) -> None:
        sentence = f"This widget isn't allowed on {origin[:200]}. Add the site under Widget, Sites."
        super().__init__("origin_not_allowed", sentence, status=403)


class OriginMissing(ApiError):
    """The widget only accepts requests from pages in a browser: the Origin header is missing."""

    def __init__(self) -> None:
        super().__init__("origin_missing", OriginMissing.__doc__ or "", status=403)


class NoVisitor(ApiError):
    """This visitor token is invalid or expired. Open a new session."""

    def __init__(self) -> None:
        super().__init__("visitor_unknown", NoVisitor.__doc__ or "", status=401)


class NoConversation(ApiError):
    """There is no conversation yet. Send a message first."""

    def __init__(self) -> None:
        super().__init__("no_conversation", NoConversation.__doc__ or "", status=404)


class RateLimited(ApiError):
    """Too many requests for a person."""

    def __init__(self, seconds: float) -> None:
        wait = max(1, ceil(seconds))
        sentence = f"Too many requests. Try again in {wait} s."
        super().__init__("throttled", sentence, status=429, headers={"Retry-After": str(wait)})
