"""What the widget's doors refuse."""

from __future__ import annotations

from math import ceil

from projects.common.api_error import ApiError


class NoWidget(ApiError):
    """This widget doesn't exist or is switched off."""

    def __init__(self) -> None:
        super().__init__("no_widget", NoWidget.__doc__ or "", status=404)


class ForeignPage(ApiError):
    """A page that the business hasn't named asks."""

    def __init__(self, origin: str) -> None:
        sentence = f"This widget doesn't answer on {origin[:200]}. The business can add it under Widget, Sites."
        super().__init__("origin_not_allowed", sentence, status=403)


class NoPage(ApiError):
    """The widget answers to pages in a browser, which send the header Origin."""

    def __init__(self) -> None:
        super().__init__("origin_missing", NoPage.__doc__ or "", status=403)


class NoVisitor(ApiError):
    """This visitor's token is not valid here, or no longer. Open a new session."""

    def __init__(self) -> None:
        super().__init__("visitor_unknown", NoVisitor.__doc__ or "", status=401)


class NoConversation(ApiError):
    """There is no conversation yet; write a message first."""

    def __init__(self) -> None:
        super().__init__("no_conversation", NoConversation.__doc__ or "", status=404)


class TooOften(ApiError):
    """More than a person would do."""

    def __init__(self, seconds: float) -> None:
        wait = max(1, ceil(seconds))
        sentence = f"That was a lot at once. Try again in {wait} s."
        super().__init__("throttled", sentence, status=429, headers={"Retry-After": str(wait)})
