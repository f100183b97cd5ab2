"""The doors that stay open: waiting for a reply, a turn's stream, a conversation's stream."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any, cast
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase, JsonResponse, StreamingHttpResponse
from rest_framework.response import Response

from conversations.api.views import Events, Messages
from conversations.api.waiting import wait_seconds
from conversations.common.payloads import OperatorPayload, PostedPayload, RepliedPayload
from conversations.common.presenters import operator_payload
from conversations.handover.operators import TAKEN_OVER
from conversations.live.hub import hub
from conversations.live.outcome import turn_stream, wait_for_outcome
from conversations.live.stream import EventStream, Place
from conversations.live.stream_auth import while_key_opens
from conversations.models import Conversation, Event
from conversations.widget.event_filter import LONGEST_SECONDS
from projects.api.async_views import door_of, plain, rendered
from projects.api.caller import Caller
from tenancy.scope import tenant_tx
from tenancy.threads import in_db

_messages, _events = plain(Messages), plain(Events)


@door_of(Messages)
async def messages(request: HttpRequest, conversation_id: UUID) -> HttpResponseBase:
    """GET the transcript, POST a message; the answer may wait for the reply or stream it."""
    response = cast(Response, await in_db(rendered, _messages, request, conversation_id=conversation_id))
    if request.method != "POST" or response.status_code != 202 or response.data["turn"] is None:
        return response
    if "text/event-stream" in request.headers.get("Accept", ""):
        place = await in_db(_place_before, response, conversation_id)
        return stream_of(response, turn_stream(place, UUID(response.data["turn"]["id"])))
    if seconds := wait_seconds(request.GET.get("wait", "")):
        return await _with_reply(response, conversation_id, seconds=seconds)
    return response


@door_of(Events)
async def events(request: HttpRequest, conversation_id: UUID) -> HttpResponseBase:
    """GET the event stream, POST a system event."""
    if request.method != "GET":
        return await _events_answer(request, conversation_id)
    opening = _opening(request, conversation_id)
    answer: Response = await anext(opening)
    if answer.status_code == 200:
        return _stream(opening)
    await opening.aclose()
    return answer


async def _opening(request: HttpRequest, conversation_id: UUID) -> AsyncGenerator[Any, None]:
    """First the view's answer; where that lets the caller in, the frames.

    The conversation is heard before the view looks: of one in which nothing has been said there is nothing to look up again.
    """
    async with hub().hear(conversation_id) as listener:
        answer = await _events_answer(request, conversation_id)
        yield answer
        place = Place(
            organization_id=_organization_of(answer),
            conversation_id=conversation_id,
            after=answer.data["after"],
            is_reset=answer.data["is_reset"],
            is_silent=answer.data["is_silent"] and listener.is_told,
        )
        async with aclosing(_while_admitted(EventStream(place).heard(listener), _caller_of(answer))) as stream:
            async for frames in stream:
                yield frames


async def _events_answer(request: HttpRequest, conversation_id: UUID) -> Response:
    return cast(Response, await in_db(rendered, _events, request, conversation_id=conversation_id))


async def _with_reply(response: Response, conversation_id: UUID, *, seconds: float) -> HttpResponseBase:
    turn_id = UUID(response.data["turn"]["id"])
    outcome = await wait_for_outcome(_organization_of(response), conversation_id, turn_id, seconds=seconds)
    if outcome is None:
        return response
    body: RepliedPayload = {"message": response.data["message"], "turn": outcome.turn, "reply": outcome.reply}
    kept = {name: value for name, value in response.headers.items() if not name.startswith("Content-")}
    if outcome.reply is None and outcome.turn["error"] == TAKEN_OVER:
        # There is no reply to wait for any more: a person answers, whenever they do.
        operator = await in_db(_operator_of, _organization_of(response), conversation_id)
        taken: PostedPayload = {**body, "operator": operator}
        return JsonResponse(taken, status=202, headers=kept)
    return JsonResponse(body, status=200, headers=kept)


def _operator_of(organization_id: UUID, conversation_id: UUID) -> OperatorPayload | None:
    with tenant_tx(organization_id):
        return operator_payload(Conversation.objects.select_related("operator").get(pk=conversation_id))


def _organization_of(response: Response) -> UUID:
    return _caller_of(response).organization_id


def _caller_of(response: Response) -> Caller:
    context = cast(dict[str, Any], vars(response)["renderer_context"])
    return cast(Caller, context["view"].caller)


def _place_before(response: Response, conversation_id: UUID) -> Place:
    """Just before the event of the message that was posted."""
    organization_id = _organization_of(response)
    with tenant_tx(organization_id):
        events = Event.objects.filter(conversation_id=conversation_id, idn="user_message")
        seq = events.get(payload__id=response.data["message"]["id"]).seq
    return Place(organization_id=organization_id, conversation_id=conversation_id, after=seq - 1)


def stream_of(response: Response, frames: AsyncGenerator[list[bytes], None]) -> StreamingHttpResponse:
    """Frames for whom the view's answer let in, for as long as they are."""
    return _stream(_while_admitted(frames, _caller_of(response)))


def _stream(frames: AsyncGenerator[list[bytes], None]) -> StreamingHttpResponse:
    return StreamingHttpResponse(
        _joined(frames),
        content_type="text/event-stream",
        headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"},
    )


async def _joined(stream: AsyncGenerator[list[bytes], None]) -> AsyncIterator[bytes]:
    async with aclosing(stream):
        async for frames in stream:
            yield b"".join(frames)


def _while_admitted(stream: AsyncGenerator[list[bytes], None], caller: Caller) -> AsyncGenerator[list[bytes], None]:
    if caller.key is None:
        return _for_a_while(stream)
    return while_key_opens(stream, organization_id=caller.organization_id, key_id=caller.key.pk, scopes=caller.scopes)


async def _for_a_while(stream: AsyncGenerator[list[bytes], None]) -> AsyncGenerator[list[bytes], None]:
    """A member's stream ends by itself, and their browser resumes it: whoever was removed meanwhile is not let in again."""
    ends_at = time.monotonic() + LONGEST_SECONDS
    async with aclosing(stream):
        async for frames in stream:
            yield frames
            if time.monotonic() > ends_at:
                return
