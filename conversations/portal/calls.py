"""Calls from the portal: the customer's browser and the provider exchange their SDP over these endpoints, and no audio."""

from __future__ import annotations

import json
import math
from functools import partial
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from conversations.calls.web_calls import (
    LONGEST_OFFER,
    BrowserCallPayload,
    BrowserEvent,
    CallsOff,
    browser_payload,
    note_event,
    offers_calls,
    start_web_call,
)
from conversations.live.stream import EventStream, StreamCursor
from conversations.models import Call, Channel
from conversations.portal.session import Visit, open_visit, place_of
from conversations.turns.services import start_conversation
from conversations.widget.event_filter import for_customer
from projects.api.idempotency import run_once
from projects.api.throttling import seconds_to_wait
from projects.common.api_error import ApiError
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.services.signed_links import PortalTarget

# The widget's limits, because a call is paid for by the second.
CALLS_PER_MINUTE, REPORTS_PER_MINUTE = 4, 240
VIA = {"via": "portal"}
# JSON escapes at most double an offer.
MOST_BYTES = 2 * LONGEST_OFFER


@never_cache
@require_POST
def start(request: HttpRequest, token: str) -> HttpResponse:
    """Start a call with the browser's offer: `{"offer"}`. Its answer is read from the call."""
    place = place_of(token)
    if wait := seconds_to_wait(f"portal_call:{place.persona_id}", per_minute=CALLS_PER_MINUTE):
        return _refusal("throttled", "Too many calls.", status=429, headers={"Retry-After": str(math.ceil(wait))})
    return _answered(partial(_start, request, place), status=202)


@never_cache
@require_http_methods(["GET", "POST"])
def call(request: HttpRequest, token: str, call_id: UUID) -> HttpResponse:
    """The call's state and the provider's answer; a POST of `{"event"}` reports that it is connected, or hangs up."""
    place = place_of(token)
    if wait := seconds_to_wait(f"portal_call_report:{place.persona_id}", per_minute=REPORTS_PER_MINUTE):
        return _refusal("throttled", "Too many requests.", status=429, headers={"Retry-After": str(math.ceil(wait))})
    return _answered(partial(_report if request.method == "POST" else _read, request, place, call_id))


@require_GET
async def events(request: HttpRequest, token: str, call_id: UUID) -> HttpResponseBase:
    """Stream of what is said in the call, as server-sent events, filtered to what a customer may see."""
    cursor = await in_db(_cursor, place_of(token), call_id)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    stream = for_customer(EventStream(cursor).frames())
    return StreamingHttpResponse(stream, content_type="text/event-stream", headers=headers)


def _start(request: HttpRequest, place: PortalTarget) -> dict[str, Any]:
    offer = _field(request, "offer")
    with tenant_tx(place.organization_id):
        visit = open_visit(place)
        begin = partial(_begin, visit, offer)
        return run_once(visit.project.pk, request, offer, begin, caller=f"persona:{place.persona_id}")


def _begin(visit: Visit, offer: str) -> dict[str, Any]:
    """Raises CallsOff, AlreadyCalling, Unprocessable."""
    if not offers_calls(visit.project):
        raise CallsOff
    external_id = visit.persona.external_id
    conversation = start_conversation(
        visit.project, channel=Channel.WEBCALL, external_id=external_id, known={}, metadata=VIA
    )
    return {**browser_payload(start_web_call(conversation, offer=offer))}


def _read(request: HttpRequest, place: PortalTarget, call_id: UUID) -> BrowserCallPayload:
    with tenant_tx(place.organization_id):
        return browser_payload(_own(place, call_id))


def _report(request: HttpRequest, place: PortalTarget, call_id: UUID) -> BrowserCallPayload:
    given = _field(request, "event")
    if given not in BrowserEvent.values:
        raise ApiError("invalid", f"event: Send one of {', '.join(BrowserEvent.values)}.", field="event")
    with tenant_tx(place.organization_id):
        return browser_payload(note_event(_own(place, call_id), BrowserEvent(given)))


def _cursor(place: PortalTarget, call_id: UUID) -> StreamCursor:
    with tenant_tx(place.organization_id):
        found = _own(place, call_id)
        return StreamCursor(place.organization_id, found.conversation_id, after=0, is_reset=True)


def _own(place: PortalTarget, call_id: UUID) -> Call:
    """A call that was made from this customer's page. Raises Http404."""
    persona = open_visit(place).persona
    rows = Call.objects.filter(conversation__persona=persona, conversation__channel=Channel.WEBCALL)
    found = rows.filter(pk=call_id, conversation__metadata__via=VIA["via"]).first()
    if found is None:
        raise Http404
    return found


def _field(request: HttpRequest, name: str) -> str:
    """A text of the JSON body. Raises ApiError."""
    if len(request.body) > MOST_BYTES:
        raise ApiError("body_too_large", f"Body is over {MOST_BYTES // 1000} kB.", status=413)
    try:
        body = json.loads(request.body)
    except ValueError:
        body = None
    value = body.get(name) if isinstance(body, dict) else None
    if not isinstance(value, str) or "\0" in value:
        raise ApiError("invalid", f"{name}: Send a JSON object with this text.", field=name)
    return value


def _answered(work: Any, *, status: int = 200) -> HttpResponse:
    try:
        return JsonResponse(work(), status=status)
    except ApiError as error:
        return _refusal(error.code, error.message, status=error.status_code, field=error.field)


def _refusal(
    code: str, message: str, *, status: int, field: str | None = None, headers: dict[str, str] | None = None
) -> HttpResponse:
    document = {"code": code, "message": message, "field": field}
    return JsonResponse({"error": document}, status=status, headers=headers)
