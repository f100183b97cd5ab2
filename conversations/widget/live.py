"""The widget's stream, which stays open after its request was served."""

from __future__ import annotations

from typing import cast

from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from rest_framework.response import Response

from conversations.live.stream import EventStream, Place
from conversations.widget.event_filter import for_customer
from conversations.widget.views import Events, organization_of
from projects.api.async_views import door_of, plain, rendered
from tenancy.threads import in_db

_events = plain(Events)


@door_of(Events)
async def events(request: HttpRequest, key: str) -> HttpResponseBase:
    """GET the visitor's conversation as server-sent events."""
    response = cast(Response, await in_db(rendered, _events, request, key=key))
    if request.method != "GET" or response.status_code != 200:
        return response
    place = Place(
        organization_id=organization_of(response),
        conversation_id=response.data["conversation"],
        after=response.data["after"],
        is_reset=response.data["is_reset"],
    )
    kept = {name: value for name, value in response.headers.items() if name.startswith(("Access-Control", "Vary"))}
    return StreamingHttpResponse(
        for_customer(EventStream(place).frames()),
        content_type="text/event-stream",
        headers={**kept, "Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )
