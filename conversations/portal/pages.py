"""The page behind a portal link, its form, and its stream."""

from __future__ import annotations

import hashlib
import math
import secrets
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.formats import number_format
from django.utils.translation import get_language, get_language_from_request, gettext, override
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from conversations.common.presenters import message_payload
from conversations.common.translations import language_of
from conversations.live.stream import StreamCursor, writing_in
from conversations.portal.chat_start import Beginning, beginning_of, frames_until_another, frames_until_begun
from conversations.portal.session import (
    Visit,
    ask_for_person,
    bookings_to_come,
    open_visit,
    place_of,
    proof_asked_of,
    say,
    transcript_of,
)
from conversations.widget.event_filter import for_customer, message_shown
from projects.api.idempotency import run_once
from projects.api.parsers import check_value
from projects.api.throttling import seconds_to_wait
from projects.common.api_error import ApiError
from tenancy.scope import tenant_tx
from tenancy.threads import in_db

LOOKS_PER_MINUTE, MESSAGES_PER_MINUTE = 90, 20
LONGEST_MESSAGE = 4_000
LONGEST_KEY = 64
# The fields of the page's forms that say something.
SAID = {"content", "proof", "code", "escalation"}


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def portal(request: HttpRequest, token: str) -> HttpResponse:
    """The customer's page; a POST says something. 404 for a link that we never signed, or that is over."""
    if wait := seconds_to_wait(f"portal:{request.META.get('REMOTE_ADDR', '')}", per_minute=LOOKS_PER_MINUTE):
        return _slow_down(request, wait)
    try:
        place_of(token)
    except Http404:
        return _answer(request, "over.html", status=404)
    if request.method == "POST":
        return _say(request, token)
    return _show(request, token)


def _show(request: HttpRequest, token: str, *, typed: str = "") -> HttpResponse:
    """The page; `typed` is what was refused, and stands in its field still."""
    place = place_of(token)
    with tenant_tx(place.organization_id):
        visit = open_visit(place)
        with override(_language(request, visit)):
            return _page(request, visit, token, typed=typed)


def _page(request: HttpRequest, visit: Visit, token: str, *, typed: str) -> HttpResponse:
    transcript, coming = transcript_of(visit), bookings_to_come(visit)
    if request.headers.get("Accept") == "application/json":
        return JsonResponse({"is_known": visit.is_known, "bookings": [asdict(booking) for booking in coming]})
    chat = transcript.chat
    context = {
        "token": token,
        "business": visit.business,
        "is_known": visit.is_known,
        "proof": proof_asked_of(visit),
        "said": transcript.said,
        "chat": chat.pk if chat else "",
        "last_event": chat.last_event if chat else 0,
        "is_writing": chat is not None and writing_in(chat) is not None,
        "bookings": coming,
        "past": transcript.past,
        "longest": LONGEST_MESSAGE,
        "typed": typed,
        "key": secrets.token_hex(16),
    }
    return _answer(request, "page.html", context, status=422 if typed else 200)


async def events(request: HttpRequest, token: str) -> HttpResponseBase:
    """The chat as server-sent events, without what is none of the customer's; while there is none, that one begins.

    The page names the chat whose events it knows: of any other all is told. It may be another by now (D14, D25).
    """
    if request.method != "GET":
        return HttpResponse(status=405, headers={"Allow": "GET"})
    after = request.headers.get("Last-Event-ID") or request.GET.get("after", "")
    found = await in_db(_place, token, after, request.GET.get("chat", ""))
    place = place_of(token)
    frames = frames_until_another(place, found) if isinstance(found, StreamCursor) else frames_until_begun(place, found)
    stream = for_customer(frames)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingHttpResponse(stream, content_type="text/event-stream", headers=headers)


def _place(token: str, after: str, named: str) -> StreamCursor | Beginning:
    found = place_of(token)
    with tenant_tx(found.organization_id):
        chat = open_visit(found).chat()
        if chat is None:
            return beginning_of(found)
        is_known = after.isascii() and after.isdigit() and len(after) < 10 and int(after) <= chat.last_event
        is_known = is_known and named == str(chat.pk)
        return StreamCursor(found.organization_id, chat.pk, after=int(after) if is_known else 0, is_reset=not is_known)


def _say(request: HttpRequest, token: str) -> HttpResponse:
    """Store what was written, and answer with it, or with the page where no script asked."""
    place, wants_json = place_of(token), request.headers.get("Accept") == "application/json"
    if wait := seconds_to_wait(f"portal:{place.persona_id}", per_minute=MESSAGES_PER_MINUTE):
        return _slow_down(request, wait)
    try:
        with tenant_tx(place.organization_id):
            visit = open_visit(place)
            words = "\n".join(f"{name}: {request.POST[name]}" for name in sorted(SAID & request.POST.keys()))
            # What was stored though its answer was lost is sent once more by the page, and stands once; so does what a form
            # without the script sends twice.
            language = _language(request, visit)
            take = partial(_take, visit, request.POST, language)
            answer = run_once(visit.project.pk, request, words, take, key=_key_in_form(request.POST, words))
    except ApiError as error:
        if wants_json:
            document = {"code": error.code, "message": error.message, "field": error.field}
            return JsonResponse({"error": document}, status=error.status_code)
        messages.error(request, error.message)
        typed = _written(request.POST)
        return _show(request, token, typed=typed) if typed else redirect("portal", token)
    if wants_json:
        return JsonResponse(answer, status=202)
    if "escalation" in request.POST:
        with override(language):
            messages.success(request, gettext("A colleague was asked to take over and will reply here."))
    return redirect("portal", token)


def _key_in_form(posted: Mapping[str, str], words: str) -> str | None:
    """The form's own key for these words: others that are sent from the same page, come back to, are a message of their own."""
    key = posted.get("key", "")[:LONGEST_KEY]
    return f"{key}.{hashlib.sha256(words.encode()).hexdigest()[:32]}" if key else None


def _take(visit: Visit, posted: Mapping[str, str], language: str) -> dict[str, Any]:
    """A message, or the wish for the person whom the agent offered. Raises ApiError with a sentence."""
    with override(language):
        if "escalation" in posted:
            return {"state": ask_for_person(visit, posted["escalation"]).state}
        content = _checked(_said_by(posted))
    made = say(visit, content)
    return {"message": message_shown(message_payload(made.message)), "chat": str(made.conversation.pk)}


def _said_by(posted: Mapping[str, str]) -> str:
    """What is said in the chat: what was written, or what the form of the proof says for the customer.

    In the chat, so that the agent asks and checks as it does everywhere, with the tools' own limits and ledger (D14).
    """
    if proof := posted.get("proof", "").strip():
        sentence = gettext("I would like to see my bookings. What you have on file for me is %(proof)s")
        return sentence % {"proof": proof}
    if "code" in posted:
        return gettext("I would like to see my bookings. Please send me a code by text.")
    return _written(posted)


def _written(posted: Mapping[str, str]) -> str:
    """What stood in the chat's field, with the lines as they were written: a form sends two characters for each break."""
    return posted.get("content", "").replace("\r\n", "\n").strip()


def _checked(content: str) -> str:
    """What may be stored. Raises ApiError."""
    if not content:
        raise ApiError("required", gettext("Write a message first."), field="content")
    if len(content) > LONGEST_MESSAGE:
        raise ApiError("too_long", _too_long(len(content)), field="content")
    check_value({"content": content})
    return content


def _too_long(count: int) -> str:
    numbers = {"count": count, "most": LONGEST_MESSAGE, "over": count - LONGEST_MESSAGE}
    shown = {name: number_format(number, force_grouping=True) for name, number in numbers.items()}
    return gettext("Too long: %(count)s of %(most)s characters. Remove %(over)s to send.") % shown


def _slow_down(request: HttpRequest, wait: float) -> HttpResponse:
    response = _answer(request, "slow.html", status=429)
    response["Retry-After"] = str(math.ceil(wait))
    return response


def _language(request: HttpRequest, visit: Visit) -> str:
    persona = visit.persona
    return language_of(persona.pk, project_id=persona.project_id, asked=get_language_from_request(request))


def _answer(
    request: HttpRequest, template: str, context: dict[str, object] | None = None, *, status: int = 200
) -> HttpResponse:
    """The page in the active language, or in the browser's for a visitor nothing is known of."""
    with override(get_language() if context else get_language_from_request(request)):
        response = render(request, f"portal/{template}", context, status=status)
    response["X-Robots-Tag"] = "noindex, nofollow"
    # The address is a key: nobody is told it, not even we. With less than this a browser's own forms have no origin (null).
    response["Referrer-Policy"] = "strict-origin"
    return response
