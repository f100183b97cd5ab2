"""Mapping from exceptions to API errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.exceptions import (
    BadRequest,
    DisallowedHost,
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFieldsSent,
    ValidationError,
)
from django.db import InterfaceError, OperationalError
from django.http import Http404
from django.http.multipartparser import MultiPartParserError
from psycopg.errors import DeadlockDetected, LockNotAvailable, QueryCanceled, SerializationFailure
from redis import RedisError
from rest_framework import exceptions as drf
from rest_framework.exceptions import ErrorDetail
from rest_framework.settings import api_settings

from projects.common.api_error import NOTHING_HERE, ApiError, Unprocessable
from projects.records.attributes import WrongValue

FORBIDDEN = "You don't have permission to do this."
SERVER_ERROR = "Something went wrong on our side. Try again. If the problem persists, contact us with the request_id."
BUSY = "Someone else is changing the same data, so nothing was saved. Try again in a moment."
TOO_SLOW = "The request took too long, so nothing was saved. Try again in a moment."
UNAVAILABLE = "The database is unavailable. Try again in a moment."
WITHOUT_REDIS = "This can't be done while Redis is unavailable. Try again in a moment."
# Contention between transactions; the database itself is reachable.
CONTENTION = (LockNotAvailable, DeadlockDetected, SerializationFailure)
# A lowercase message continues from the field's name. These replace DRF's sentences, which don't name the field.
PREDICATES = {
    "required": "is required.",
    "null": "may not be null.",
    "empty": "is empty.",
}
# The same for lengths and bounds, whose sentences hold a number.
SUBJECTS = {"Ensure this field has ": "must have ", "Ensure this value is ": "must be "}
# Messages with these codes name the field themselves.
WHOLE_SENTENCES = {"unknown_field"}


def to_api_error(error: BaseException) -> ApiError:
    """The API error for any exception; an unexpected one becomes a 500."""
    if isinstance(error, ApiError):
        return error
    for types, convert in _CONVERTERS:
        if isinstance(error, types):
            return convert(error)
    return ApiError("server_error", SERVER_ERROR, status=500)


def first_error(error: drf.ValidationError) -> ApiError:
    """The first error of a DRF ValidationError, however deeply nested, with its dotted path."""
    path, detail = _first_detail(error.detail, path=())
    field = ".".join(path) or None
    # DRF calls empty text "blank".
    code = "empty" if detail.code == "blank" else detail.code or "invalid"
    return ApiError(code, _sentence(field, code=code, text=str(detail)), field=field)


def _first_detail(detail: Any, *, path: tuple[str, ...]) -> tuple[tuple[str, ...], ErrorDetail]:
    if isinstance(detail, dict):
        name, inner = next(iter(detail.items()))
        return _first_detail(inner, path=path if name == api_settings.NON_FIELD_ERRORS_KEY else (*path, str(name)))
    if isinstance(detail, list):
        index, inner = next((number, item) for number, item in enumerate(detail) if item)
        return _first_detail(inner, path=path if isinstance(inner, ErrorDetail) else (*path, str(index)))
    return path, detail


def _sentence(field: str | None, *, code: str, text: str) -> str:
    if field is None or code in WHOLE_SENTENCES:
        return text
    for subject, verb in SUBJECTS.items():
        text = text.replace(subject, verb)
    predicate = PREDICATES.get(code, text)
    return f"{field} {predicate}" if predicate[:1].islower() else f"{field}: {predicate}"


def _not_found(error: Any) -> ApiError:
    return ApiError("not_found", NOTHING_HERE, status=404)


def _throttled(error: drf.Throttled) -> ApiError:
    seconds = max(1, round(getattr(error, "wait", None) or 1))
    message = f"Too many requests. Try again in {seconds} s."
    return ApiError("throttled", message, status=429, headers={"Retry-After": str(seconds)})


def _wrong_media_type(error: Any) -> ApiError:
    return ApiError("unsupported_media_type", "Send JSON with the header Content-Type: application/json.", status=415)


def _wrong_method(error: drf.MethodNotAllowed) -> ApiError:
    return ApiError("method_not_allowed", str(error.detail), status=405)


def _any_drf(error: drf.APIException) -> ApiError:
    code = error.get_codes()
    challenge = getattr(error, "auth_header", None)
    headers = {"WWW-Authenticate": challenge} if challenge else {}
    return ApiError(str(code), str(error.detail), status=error.status_code, headers=headers)


def _forbidden(error: Any) -> ApiError:
    return ApiError("permission_denied", str(error) or FORBIDDEN, status=403)


def _wrong_value(error: WrongValue) -> ApiError:
    return Unprocessable("invalid_value", str(error), field="value")


def _invalid(error: ValidationError) -> ApiError:
    return ApiError("invalid", " ".join(error.messages))


def _unavailable(error: Any) -> ApiError:
    if isinstance(error.__cause__, CONTENTION):
        return ApiError("unavailable", BUSY, status=503, headers={"Retry-After": "1"})
    if isinstance(error.__cause__, QueryCanceled):
        return ApiError("unavailable", TOO_SLOW, status=503, headers={"Retry-After": "2"})
    return ApiError("unavailable", UNAVAILABLE, status=503, headers={"Retry-After": "2"})


def _without_redis(error: RedisError) -> ApiError:
    return ApiError("unavailable", WITHOUT_REDIS, status=503, headers={"Retry-After": "2"})


def _too_big(error: Any) -> ApiError:
    return ApiError("body_too_large", "Body is larger than this endpoint accepts.", status=413)


def _unknown_host(error: Any) -> ApiError:
    message = "Unknown host name. The operator lists the allowed ones in MAKEGOOD_ALLOWED_HOSTS."
    return ApiError("unknown_host", message)


def _too_many_fields(error: Any) -> ApiError:
    most = settings.DATA_UPLOAD_MAX_NUMBER_FIELDS
    return ApiError("too_many_fields", f"The query or the form has more than {most:,} parameters.")


def _bad_request(error: Any) -> ApiError:
    return ApiError("bad_request", "The request is malformed: its URL, headers or form can't be read.")


_CONVERTERS: list[tuple[tuple[type[BaseException], ...], Callable[[Any], ApiError]]] = [
    ((Http404, drf.NotFound), _not_found),
    ((drf.ValidationError,), first_error),
    ((drf.Throttled,), _throttled),
    ((drf.UnsupportedMediaType,), _wrong_media_type),
    ((drf.MethodNotAllowed,), _wrong_method),
    ((drf.APIException,), _any_drf),
    ((PermissionDenied,), _forbidden),
    ((WrongValue,), _wrong_value),
    ((ValidationError,), _invalid),
    ((OperationalError, InterfaceError), _unavailable),
    ((RedisError,), _without_redis),
    ((RequestDataTooBig,), _too_big),
    ((DisallowedHost,), _unknown_host),
    ((TooManyFieldsSent,), _too_many_fields),
    ((SuspiciousOperation, BadRequest, MultiPartParserError), _bad_request),
]
