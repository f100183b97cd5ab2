"""The doors that stay open: waiting for a reply, a turn's stream, a conversation's stream."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any, cast
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from rest_framework.response import Response

from conversations.api.views import Events, Messages
from conversations.api.waiting import OpenStream, ReplyWait, TurnStream
from conversations.common.payloads import PostedPayload, RepliedPayload
from conversations.live.hub import hub
from conversations.live.outcome import turn_stream, wait_for_outcome
from conversations.live.stream import EventStream, Frame, Frames
from conversations.live.stream_auth import while_key_opens
from conversations.widget.event_filter import LONGEST_SECONDS
from projects.api.async_views import Continued, continues, replaces, serve
from projects.api.authentication import Caller


@continues(Messages)
async def messages(request: HttpRequest, served: Continued[TurnStream | ReplyWait]) -> HttpResponseBase:
    """Stream the turn, or wait for its reply."""
    if isinstance(served.state, ReplyWait):
        return await _with_reply(served, served.state)
    return stream_of(served.state.caller, turn_stream(served.state.place, served.state.turn_id))


@replaces(Events)
async def events(request: HttpRequest, conversation_id: UUID) -> HttpResponseBase:
    """GET the event stream, POST a system event."""
    if request.method != "GET":
        return await serve(Events, request, conversation_id=conversation_id)
    opening = _opening(request, conversation_id)
    response = await anext(opening)
    if isinstance(response, Continued):
        return _stream(cast(Frames, opening))
    await opening.aclose()
    return cast(Response, response)


async def _opening(request: HttpRequest, conversation_id: UUID) -> AsyncGenerator[Response | list[Frame], None]:
    """First the view's response; if it lets the caller in, then the frames.

    The conversation is heard before the view looks: of one in which nothing has been said there is nothing to look up again.
    """
    async with hub().hear(conversation_id) as listener:
        response = await serve(Events, request, conversation_id=conversation_id)
        yield response
        opened: OpenStream = cast(Continued[OpenStream], response).state
        place = replace(opened.place, is_silent=opened.place.is_silent and listener.is_told)
        async with aclosing(_while_admitted(EventStream(place).heard(listener), opened.caller)) as stream:
            async for frames in stream:
                yield frames


async def _with_reply(served: Continued[Any], wait: ReplyWait) -> HttpResponseBase:
    outcome = await wait_for_outcome(wait.organization_id, wait.conversation_id, wait.turn_id, seconds=wait.seconds)
    if outcome is None:
        return served
    body: RepliedPayload = {"message": wait.message, "turn": outcome.turn, "reply": outcome.reply}
    if outcome.is_taken_over:
        # There is no reply to wait for any more: a person answers, whenever they do.
        taken: PostedPayload = {**body, "operator": outcome.operator}
        return served.json(taken, status=202)
    return served.json(body)


def stream_of(caller: Caller, frames: Frames) -> StreamingHttpResponse:
    """Frames for a caller who was let in, for as long as they are."""
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
    return while_key_opens(stream, organization_id=caller.organization_id, key_id=caller.key.pk, scopes=caller.scopes)


async def _for_a_while(stream: Frames) -> Frames:
    """A member's stream ends by itself, and their browser resumes it: whoever was removed meanwhile is not let in again."""
    ends_at = time.monotonic() + LONGEST_SECONDS
    async with aclosing(stream):
        async for frames in stream:
            yield frames
            if time.monotonic() > ends_at:
                return
