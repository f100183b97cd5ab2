"""Files on the customer's page: uploaded one by one by its script, or sent with the form."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import partial
from typing import Any
from uuid import UUID

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import get_language_from_request, gettext, override
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from conversations.common.translations import language_of
from conversations.handover.attachments import MAX_BYTES, MAX_PER_ANSWER
from conversations.handover.customer_files import TooManyUploads, check_takes_files, upload_for_next_message
from conversations.handover.file_types import clean_name
from conversations.portal.session import Visit, open_visit, place_of
from projects.api.idempotency import run_once
from projects.api.throttling import seconds_to_wait
from projects.common.api_error import ApiError, Unprocessable
from tenancy.scope import tenant_tx

UPLOADS_PER_MINUTE = 20


@never_cache
@require_POST
def upload(request: HttpRequest, token: str) -> HttpResponse:
    """Store a file for the customer's next message. The body is the file, `name` in the query is its name."""
    place = place_of(token)
    try:
        with tenant_tx(place.organization_id):
            visit = open_visit(place)
            with override(language_in(request, visit)):
                _admit(str(place.persona_id))
                content = request.read()
                digest = hashlib.sha256(content).hexdigest()
                store = partial(_stored, visit, content, name=request.GET.get("name", ""))
                caller = f"persona:{place.persona_id}"
                return JsonResponse(run_once(visit.project.pk, request, digest, store, caller=caller), status=201)
    except ApiError as error:
        document = {"code": error.code, "message": error.message, "field": error.field}
        return JsonResponse({"error": document}, status=error.status_code, headers=error.headers)


def read_files(request: HttpRequest, visit: Visit) -> list[UUID]:
    """The files of a submitted message, in order: those its script uploaded, and those in the form, which are stored.

    Raises ApiError in the active language.
    """
    named = [_id_of(text) for text in request.POST.getlist("attachments")]
    sent = list(_files_of(request))
    if len(named) + len(sent) > MAX_PER_ANSWER:
        sentence = gettext("A message can have up to %(most)s files.") % {"most": MAX_PER_ANSWER}
        raise Unprocessable("too_many_files", sentence, field="attachments")
    stored = [UUID(_stored(visit, _content_of(file), name=file.name or "")["id"]) for file in sent]
    return [*named, *stored]


def describe_files(request: HttpRequest) -> str:
    """The files of a form as text. Two forms with the same are the same message."""
    named = request.POST.getlist("attachments")
    return "\n".join([*named, *(f"{file.name} {file.size} {_digest(file)}" for file in _files_of(request))])


def file_gone() -> Unprocessable:
    """The error for a file that was sent before, is another's, or was deleted after a day."""
    sentence = gettext("A file is no longer there. Attach it again.")
    return Unprocessable("invalid_attachment", sentence, field="attachments")


def language_in(request: HttpRequest, visit: Visit) -> str:
    """The language that the customer reads: the one they write, or else their browser's."""
    persona = visit.persona
    return language_of(persona.pk, project_id=persona.project_id, asked=get_language_from_request(request))


def _admit(persona_id: str) -> None:
    """Admit an upload of this customer. Raises TooManyUploads."""
    if wait := seconds_to_wait(f"portal_upload:{persona_id}", per_minute=UPLOADS_PER_MINUTE):
        raise TooManyUploads(wait)


def _stored(visit: Visit, content: bytes, *, name: str) -> dict[str, Any]:
    check_takes_files(visit.project)
    return {**upload_for_next_message(visit.project, visit.persona.external_id, content, name=name)}


def _files_of(request: HttpRequest) -> Iterator[UploadedFile[Any]]:
    """The chosen files. Browsers send an empty one without a name if none is chosen."""
    return (file for file in request.FILES.getlist("files") if file.name or file.size)


def _content_of(file: UploadedFile[Any]) -> bytes:
    if (file.size or 0) > MAX_BYTES:
        numbers = {"shown": clean_name(file.name or ""), "value": MAX_BYTES // 1024 // 1024}
        raise Unprocessable("file_too_large", gettext("%(shown)s is larger than %(value)s MB.") % numbers)
    file.seek(0)
    return bytes(file.read())


def _digest(file: UploadedFile[Any]) -> str:
    file.seek(0)
    return hashlib.sha256(file.read()).hexdigest()


def _id_of(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise file_gone() from None
