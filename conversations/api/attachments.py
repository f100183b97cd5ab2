"""Uploads for operators' answers and customers' messages, and the public address of each file."""

from __future__ import annotations

import logging
from typing import Any, ClassVar
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.http import content_disposition_header
from django.utils.translation import gettext
from django.views.decorators.http import require_safe
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request

from conversations.api.byte_ranges import in_range
from conversations.api.operators import OperatorView
from conversations.api.views import ConversationView
from conversations.common.attachment_links import AttachmentTarget, read_attachment_token
from conversations.common.payloads import AttachmentPayload
from conversations.common.presenters import attachment_payload
from conversations.files.contents import content_of, fetch
from conversations.files.places import FileGone, FilesUnavailable
from conversations.handover.attachments import stored_attachment, upload
from conversations.handover.customer_files import upload_from_customer, uploaded_payload
from conversations.models import Attachment, Conversation
from projects.api.idempotency import idempotent
from projects.api.typed_responses import Created
from projects.api.uploads import keep_body
from projects.models.key import Scope
from tenancy.scope import tenant_tx
from tenancy.threads import in_db

log = logging.getLogger(__name__)

NAME = OpenApiParameter("name", OpenApiTypes.STR, description="the file's name; its ending follows from its content")
FULL = {409: OpenApiResponse(description="Too many files of the conversation wait to be sent.")}
# The file is opened on its own, without a page around it.
CACHED_SECONDS = 3600
HEADERS = {
    "Cache-Control": f"private, max-age={CACHED_SECONDS}",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    # Shown in the widget, on pages of another origin.
    "Cross-Origin-Resource-Policy": "cross-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
}
AWAY = {"Cache-Control": "no-store", "Retry-After": "10"}


class UploadView(ConversationView):
    """Views whose body is a file. A repeated Idempotency-Key stores it once."""

    queries: ClassVar = {"POST": (NAME,)}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        keep_body(request)


class Attachments(UploadView, OperatorView):
    @extend_schema(
        operation_id="attachments_upload",
        request={"application/octet-stream": OpenApiTypes.BINARY},
        responses=FULL,
    )
    @idempotent
    def post(self, request: Request, conversation_id: UUID) -> Created[AttachmentPayload]:
        """Uploads a file for an answer. The body is the file: an image (PNG, JPEG, GIF, WebP), a PDF or a UTF-8 text of
        at most 10 MB. Its type is recognized by its content.

        Name its `id` in `attachments` of an operator message to send it. A file that is not sent within a day is
        deleted.
        """
        row = self.bare_conversation(conversation_id)
        stored = upload(row, request._request.body, name=request.query_params.get("name", ""), by=self.operator)
        return Created(attachment_payload(stored_attachment(stored), stored.organization_id))


class MessageAttachments(UploadView):
    scopes: ClassVar = {"POST": Scope.CONVERSE}

    @extend_schema(
        operation_id="message_attachments_upload",
        request={"application/octet-stream": OpenApiTypes.BINARY},
        responses=FULL,
    )
    @idempotent
    def post(self, request: Request, conversation_id: UUID) -> Created[AttachmentPayload]:
        """Uploads a file for a customer's message. The body is the file: an image (PNG, JPEG, GIF, WebP), a PDF or a
        UTF-8 text of at most 10 MB. Its type is recognized by its content.

        Name its `id` in `attachments` of a message to send it. A file that is not sent within a day is deleted.
        """
        self.require_write_access(conversation_id)
        row = self.bare_conversation(conversation_id)
        try:
            stored = upload_from_customer(row, request._request.body, name=request.query_params.get("name", ""))
        except Conversation.DoesNotExist as error:
            raise Http404 from error
        return Created(uploaded_payload(stored))


@require_safe
async def attachment_file(request: HttpRequest, token: str) -> HttpResponse:
    """The file of a signed address. Images are shown, audio and videos played, everything else is downloaded."""
    target = read_attachment_token(token)
    found = await in_db(_find, target) if target else None
    if found is None:
        raise Http404
    try:
        return in_range(request, file_response(found, await fetch(content_of(found))))
    except FileGone:
        raise Http404 from None
    except FilesUnavailable as error:
        log.warning("A file could not be read: %s", error)
        return _away()


def _away() -> HttpResponse:
    """The response while the storage of the file doesn't answer."""
    sentence = gettext("The file can’t be opened at the moment. Try again in a minute.")
    return HttpResponse(sentence, status=503, content_type="text/plain; charset=utf-8", headers=AWAY)


def _find(target: AttachmentTarget) -> Attachment | None:
    with tenant_tx(target.organization_id):
        return Attachment.objects.select_related("object").filter(pk=target.attachment_id).first()


def file_response(found: Attachment, content: bytes) -> HttpResponse:
    """The file with headers that let no browser take it for a page."""
    is_shown = found.content_type.startswith(("image/", "audio/", "video/"))
    content_type = (
        f"{found.content_type}; charset=utf-8" if found.content_type.startswith("text/") else found.content_type
    )
    response = HttpResponse(content, content_type=content_type, headers=HEADERS)
    response.headers["Content-Disposition"] = content_disposition_header(not is_shown, found.name) or "inline"
    return response
