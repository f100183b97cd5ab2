"""Idempotent POST requests: a repeated Idempotency-Key returns the stored response."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
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

KEY_FORMAT = re.compile(r"[\x21-\x7e]{1,255}")
REPLAYED_HEADER = "Idempotent-Replayed"
RETENTION_HOURS = 24
DELETE_BATCH = 5_000

# Materialized, because a plain subquery may run once per row and select other rows each time.
_DELETE = """
with old as materialized (
    select id from projects_idempotentrequest where id < %s order by id limit %s for update skip locked)
delete from projects_idempotentrequest r using old where r.id = old.id
"""

# Another request with this key holds the row until it commits, so this one waits briefly. The timeout is reset afterwards: it
# must not apply to locks that the work itself takes.
CLAIM = """
with patience as (select set_config('lock_timeout', '3s', true))
insert into projects_idempotentrequest (id, organization_id, project_id, caller, key, body_hash, created_at)
select %s, %s, %s, %s, %s, %s, now() from patience
on conflict do nothing returning id, set_config('lock_timeout', '0', true)
"""


@dataclass(frozen=True)
class OwnKey:
    """An Idempotency-Key of one caller, and what it is bound to. Others may send the same text, and never get its
    response.
    """

    project_id: UUID
    caller: str
    key: str
    body_hash: str


def idempotent(handler: Handler) -> Handler:
    """Decorator for a TenantView's `post`. With the header, the work and its response commit together, once per project,
    caller and key.

    A repeated request gets the stored response with `Idempotent-Replayed: true`. Errors: 400 for a key that isn't 1–255
    visible ASCII characters, 422 if the key was used with another body, 409 while the first request is running. Only
    responses below 400 are stored.
    """

    @wraps(handler)
    def wrapper(view: TenantView, request: Request, *args: Any, **kwargs: Any) -> Response:
        own = own_key(view, request)
        if own is None:
            return handler(view, request, *args, **kwargs)
        claimed = _claim(own)
        if claimed is None:
            return _replayed(view, _load_response(own))
        response = handler(view, request, *args, **kwargs)
        _store(claimed, response.data, status=response.status_code)
        return response

    wrapper.is_idempotent = True  # type: ignore[attr-defined]  # read by the schema
    return wrapper


def replays(handler: Handler) -> Handler:
    """Decorator for a `post` whose work follows in an async function, with `complete_once`: a repeated request gets the
    stored response before anything else happens.
    """

    @wraps(handler)
    def wrapper(view: TenantView, request: Request, *args: Any, **kwargs: Any) -> Response:
        own = own_key(view, request)
        stored = _find_response(own) if own else None
        return _replayed(view, stored) if stored else handler(view, request, *args, **kwargs)

    wrapper.is_idempotent = True  # type: ignore[attr-defined]  # read by the schema
    return wrapper


def complete_once(own: OwnKey | None, work: Callable[[], Any], *, status: int) -> Any:
    """The work's result, or that of the request that was first with this key, in the running transaction.

    Raises ApiError like `idempotent`.
    """
    claimed = _claim(own) if own else None
    if own is not None and claimed is None:
        return _load_response(own).answer
    answer = work()
    if claimed is not None:
        _store(claimed, answer, status=status)
    return answer


def run_once(
    project_id: UUID,
    request: HttpRequest,
    content: str,
    work: Callable[[], dict[str, Any]],
    *,
    caller: str,
    key: str | None = None,
) -> dict[str, Any]:
    """Idempotency for a page, inside the running transaction: return the work's result, or the stored one for a
    repeated key of the same caller.

    The key is the Idempotency-Key header, or `key` from the form if no script sent the header. `content` is what
    the key is bound to; results are stored as JSON. Raises ApiError like `idempotent`.
    """
    key = _checked_key(request.headers.get("Idempotency-Key", key))
    body_hash = hashlib.sha256(f"{request.path}\n{content}".encode()).hexdigest()
    own = OwnKey(project_id, caller, key, body_hash) if key else None
    return cast(dict[str, Any], complete_once(own, work, status=202))


def delete_old_responses() -> int:
    """Delete stored responses older than a day, in all tenants, up to 5,000 per call. Returns how many were deleted."""
    newest = _lowest_id_at(time.time() - RETENTION_HOURS * 3600)
    with connections["ops"].cursor() as cursor:
        cursor.execute(_DELETE, [newest, DELETE_BATCH])
        return int(cursor.rowcount)


def own_key(view: TenantView, request: Request) -> OwnKey | None:
    """The request's Idempotency-Key, if it has one. Raises ApiError for one that isn't a key."""
    key = _checked_key(request.headers.get("Idempotency-Key"))
    return OwnKey(view.project.pk, view.caller.identity, key, _hash_of(request)) if key else None


def _checked_key(key: str | None) -> str | None:
    if key is not None and not KEY_FORMAT.fullmatch(key):
        message = f"Idempotency-Key must be 1 to 255 visible ASCII characters; it has {len(key)}."
        raise ApiError("invalid_idempotency_key", message, field="Idempotency-Key")
    return key


def _hash_of(request: Request) -> str:
    address = f"{request.method} {request.path}\n"
    return hashlib.sha256(address.encode() + request._request.body).hexdigest()


def _claim(own: OwnKey) -> UUID | None:
    """The id of the new row, or None if the key already has a response. Raises ApiError 409 while the first request
    runs.
    """
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                CLAIM, [uuid7(), current_organization_id(), own.project_id, own.caller, own.key, own.body_hash]
            )
            row = cursor.fetchone()
    except OperationalError as error:
        if isinstance(error.__cause__, LockNotAvailable):
            raise _in_progress() from error
        raise
    return row[0] if row else None


def _load_response(own: OwnKey) -> IdempotentRequest:
    """The completed first request with this key. Raises ApiError."""
    stored = _find_response(own)
    if stored is None:
        raise _in_progress()
    return stored


def _find_response(own: OwnKey) -> IdempotentRequest | None:
    """The completed first request with this key, if there is one. Raises ApiError for another body."""
    rows = IdempotentRequest.objects.filter(project_id=own.project_id, caller=own.caller, key=own.key)
    stored = rows.exclude(status=None).first()
    if stored is not None and stored.body_hash != own.body_hash:
        message = "This Idempotency-Key was used with another body or URL; use a new one."
        raise ApiError("idempotency_key_reused", message, field="Idempotency-Key", status=422)
    return stored


def _replayed(view: TenantView, stored: IdempotentRequest) -> Response:
    response = view.replay(stored.answer, status=stored.status or 200)
    response[REPLAYED_HEADER] = "true"
    return response


def _store(claimed: UUID, answer: Any, *, status: int) -> None:
    row = IdempotentRequest.objects.filter(pk=claimed)
    if status >= 400:
        row.delete()
        return
    row.update(status=status, answer=json.loads(JSONRenderer().render(answer) or b"null"))


def _in_progress() -> ApiError:
    message = "A request with this Idempotency-Key is in progress. Try again in a moment."
    return ApiError("request_in_progress", message, field="Idempotency-Key", status=409, headers={"Retry-After": "1"})


def _lowest_id_at(seconds: float) -> UUID:
    """A lower bound for ids created from this moment on."""
    return UUID(int=int(seconds * 1000) << 80)
