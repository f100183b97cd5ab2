"""The addresses that messengers post to. They answer at once: nothing waits for a network or a model."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from conversations.channels.incoming import ForeignWebhook, accept_webhook, open_connection
from conversations.channels.provider import MalformedWebhook, WebhookRequest
from conversations.channels.registry import PROVIDERS
from conversations.channels.whatsapp import KIND as WHATSAPP
from conversations.channels.whatsapp import is_challenge_genuine
from projects.common.api_error import ApiError
from tenancy.tenant_lookup import find_source

MAX_BODY_BYTES = 1_048_576


@csrf_exempt
@require_POST
def messenger(request: HttpRequest, source_id: UUID | None = None, *, kind: str) -> HttpResponse:
    """Store what a provider delivers, and answer 200 once it is stored, also if it was before.

    Any other status makes the provider deliver it again.
    """
    size = request.headers.get("Content-Length") or "0"
    # Without a length, the body is checked once it is read.
    if not size.isdecimal() or int(size) > MAX_BODY_BYTES or len(request.body) > MAX_BODY_BYTES:
        return _refused(413, "too_large", f"A webhook has a length of at most {MAX_BODY_BYTES} bytes.")
    try:
        stored = accept_webhook(kind, _webhook(request), source_id=source_id)
    except ForeignWebhook as error:
        return _refused(401, "bad_signature", str(error))
    except MalformedWebhook as error:
        return _refused(422, "invalid", str(error))
    except ApiError as error:
        return _refused(error.status_code, error.code, error.message, headers=error.headers)
    except (OperationalError, InterfaceError):
        return _refused(503, "unavailable", "The database is unavailable. Deliver it again later.")
    body, content_type = PROVIDERS[kind].receipt
    return HttpResponse(body, content_type=content_type, headers={"X-Stored": str(stored)})


@csrf_exempt
@require_http_methods(["GET", "POST"])
def whatsapp(request: HttpRequest, source_id: UUID) -> HttpResponse:
    """Meta's deliveries, and its question for the token when the webhook is entered."""
    if request.method == "POST":
        return messenger(request, source_id, kind=WHATSAPP)
    ref = find_source(source_id, WHATSAPP)
    connection = open_connection(ref, WHATSAPP) if ref else None
    token, challenge = request.GET.get("hub.verify_token", ""), request.GET.get("hub.challenge", "")
    if connection is None or request.GET.get("hub.mode") != "subscribe" or not is_challenge_genuine(connection, token):
        return _refused(403, "bad_token", "The verify token isn't that of the connection.")
    return HttpResponse(challenge[:500], content_type="text/plain", headers={"X-Content-Type-Options": "nosniff"})


def _webhook(request: HttpRequest) -> WebhookRequest:
    headers = {name.lower(): value for name, value in request.headers.items()}
    public = f"{settings.BASE_URL}{request.get_full_path()}"
    return WebhookRequest(request.body, headers, request.build_absolute_uri(), public)


def _refused(status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> HttpResponse:
    error = {"code": code, "message": message, "field": None, "request_id": ""}
    return JsonResponse({"error": error}, status=status, headers=headers)
