"""The widget's event stream, which stays open after its request was authenticated."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse

from conversations.live.stream import EventStream, StreamCursor
from conversations.widget.event_filter import for_customer
from conversations.widget.views import Events
from projects.api.async_views import Continued, continues


@continues(Events)
async def events(request: HttpRequest, served: Continued[StreamCursor]) -> HttpResponseBase:
    """GET the visitor's conversation as server-sent events."""
    cors_headers = {
        name: value for name, value in served.headers.items() if name.startswith(("Access-Control", "Vary"))
    }
    return StreamingHttpResponse(
        for_customer(EventStream(served.state).frames()),
        content_type="text/event-stream",
        headers={**cors_headers, "Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )
