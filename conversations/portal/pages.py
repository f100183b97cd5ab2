"""The portal's page, form handler and event stream."""

from __future__ import annotations

import hashlib
import math
import secrets
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.formats import number_format
from django.utils.translation import get_language, get_language_from_request, gettext, override
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from conversations.calls.web_calls import offers_calls
from conversations.common.payloads import RatingPayload
from conversations.common.presenters import message_payload, rating_payload
from conversations.handover.customer_files import takes_files
from conversations.handover.file_types import FILE_TYPES
from conversations.inbox.ratings import HIGHEST, LONGEST_COMMENT, LOWEST
from conversations.live.stream import StreamCursor, writing_in
from conversations.portal.chat_start import ChatState, frames_until_begun, frames_until_replaced, load_chat_state
from conversations.portal.files import describe_files, file_gone, language_in, read_files
from conversations.portal.session import (
    Visit,
    ask_for_person,
    asks_for_rating,
    open_visit,
    place_of,
    post_customer_message,
    rate_chat,
    required_proof,
    transcript_of,
    upcoming_bookings,
)
from conversations.widget.event_filter import for_customer, message_shown
from jobs.errors import WrongState
from projects.api.idempotency import run_once
from projects.api.parsers import check_value
from projects.api.throttling import seconds_to_wait
from projects.common.addresses import client_address
from projects.common.api_error import ApiError, Unprocessable
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.services.bookings.search import config_of
from tools.services.signed_links import portal_url

REQUESTS_PER_MINUTE, MESSAGES_PER_MINUTE = 90, 20
LONGEST_MESSAGE = 4_000
LONGEST_KEY = 64
# Form fields that carry the customer's input.
INPUT_FIELDS = {"content", "proof", "code", "escalation"}


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def portal(request: HttpRequest, token: str) -> HttpResponse:
    """The portal page; a POST submits a form. 404 for an invalid or expired link."""
    if wait := seconds_to_wait(f"portal:{client_address(request)}", per_minute=REQUESTS_PER_MINUTE):
        return _slow_down(request, wait)
    try:
        place_of(token)
    except Http404:
        return _render(request, "over.html", status=404)
    if request.method == "POST":
        return _submit(request, token)
    return _show(request, token)


def _show(request: HttpRequest, token: str, *, typed: str = "") -> HttpResponse:
    """Render the page; `typed` is the refused input, which stays in its field."""
    place = place_of(token)
    with tenant_tx(place.organization_id):
        visit = open_visit(place)
        if visit.persona.pk != place.persona_id and not typed:
            return redirect(portal_url(replace(place, persona_id=visit.persona.pk)))
        with override(language_in(request, visit)):
            return _page(request, visit, token, typed=typed)


def _page(request: HttpRequest, visit: Visit, token: str, *, typed: str) -> HttpResponse:
    transcript, upcoming = transcript_of(visit), upcoming_bookings(visit)
    if request.headers.get("Accept") == "application/json":
        return JsonResponse({"is_known": visit.is_known, "bookings": [asdict(booking) for booking in upcoming]})
    chat = transcript.chat
    context = {
        "token": token,
        "business": visit.business,
        "is_known": visit.is_known,
        "proof": required_proof(visit),
        "said": transcript.messages,
        "chat": chat.pk if chat else "",
        "last_event": chat.last_event if chat else 0,
        "is_writing": chat is not None and writing_in(chat) is not None,
        "bookings": upcoming,
        "asks_for_rating": asks_for_rating(visit, transcript),
        "rates": config_of(visit.project).ask_for_ratings,
        "stars": range(LOWEST, HIGHEST + 1),
        "longest_comment": LONGEST_COMMENT,
        "past": transcript.past,
        "longest": LONGEST_MESSAGE,
        "typed": typed,
        "key": secrets.token_hex(16),
        "takes_calls": offers_calls(visit.project),
        "takes_files": takes_files(visit.project),
        "file_types": FILE_TYPES,
    }
    return _render(request, "page.html", context, status=422 if typed else 200)


async def events(request: HttpRequest, token: str) -> HttpResponseBase:
    """The chat as server-sent events, filtered to what a customer may see; without a chat, the announcement of one.

    The page names the chat it has read up to `after`. If the current chat is another, the stream starts from the
    beginning.
    """
    if request.method != "GET":
        return HttpResponse(status=405, headers={"Allow": "GET"})
    after = request.headers.get("Last-Event-ID") or request.GET.get("after", "")
    found = await in_db(_stream_start, token, after, request.GET.get("chat", ""))
    place = place_of(token)
    frames = (
        frames_until_replaced(place, found) if isinstance(found, StreamCursor) else frames_until_begun(place, found)
    )
    stream = for_customer(frames)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingHttpResponse(stream, content_type="text/event-stream", headers=headers)


def _stream_start(token: str, after: str, named: str) -> StreamCursor | ChatState:
    found = place_of(token)
    with tenant_tx(found.organization_id):
        chat = open_visit(found).chat()
        if chat is None:
            return load_chat_state(found)
        is_known = after.isascii() and after.isdigit() and len(after) < 10 and int(after) <= chat.last_event
        is_known = is_known and named == str(chat.pk)
        return StreamCursor(found.organization_id, chat.pk, after=int(after) if is_known else 0, is_reset=not is_known)


def _submit(request: HttpRequest, token: str) -> HttpResponse:
    """Store the submitted form. Answer a script with JSON, a plain form with a redirect to the page."""
    place, wants_json = place_of(token), request.headers.get("Accept") == "application/json"
    if wait := seconds_to_wait(f"portal:{place.persona_id}", per_minute=MESSAGES_PER_MINUTE):
        return _slow_down(request, wait)
    try:
        with tenant_tx(place.organization_id):
            visit = open_visit(place)
            body = "\n".join(f"{name}: {request.POST[name]}" for name in sorted(INPUT_FIELDS & request.POST.keys()))
            # The page retries a request whose response was lost, and a plain form can be submitted twice; `run_once`
            # stores it once.
            language = language_in(request, visit)
            body = f"{body}\n{describe_files(request)}".rstrip("\n")
            store = partial(_store, visit, request, language)
            caller, key = f"persona:{place.persona_id}", _key_in_form(request.POST, body)
            is_rating = "score" in request.POST
            # A repeated rating changes nothing, and one that was changed back counts.
            answer = store() if is_rating else run_once(visit.project.pk, request, body, store, caller=caller, key=key)
    except ApiError as error:
        if wants_json:
            document = {"code": error.code, "message": error.message, "field": error.field}
            return JsonResponse({"error": document}, status=error.status_code)
        messages.error(request, error.message)
        typed = _typed(request.POST)
        return _show(request, token, typed=typed) if typed else redirect("portal", token)
    if wants_json:
        return JsonResponse(answer, status=202)
    with override(language):
        if "escalation" in request.POST:
            messages.success(request, gettext("A colleague was asked to take over and will reply here."))
        elif "score" in request.POST:
            messages.success(request, gettext("Thanks for your rating."))
    return redirect("portal", token)


def _key_in_form(posted: Mapping[str, str], body: str) -> str | None:
    """The form's idempotency key for this input. Other input sent from the same page is a message of its own."""
    key = posted.get("key", "")[:LONGEST_KEY]
    return f"{key}.{hashlib.sha256(body.encode()).hexdigest()[:32]}" if key else None


def _store(visit: Visit, request: HttpRequest, language: str) -> dict[str, Any]:
    """Store a message, or the request for a person. Raises ApiError with a translated message."""
    posted = request.POST
    with override(language):
        if "escalation" in posted:
            return {"state": ask_for_person(visit, posted["escalation"]).state}
        if "score" in posted:
            return {"rating": _rate(visit, posted)}
        content, attachments = _text_of(posted), read_files(request, visit)
        if content or not attachments:
            content = _checked(content)
    try:
        posted_message = post_customer_message(visit, content, attachments=attachments)
    except Unprocessable as error:
        with override(language):
            raise file_gone() from error
    return {
        "message": message_shown(message_payload(posted_message.message)),
        "chat": str(posted_message.conversation.pk),
    }


def _rate(visit: Visit, posted: Mapping[str, str]) -> RatingPayload | None:
    """Store the rating. Raises ApiError with a translated message."""
    score, comment = posted["score"], posted.get("comment", "").replace("\r\n", "\n").strip()
    if score not in {str(one) for one in range(LOWEST, HIGHEST + 1)}:
        raise ApiError("invalid", gettext("Choose one to five stars."), field="score")
    if len(comment) > LONGEST_COMMENT:
        raise ApiError("too_long", _too_long(len(comment), most=LONGEST_COMMENT), field="comment")
    check_value({"comment": comment})
    try:
        return rating_payload(rate_chat(visit, score=int(score), comment=comment))
    except WrongState as error:
        raise ApiError(error.code, gettext("There is nothing to rate yet."), status=409) from error


def _text_of(posted: Mapping[str, str]) -> str:
    """The text of the chat message: the customer's own, or the sentence of the verification form.

    Verification goes through the chat, so that the agent's tools apply their own limits and ledger.
    """
    if proof := posted.get("proof", "").strip():
        sentence = gettext("I would like to see my bookings. What you have on file for me is %(proof)s")
        return sentence % {"proof": proof}
    if "code" in posted:
        return gettext("I would like to see my bookings. Please send me a code by text.")
    return _typed(posted)


def _typed(posted: Mapping[str, str]) -> str:
    """The message as typed: browsers submit line breaks as CRLF."""
    return posted.get("content", "").replace("\r\n", "\n").strip()


def _checked(content: str) -> str:
    """The message, if it may be stored. Raises ApiError."""
    if not content:
        raise ApiError("required", gettext("Write a message first."), field="content")
    if len(content) > LONGEST_MESSAGE:
        raise ApiError("too_long", _too_long(len(content)), field="content")
    check_value({"content": content})
    return content


def _too_long(count: int, *, most: int = LONGEST_MESSAGE) -> str:
    numbers = {"count": count, "most": most, "over": count - most}
    shown = {name: number_format(number, force_grouping=True) for name, number in numbers.items()}
    return gettext("Too long: %(count)s of %(most)s characters. Remove %(over)s to send.") % shown


def _slow_down(request: HttpRequest, wait: float) -> HttpResponse:
    response = _render(request, "slow.html", status=429)
    response["Retry-After"] = str(math.ceil(wait))
    return response


def _render(
    request: HttpRequest, template: str, context: dict[str, object] | None = None, *, status: int = 200
) -> HttpResponse:
    """Render the page in the active language, or in the browser's if the customer is unknown."""
    with override(get_language() if context else get_language_from_request(request)):
        response = render(request, f"portal/{template}", context, status=status)
    response["X-Robots-Tag"] = "noindex, nofollow"
    # The URL is a secret and must not leak as a referrer. "no-referrer" would also remove the origin of the page's own
    # forms.
    response["Referrer-Policy"] = "strict-origin"
    return response
