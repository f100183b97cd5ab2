"""The addresses that messengers post to. They answer at once: nothing waits for a network or a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.core.files.uploadhandler import FileUploadHandler
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from conversations.channels.email import KIND as EMAIL
from conversations.channels.incoming import ForeignWebhook, accept_webhook, open_connection
from conversations.channels.provider import MalformedWebhook, WebhookRequest
from conversations.channels.registry import PROVIDERS
from conversations.channels.whatsapp import KIND as WHATSAPP
from conversations.channels.whatsapp import is_challenge_genuine
from projects.common.api_error import ApiError
from projects.connections.twilio import SOURCE
from tenancy.tenant_lookup import find_source

MAX_BODY_BYTES = 1_048_576
FORMS = ("multipart/form-data", "application/x-www-form-urlencoded")


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
    return _accept(kind, _webhook(request), source_id or _source_named(request))


@csrf_exempt
@require_POST
def email(request: HttpRequest, source_id: UUID) -> HttpResponse:
    """Store an e-mail that a provider posts. Of its files, only the names are read."""
    form, files, body = list[tuple[str, str]](), FileNames(request), b""
    try:
        if request.content_type in FORMS:
            request.upload_handlers = [files]
            form = [(name, value) for name, values in request.POST.lists() for value in values]
        else:
            # Longer than Django reads by itself; `BodyLimit` has bounded it.
            body = request.read()
    except (RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent, MultiPartParserError) as error:
        return _refused(422, "invalid", f"The form can’t be read: {error}")
    except UnreadablePostError:
        return _refused(400, "invalid", "The webhook ended before its length.")
    return _accept(EMAIL, replace(_webhook(request, body), form=form, files=files.names), source_id)


def _accept(kind: str, webhook: WebhookRequest, source_id: UUID | None) -> HttpResponse:
    try:
        stored = accept_webhook(kind, webhook, source_id=source_id)
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


def _source_named(request: HttpRequest) -> UUID | None:
    """The connection in the address that Twilio was given for a message's status."""
    try:
        return UUID(request.GET.get(SOURCE, ""))
    except ValueError:
        return None


class FileNames(FileUploadHandler):
    """Reads the names of a form's files, and none of their contents."""

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request)
        self.names: list[str] = []

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self.names.append(self.file_name or "")

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        """Drops the contents."""

    def file_complete(self, file_size: int) -> None:
        """Keeps no file."""


def _webhook(request: HttpRequest, body: bytes | None = None) -> WebhookRequest:
    headers = {name.lower(): value for name, value in request.headers.items()}
    public = f"{settings.BASE_URL}{request.get_full_path()}"
    return WebhookRequest(request.body if body is None else body, headers, request.build_absolute_uri(), public)


def _refused(status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> HttpResponse:
    error = {"code": code, "message": message, "field": None, "request_id": ""}
    return JsonResponse({"error": error}, status=status, headers=headers)
