"""A POST that may be repeated: the same Idempotency-Key gets the first answer again (M1, M2)."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable
from functools import wraps
from typing import Any, cast
from uuid import UUID

from django.db import OperationalError, connection, connections
from django.http import HttpRequest
from psycopg.errors import LockNotAvailable
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from projects.api.views import TenantView
from projects.common.api_error import ApiError
from projects.models import IdempotentRequest
from tenancy.ids import uuid7
from tenancy.scope import current_organization_id

Handler = Callable[..., Response]

VISIBLE = re.compile(r"[\x21-\x7e]{1,255}")
REPLAYED = "Idempotent-Replayed"
KEPT_HOURS = 24
DELETED_AT_ONCE = 5_000

# Materialized: as a subquery it might be run again for each row, each time with another few.
_DELETE = """
with old as materialized (
    select id from projects_idempotentrequest where id < %s order by id limit %s for update skip locked)
delete from projects_idempotentrequest r using old where r.id = old.id
"""

# Another request with this key holds the row until it commits: wait for it, but not for long. Whatever the work itself has to
# wait for has nothing to do with the key, and waits as it would without one.
CLAIM = """
with patience as (select set_config('lock_timeout', '3s', true))
insert into projects_idempotentrequest (id, organization_id, project_id, key, body_hash, created_at)
select %s, %s, %s, %s, %s, now() from patience
on conflict do nothing returning id, set_config('lock_timeout', '0', true)
"""


def idempotent(handler: Handler) -> Handler:
    """Wraps a TenantView's `post`. With the header, the work and its answer commit together, once per key and project.

    Answers: the stored one with `Idempotent-Replayed: true`; 400 for a key that isn't 1–255 visible ASCII characters;
    422 when the key came with another body; 409 while the first request runs. Only answers below 400 are kept.
    """

    @wraps(handler)
    def answer_once(view: TenantView, request: Request, *args: Any, **kwargs: Any) -> Response:
        key = _key_of(request)
        if key is None:
            return handler(view, request, *args, **kwargs)
        body_hash = _hash_of(request)
        claimed = _claim(view.project.pk, key=key, body_hash=body_hash)
        if claimed is None:
            stored = _stored(view.project.pk, key=key, body_hash=body_hash)
            response = view.replay(stored.answer, status=stored.status or 200)
            response[REPLAYED] = "true"
            return response
        response = handler(view, request, *args, **kwargs)
        _keep(claimed, response.data, status=response.status_code)
        return response

    answer_once.is_idempotent = True  # type: ignore[attr-defined]  # the schema reads it
    return answer_once


def once(
    project_id: UUID,
    request: HttpRequest,
    words: str,
    work: Callable[[], dict[str, Any]],
    *,
    key: str | None = None,
) -> dict[str, Any]:
    """The same for a page, in the running transaction: the answer of the work, as JSON, or the one that its Idempotency-Key
    had, or the `key` of its form where no script has sent one. `words` are what the request says. Raises ApiError as above.
    """
    key = _checked_key(request.headers.get("Idempotency-Key", key))
    if key is None:
        return work()
    body_hash = hashlib.sha256(f"{request.path}\n{words}".encode()).hexdigest()
    claimed = _claim(project_id, key=key, body_hash=body_hash)
    if claimed is None:
        return cast(dict[str, Any], _stored(project_id, key=key, body_hash=body_hash).answer)
    answer = work()
    _keep(claimed, answer, status=202)
    return answer


def delete_old_answers() -> int:
    """Forget keys older than a day, up to 5,000 of them, in all tenants. Returns how many; call again for the rest."""
    newest = _first_id_at(time.time() - KEPT_HOURS * 3600)
    with connections["ops"].cursor() as cursor:
        cursor.execute(_DELETE, [newest, DELETED_AT_ONCE])
        return int(cursor.rowcount)


def _key_of(request: Request) -> str | None:
    return _checked_key(request.headers.get("Idempotency-Key"))


def _checked_key(key: str | None) -> str | None:
    if key is not None and not VISIBLE.fullmatch(key):
        message = f"Idempotency-Key must be 1 to 255 visible ASCII characters; it has {len(key)}."
        raise ApiError("invalid_idempotency_key", message, field="Idempotency-Key")
    return key


def _hash_of(request: Request) -> str:
    address = f"{request.method} {request.path}\n"
    return hashlib.sha256(address.encode() + request._request.body).hexdigest()


def _claim(project_id: UUID, *, key: str, body_hash: str) -> UUID | None:
    """The new row's id, or None when the key was answered before. Raises ApiError 409 when it is being answered."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(CLAIM, [uuid7(), current_organization_id(), project_id, key, body_hash])
            row = cursor.fetchone()
    except OperationalError as error:
        if isinstance(error.__cause__, LockNotAvailable):
            raise _in_progress() from error
        raise
    return row[0] if row else None


def _stored(project_id: UUID, *, key: str, body_hash: str) -> IdempotentRequest:
    """The first request with this key, answered. Raises ApiError."""
    stored = IdempotentRequest.objects.filter(project_id=project_id, key=key).first()
    if stored is None or stored.status is None:
        raise _in_progress()
    if stored.body_hash != body_hash:
        message = "This Idempotency-Key was used with another body or address; use a new one."
        raise ApiError("idempotency_key_reused", message, field="Idempotency-Key", status=422)
    return stored


def _keep(claimed: UUID, answer: Any, *, status: int) -> None:
    row = IdempotentRequest.objects.filter(pk=claimed)
    if status >= 400:
        row.delete()
        return
    row.update(status=status, answer=json.loads(JSONRenderer().render(answer) or b"null"))


def _in_progress() -> ApiError:
    message = "A request with this Idempotency-Key is still running. Try again in a moment."
    return ApiError("request_in_progress", message, field="Idempotency-Key", status=409, headers={"Retry-After": "1"})


def _first_id_at(seconds: float) -> UUID:
    """Below every id that was made from this moment on."""
    return UUID(int=int(seconds * 1000) << 80)
