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
from conversations.channels.media import MOST_BYTES
from conversations.channels.provider import FormFile, MalformedWebhook, WebhookRequest
from conversations.channels.registry import PROVIDERS
from conversations.channels.whatsapp import KIND as WHATSAPP
from conversations.channels.whatsapp import is_challenge_genuine
from conversations.handover.attachments import MAX_BYTES
from projects.api.body_limit import MAIL_LIMIT
from projects.common.api_error import ApiError
from projects.common.middleware import request_id_of
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
        return _refused(request, 413, "too_large", f"A webhook has a length of at most {MAX_BODY_BYTES} bytes.")
    return _accept(request, kind, _webhook(request), source_id or _source_named(request))


@csrf_exempt
@require_POST
def email(request: HttpRequest, source_id: UUID) -> HttpResponse:
    """Store an e-mail that a provider posts. One over the limit has lost its end."""
    form, files, body = list[tuple[str, str]](), FormFiles(request), b""
    try:
        if request.content_type in FORMS:
            request.upload_handlers = [files]
            form = [(name, value) for name, values in request.POST.lists() for value in values]
        else:
            # Longer than Django reads by itself; `BodyLimit` has bounded it.
            body = request.read()
    except (RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent, MultiPartParserError) as error:
        return _refused(request, 422, "invalid", f"The form can’t be read: {error}")
    except UnreadablePostError:
        return _refused(request, 400, "invalid", "The webhook ended before its length.")
    is_cut = (request.headers.get("Content-Length") or "0") == str(MAIL_LIMIT)
    webhook = replace(_webhook(request, body), form=form, files=files.whole(is_cut=is_cut), is_cut=is_cut)
    return _accept(request, EMAIL, webhook, source_id)


def _accept(request: HttpRequest, kind: str, webhook: WebhookRequest, source_id: UUID | None) -> HttpResponse:
    try:
        stored = accept_webhook(kind, webhook, source_id=source_id)
    except ForeignWebhook as error:
        return _refused(request, 401, "bad_signature", str(error))
    except MalformedWebhook as error:
        return _refused(request, 422, "invalid", str(error))
    except ApiError as error:
        return _refused(request, error.status_code, error.code, error.message, headers=error.headers)
    except (OperationalError, InterfaceError):
        return _refused(request, 503, "unavailable", "The database is unavailable. Deliver it again later.")
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
        return _refused(request, 403, "bad_token", "The verify token isn't that of the connection.")
    return HttpResponse(challenge[:500], content_type="text/plain", headers={"X-Content-Type-Options": "nosniff"})


def _source_named(request: HttpRequest) -> UUID | None:
    """The connection in the address that Twilio was given for a message's status."""
    try:
        return UUID(request.GET.get(SOURCE, ""))
    except ValueError:
        return None


class FormFiles(FileUploadHandler):
    """Reads the files of a form, in memory, as far as they may be kept."""

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request)
        self._files: list[FormFile] = []
        self._chunks: list[bytes] = []
        self._room = MOST_BYTES

    def whole(self, *, is_cut: bool) -> list[FormFile]:
        """The files. The last one of a form whose end is missing isn't whole."""
        return [replace(one, content=None) if is_cut else one for one in self._files]

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self._chunks, self._size = [], 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self._size += len(raw_data)
        if self._size <= min(MAX_BYTES, self._room):
            self._chunks.append(raw_data)
        else:
            self._chunks = []

    def file_complete(self, file_size: int) -> None:
        """Keeps the file, and gives Django none."""
        content = b"".join(self._chunks) if self._size <= min(MAX_BYTES, self._room) else None
        self._room -= len(content or b"")
        declared = (self.content_type or "").lower()
        self._files.append(FormFile(self.field_name or "", self.file_name or "", declared, self._size, content))


def _webhook(request: HttpRequest, body: bytes | None = None) -> WebhookRequest:
    headers = {name.lower(): value for name, value in request.headers.items()}
    public = f"{settings.BASE_URL}{request.get_full_path()}"
    return WebhookRequest(request.body if body is None else body, headers, request.build_absolute_uri(), public)


def _refused(
    request: HttpRequest, status: int, code: str, message: str, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    error = {"code": code, "message": message, "field": None, "request_id": request_id_of(request)}
    return JsonResponse({"error": error}, status=status, headers=headers)
