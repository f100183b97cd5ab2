"""The address for the provider's webhooks."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from conversations.calls.arrival import ForeignWebhook, MalformedCall
from conversations.calls.incoming import accept_webhook
from projects.common.middleware import request_id_of

MAX_BODY_BYTES = 65_536


@csrf_exempt
@require_POST
def openai_calls(request: HttpRequest) -> HttpResponse:
    """Store the call that rings. The answer waits for no network, so that the provider never times out."""
    # Without a length, the body is checked once it is read.
    size = request.headers.get("Content-Length") or "0"
    if not size.isdecimal() or int(size) > MAX_BODY_BYTES or len(request.body) > MAX_BODY_BYTES:
        return _refused(request, 413, "too_large", f"A webhook has a length of at most {MAX_BODY_BYTES} bytes.")
    try:
        call = accept_webhook(request.body, request.headers)
    except ForeignWebhook as error:
        return _refused(request, 401, "bad_signature", str(error))
    except MalformedCall as error:
        return _refused(request, 422, "invalid", str(error))
    return JsonResponse({"call": str(call.pk) if call else None})


def _refused(request: HttpRequest, status: int, code: str, message: str) -> HttpResponse:
    return JsonResponse(
        {"error": {"code": code, "message": message, "field": None, "request_id": request_id_of(request)}},
        status=status,
    )
