"""Long-lived endpoints: waiting for a reply, streaming a turn, streaming a conversation."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any, cast
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from rest_framework.response import Response

from conversations.api.events import Events
from conversations.api.serializers import OpenStream, ReplyWait, TurnStream
from conversations.api.views import Messages
from conversations.common.payloads import PostedPayload, RepliedPayload
from conversations.live.hub import hub
from conversations.live.outcome import turn_stream, wait_for_outcome
from conversations.live.stream import EventStream, Frame, Frames
from conversations.live.stream_auth import while_key_valid
from conversations.widget.event_filter import LONGEST_SECONDS
from projects.api.async_views import Continued, continues, replaces, serve
from projects.api.authentication import Caller


@continues(Messages)
async def messages(request: HttpRequest, served: Continued[TurnStream | ReplyWait]) -> HttpResponseBase:
    """Stream the turn or wait for its reply, as requested."""
    if isinstance(served.state, ReplyWait):
        return await _with_reply(served, served.state)
    return stream_of(served.state.caller, turn_stream(served.state.cursor, served.state.turn_id))


@replaces(Events)
async def events(request: HttpRequest, conversation_id: UUID) -> HttpResponseBase:
    """Stream events on GET; post a system event on POST."""
    if request.method != "GET":
        return await serve(Events, request, conversation_id=conversation_id)
    opening = _opening(request, conversation_id)
    response = await anext(opening)
    if isinstance(response, Continued):
        return _stream(cast(Frames, opening))
    await opening.aclose()
    return cast(Response, response)


async def _opening(request: HttpRequest, conversation_id: UUID) -> AsyncGenerator[Response | list[Frame], None]:
    """Yield the view's response first and then, if access is granted, the frames.

    The subscription starts before the view reads the database. A conversation without any events needs no second read.
    """
    async with hub().subscribe(conversation_id) as listener:
        response = await serve(Events, request, conversation_id=conversation_id)
        yield response
        opened: OpenStream = cast(Continued[OpenStream], response).state
        cursor = replace(opened.cursor, is_silent=opened.cursor.is_silent and listener.is_confirmed)
        async with aclosing(_while_admitted(EventStream(cursor).frames_for(listener), opened.caller)) as stream:
            async for frames in stream:
                yield frames


async def _with_reply(served: Continued[Any], wait: ReplyWait) -> HttpResponseBase:
    outcome = await wait_for_outcome(wait.organization_id, wait.conversation_id, wait.turn_id, seconds=wait.seconds)
    if outcome is None:
        return served
    body: RepliedPayload = {"message": wait.message, "turn": outcome.turn, "reply": outcome.reply}
    if outcome.is_taken_over:
        # No reply will come: an operator answers in their own time.
        taken: PostedPayload = {**body, "operator": outcome.operator}
        return served.json(taken, status=202)
    return served.json(body)


def stream_of(caller: Caller, frames: Frames) -> StreamingHttpResponse:
    """A streaming response that ends when the caller loses access."""
    return _stream(_while_admitted(frames, caller))


def _stream(frames: Frames) -> StreamingHttpResponse:
    return StreamingHttpResponse(
        _joined(frames),
        content_type="text/event-stream",
        headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"},
    )


async def _joined(stream: Frames) -> AsyncIterator[bytes]:
    async with aclosing(stream):
        async for frames in stream:
            yield b"".join(frame.encode() for frame in frames)


def _while_admitted(stream: Frames, caller: Caller) -> Frames:
    if caller.key is None:
        return _for_a_while(stream)
    return while_key_valid(stream, organization_id=caller.organization_id, key_id=caller.key.pk, scopes=caller.scopes)


async def _for_a_while(stream: Frames) -> Frames:
    """Limit a member's stream in time. The browser reconnects, and access is checked again."""
    ends_at = time.monotonic() + LONGEST_SECONDS
    async with aclosing(stream):
        async for frames in stream:
            yield frames
            if time.monotonic() > ends_at:
                return
