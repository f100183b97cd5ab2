"""The addresses for Twilio's webhooks of calls. Each answers with instructions for the call (TwiML)."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from conversations.calls.arrival import ForeignWebhook, MalformedCall
from conversations.calls.relay.twiml import CONTENT_TYPE, address_of
from conversations.calls.relay.webhooks import SignedRequest, answer_call, go_on, note_dialed
from conversations.turns.admission import TooManyOpen
from projects.connections.twilio import SIGNATURE

MAX_BODY_BYTES = 65_536


@csrf_exempt
@require_POST
def call_arrived(request: HttpRequest) -> HttpResponse:
    """A call rings: store it, and say how it is answered. The answer waits for no network."""
    return _answer(request, answer_call)


@csrf_exempt
@require_POST
def session_ended(request: HttpRequest) -> HttpResponse:
    """A call's session ended: say how the call goes on."""
    return _answer(request, go_on)


@csrf_exempt
@require_POST
def dial_ended(request: HttpRequest) -> HttpResponse:
    """A transfer ended, or nobody took it."""
    return _answer(request, note_dialed)


def _answer(request: HttpRequest, act: Callable[[SignedRequest], str]) -> HttpResponse:
    if len(request.body) > MAX_BODY_BYTES:
        return _refused(413, f"A webhook has a length of at most {MAX_BODY_BYTES} bytes.")
    form = {name: request.POST.getlist(name) for name in request.POST}
    if any("\0" in text for values in form.values() for text in values):
        return _refused(422, "A field holds a NUL character.")
    signed = SignedRequest(address_of(request.get_full_path()), form, request.headers.get(SIGNATURE, ""))
    try:
        return HttpResponse(act(signed), content_type=CONTENT_TYPE)
    except ForeignWebhook as error:
        return _refused(401, str(error))
    except (MalformedCall, TooManyOpen) as error:
        return _refused(422, str(error))


def _refused(status: int, message: str) -> HttpResponse:
    return HttpResponse(message, status=status, content_type="text/plain")
