"""The page behind a portal link, its form, and its stream."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from conversations.live.stream import EventStream, Place, writing_in
from conversations.portal.visit import (
    Visit,
    ask_for_person,
    bookings_to_come,
    open_visit,
    place_of,
    proof_asked_of,
    say,
    transcript_of,
)
from conversations.presenters import message_payload
from conversations.widget.customer import for_customer, message_shown
from projects.api.parsers import check_value
from projects.api.problem import ApiError
from projects.api.throttling import seconds_to_wait
from projects.tenancy import tenant_tx
from projects.threads import in_db

LOOKS_PER_MINUTE, MESSAGES_PER_MINUTE = 90, 20
LONGEST_MESSAGE = 4_000
# In the chat, so that the agent asks and checks as it does everywhere, with the tools' own limits and ledger (D14).
PROOF = "I would like to see my bookings. What you have on file for me is {proof}"
SEND_CODE = "I would like to see my bookings. Please send me a code by text."
ASKED = "A colleague was asked to take over, and answers here."


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def portal(request: HttpRequest, token: str) -> HttpResponse:
    """The customer's page; a POST says something. 404 for a link that we never signed, or that is over."""
    if wait := seconds_to_wait(f"portal:{request.META.get('REMOTE_ADDR', '')}", per_minute=LOOKS_PER_MINUTE):
        return _slow_down(request, wait)
    try:
        place_of(token)
    except Http404:
        return _answer(request, "over.html", {}, status=404)
    if request.method == "POST":
        return _say(request, token)
    return _show(request, token)


def _show(request: HttpRequest, token: str, *, typed: str = "") -> HttpResponse:
    """The page; `typed` is what was refused, and stands in its field still."""
    place = place_of(token)
    with tenant_tx(place.organization_id):
        visit = open_visit(place)
        transcript = transcript_of(visit)
        chat = transcript.chat
        if request.headers.get("Accept") == "application/json":
            coming = [asdict(booking) for booking in bookings_to_come(visit)]
            return JsonResponse({"is_known": visit.is_known, "bookings": coming})
        context = {
            "token": token,
            "business": visit.business,
            "is_known": visit.is_known,
            "proof": proof_asked_of(visit),
            "said": transcript.said,
            "last_event": chat.last_event if chat else 0,
            "is_live": chat is not None,
            "is_writing": chat is not None and writing_in(chat) is not None,
            "bookings": bookings_to_come(visit),
            "past": transcript.past,
            "longest": LONGEST_MESSAGE,
            "typed": typed,
        }
        return _answer(request, "page.html", context, status=422 if typed else 200)


async def events(request: HttpRequest, token: str) -> HttpResponseBase:
    """The chat as server-sent events, without what is none of the customer's; 204 while there is none."""
    if request.method != "GET":
        return HttpResponse(status=405, headers={"Allow": "GET"})
    place = await in_db(_place, token, request.headers.get("Last-Event-ID") or request.GET.get("after", ""))
    if place is None:
        return HttpResponse(status=204)
    stream = for_customer(EventStream(place).frames())
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingHttpResponse(stream, content_type="text/event-stream", headers=headers)


def _place(token: str, after: str) -> Place | None:
    found = place_of(token)
    with tenant_tx(found.organization_id):
        chat = open_visit(found).chat()
        if chat is None:
            return None
        is_known = after.isascii() and after.isdigit() and len(after) < 10 and int(after) <= chat.last_event
        return Place(found.organization_id, chat.pk, after=int(after) if is_known else 0, is_reset=not is_known)


def _say(request: HttpRequest, token: str) -> HttpResponse:
    """Store what was written, and answer with it, or with the page where no script asked."""
    place, wants_json = place_of(token), request.headers.get("Accept") == "application/json"
    if wait := seconds_to_wait(f"portal:{place.persona_id}", per_minute=MESSAGES_PER_MINUTE):
        return _slow_down(request, wait)
    try:
        with tenant_tx(place.organization_id):
            answer = _take(open_visit(place), request.POST)
    except ApiError as error:
        if wants_json:
            document = {"code": error.code, "message": error.message, "field": error.field}
            return JsonResponse({"error": document}, status=error.status_code)
        messages.error(request, error.message)
        typed = _written(request.POST)
        return _show(request, token, typed=typed) if typed else redirect("portal", token)
    if wants_json:
        return JsonResponse(answer, status=202)
    if "state" in answer:
        messages.success(request, ASKED)
    return redirect("portal", token)


def _take(visit: Visit, posted: Mapping[str, str]) -> dict[str, Any]:
    """A message, or the wish for the person whom the agent offered. Raises ApiError with a sentence."""
    if "escalation" in posted:
        return {"state": ask_for_person(visit, posted["escalation"]).state}
    made = say(visit, _checked(_words_of(posted)))
    return {"message": message_shown(message_payload(made.message))}


def _words_of(posted: Mapping[str, str]) -> str:
    """What is said in the chat: what was written, or what the form of the proof says for the customer."""
    if proof := posted.get("proof", "").strip():
        return PROOF.format(proof=proof)
    return SEND_CODE if "code" in posted else _written(posted)


def _written(posted: Mapping[str, str]) -> str:
    """What stood in the chat's field, with the lines as they were written: a form sends two characters for each break."""
    return posted.get("content", "").replace("\r\n", "\n").strip()


def _checked(content: str) -> str:
    """What may be stored. Raises ApiError."""
    if not content:
        raise ApiError("required", "Write something first.", field="content")
    if len(content) > LONGEST_MESSAGE:
        over = len(content) - LONGEST_MESSAGE
        too_long = f"That is {len(content):,} characters; the limit is {LONGEST_MESSAGE:,}. Shorten it by {over:,}, then send it."
        raise ApiError("too_long", too_long, field="content")
    check_value(content)
    return content


def _slow_down(request: HttpRequest, wait: float) -> HttpResponse:
    response = _answer(request, "slow.html", {}, status=429)
    response["Retry-After"] = str(math.ceil(wait))
    return response


def _answer(request: HttpRequest, template: str, context: dict[str, object], *, status: int = 200) -> HttpResponse:
    response = render(request, f"portal/{template}", context, status=status)
    response["X-Robots-Tag"] = "noindex, nofollow"
    # The address is a key: nobody is told it, not even we. With less than this a browser's own forms have no origin (null).
    response["Referrer-Policy"] = "strict-origin"
    return response
